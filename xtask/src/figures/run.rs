//! The record of a bench: `quietcore.bench/1`, as far as the tables use it.

use std::collections::BTreeMap;

use serde::Deserialize;

const SCHEMA: &str = "quietcore.bench/1";
/// Below so many rounds a bench has no 95 % interval.
const ROUNDS_MIN: usize = 6;
/// The facts of the machine that a table names.
const FACTS: [&str; 4] = ["cpu_model", "cpus_online", "kernel", "hypervisor"];

/// One run of a comparison.
#[derive(Debug, Deserialize)]
pub(crate) struct Run {
    schema: String,
    /// The comparison by name.
    pub(crate) bench: String,
    /// When it began, in UTC.
    date: String,
    /// The command line that ran it.
    command: String,
    build: String,
    quick: bool,
    /// Number of rounds that were run.
    pub(super) rounds: usize,
    machine: BTreeMap<String, String>,
    /// The peers with their versions.
    pub(super) peers: BTreeMap<String, String>,
    /// The figures that were measured.
    pub(super) figures: Vec<Figure>,
    /// Figures that could not be measured, with the reason.
    pub(super) not_measured: Vec<String>,
}

/// A median over the rounds with its interval.
#[derive(Debug, Deserialize)]
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Why a run is not worth a place in a table.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// It is no JSON, or lacks a fact.
    #[error(transparent)]
    Text(#[from] serde_json::Error),
    /// It is of another schema.
    #[error("its schema is `{0}`, and `{SCHEMA}` is read here")]
    Schema(String),
    /// It was made to see that the bench works.
    #[error("it is of a quick run, which measures nothing; run it without `--quick`")]
    Quick,
    /// It was built without optimisation.
    #[error("it is of a build `{0}`; run one that was built with `--release`")]
    Build(String),
    /// It has too few rounds.
    #[error("it has {0} rounds, and below {ROUNDS_MIN} there is no 95 % interval")]
    Rounds(usize),
    /// It does not say when, how or where it was made.
    #[error("it does not say its `{0}`")]
    Fact(&'static str),
}

impl Run {
    /// Reads a run, and refuses one that nothing should be claimed from.
    pub(super) fn read(text: &str) -> Result<Self, RunError> {
        let run: Self = serde_json::from_str(text)?;
        if run.schema != SCHEMA {
            return Err(RunError::Schema(run.schema));
        }
        if run.quick {
            return Err(RunError::Quick);
        }
        if run.build != "release" {
            return Err(RunError::Build(run.build));
        }
        if !run.figures.is_empty() && run.rounds < ROUNDS_MIN {
            return Err(RunError::Rounds(run.rounds));
        }
        let is_told = |fact: &str| run.machine.get(fact).is_some_and(|text| !text.is_empty());
        if let Some(fact) = FACTS.into_iter().find(|fact| !is_told(fact)) {
            return Err(RunError::Fact(fact));
        }
        for (fact, text) in [("date", &run.date), ("command", &run.command)] {
            if text.is_empty() {
                return Err(RunError::Fact(fact));
            }
        }
        Ok(run)
    }

    /// The figure of this name.
    pub(super) fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// The day of the run.
    pub(super) fn day(&self) -> &str {
        self.date.split('T').next().unwrap_or_default()
    }

    /// The machine in a few words.
    pub(super) fn machine(&self) -> String {
        let fact = |name: &str| self.machine.get(name).map_or("", String::as_str);
        let hypervisor = match fact("hypervisor") {
            "none" => "not virtualised".to_owned(),
            name => format!("virtualised ({name})"),
        };
        let [model, cpus, kernel, _] = FACTS.map(fact);
        format!("{model}, CPUs {cpus}, Linux {kernel}, {hypervisor}")
    }
}
