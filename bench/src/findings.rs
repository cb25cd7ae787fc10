//! The findings of a comparison: for a person, or as JSON.
//!
//! Each figure is the median over the rounds with its 95 % interval. Where a goal was set, the
//! interval answers: reached or missed where all of it lies on one side, open where it does not.

pub(crate) mod origin;
pub(crate) mod pairs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use quietcore_host::facts::Facts;
use serde::Serialize;

use origin::Origin;
use pairs::Median;

/// Below so many rounds there is no 95 % interval of the median.
pub(crate) const ROUNDS_MIN: usize = 6;
/// The schema of the JSON.
const SCHEMA: &str = "quietcore.bench/1";

/// Options of all comparisons.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Common {
    /// Rounds; each runs every side once. Each comparison has its own default
    #[arg(long)]
    pub(crate) rounds: Option<usize>,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Few and short rounds, to see that it works; the figures mean nothing
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write the JSON to this file, too; of `all`, to a file for each comparison in this folder
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
}

impl Common {
    /// The rounds asked for, or `usual` of them; two in a quick run.
    pub(crate) fn rounds_or(&self, usual: usize) -> usize {
        self.rounds.unwrap_or(if self.quick { 2 } else { usual })
    }

    /// The same as arguments of a command.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let rounds = self.rounds.map(|rounds| format!("--rounds={rounds}"));
        let flags = [(self.json, "--json"), (self.quick, "--quick")];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set);
        let out = self.out.as_ref().map(|out| format!("--out={}", out.display()));
        let flags = flags.map(|(_, flag)| flag.to_owned());
        rounds.into_iter().chain(flags).chain(out).collect()
    }

    /// The same for one comparison of `all`, which gets a file of its own in the folder `out`.
    pub(crate) fn of_one(&self, bench: &str) -> Self {
        let out = self.out.as_ref().map(|folder| folder.join(format!("{bench}.json")));
        Self { out, ..self.clone() }
    }

    /// `usual`, or `short` in a quick run.
    pub(crate) fn length<T>(&self, usual: T, short: T) -> T {
        if self.quick { short } else { usual }
    }
}

/// The goal of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    /// Compares the interval with the goal.
    fn answer(self, median: &Median) -> Answer {
        if median.count < ROUNDS_MIN {
            return Answer::Open;
        }
        let (all, none) = match self {
            Self::AtMost(limit) => (median.high <= limit, median.low > limit),
            Self::AtLeast(limit) => (median.low >= limit, median.high < limit),
        };
        match (all, none) {
            (true, _) => Answer::Reached,
            (_, true) => Answer::Missed,
            _ => Answer::Open,
        }
    }
}

/// The relation of a figure to its goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Reached,
    Missed,
    /// The interval holds the limit, or there is none.
    Open,
}

/// A figure with its goal.
#[derive(Debug, Serialize)]
struct Figure {
    name: String,
    unit: &'static str,
    #[serde(flatten)]
    median: Median,
    goal: Option<Goal>,
    answer: Option<Answer>,
}

/// The findings of a comparison.
#[derive(Debug, Serialize)]
pub(crate) struct Findings {
    schema: &'static str,
    bench: &'static str,
    method: String,
    /// A quick run proves nothing.
    quick: bool,
    rounds: usize,
    #[serde(flatten)]
    origin: Origin,
    machine: BTreeMap<String, String>,
    /// The peers that took part, with their versions.
    peers: BTreeMap<String, String>,
    figures: Vec<Figure>,
    remarks: Vec<String>,
    not_measured: Vec<String>,
}

impl Findings {
    /// Begins with what the machine is, which is read before anything is measured.
    pub(crate) fn begin(
        bench: &'static str,
        method: String,
        common: &Common,
        rounds: usize,
    ) -> Self {
        Self::begin_on(&Facts::read(), bench, method, common, rounds)
    }

    /// As that, on a machine that was read already.
    pub(crate) fn begin_on(
        facts: &Facts,
        bench: &'static str,
        method: String,
        common: &Common,
        rounds: usize,
    ) -> Self {
        let mut machine = origin::publishable(facts.conditions_summary());
        machine.insert("time_is_real".to_owned(), facts.time_reality().to_string());
        machine.insert("quietcore_version".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        machine.insert("load_average".to_owned(), origin::load_average());
        Self {
            schema: SCHEMA,
            bench,
            method,
            quick: common.quick,
            rounds,
            origin: Origin::now(),
            machine,
            peers: BTreeMap::new(),
            figures: Vec::new(),
            remarks: Vec::new(),
            not_measured: Vec::new(),
        }
    }

    /// Returns `true` if this is a quick run.
    pub(crate) fn is_quick(&self) -> bool {
        self.quick
    }

    /// Names a peer that takes part, and its version.
    pub(crate) fn peer(&mut self, name: &str, version: impl Into<String>) {
        self.peers.insert(name.to_owned(), version.into());
    }

    /// Adds the median of a sample, one value a round.
    pub(crate) fn figure(&mut self, name: &str, unit: &'static str, values: &[f64]) {
        self.add(name, unit, values, None);
    }

    /// Adds a figure of which something is asked.
    pub(crate) fn goal(&mut self, name: &str, unit: &'static str, values: &[f64], goal: Goal) {
        self.add(name, unit, values, Some(goal));
    }

    /// Adds the ratio of two samples, round by round.
    pub(crate) fn ratio(&mut self, name: &str, above: &[f64], below: &[f64], goal: Option<Goal>) {
        // Where one side took less than a nanosecond, it counts as one.
        let pairs = above.iter().zip(below);
        let ratios: Vec<f64> = pairs.map(|(above, below)| above / below.max(1.0)).collect();
        self.add(name, "times", &ratios, goal);
    }

    fn add(&mut self, name: &str, unit: &'static str, values: &[f64], goal: Option<Goal>) {
        let Some(median) = Median::of(values) else {
            self.not_measured.push(format!("{name}: no round yielded a value"));
            return;
        };
        let answer = goal.map(|goal| goal.answer(&median));
        self.figures.push(Figure { name: name.to_owned(), unit, median, goal, answer });
    }

    /// Says something about the figures.
    pub(crate) fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }

    /// Says what could not be measured, and why.
    pub(crate) fn not_measured(&mut self, text: impl Into<String>) {
        self.not_measured.push(text.into());
    }

    /// Writes the findings as JSON.
    fn to_json(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self).map_err(|error| error.to_string())
    }

    /// Prints them as asked, and writes the file that was asked for.
    pub(crate) fn print(&self, common: &Common) -> Result<(), String> {
        if let Some(file) = &common.out {
            self.write(file)?;
        }
        if common.json {
            println!("{}", self.to_json()?);
        } else {
            println!("{self}");
        }
        Ok(())
    }

    fn write(&self, file: &Path) -> Result<(), String> {
        let text = self.to_json()? + "\n";
        fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.bench, self.method)?;
        if self.quick {
            writeln!(f, "  A QUICK RUN, which shows that it works and measures nothing")?;
        }
        let known = ["cpu_model", "cpus_online", "kernel", "preemption", "hypervisor"];
        let facts = known.map(|name| self.machine.get(name).map_or("", String::as_str));
        writeln!(f, "  machine: {}", facts.join(", "))?;
        writeln!(f, "  {}", self.origin)?;
        for (name, version) in &self.peers {
            writeln!(f, "  beside {name} {version}")?;
        }
        writeln!(
            f,
            "  medians of {} rounds, 95 % intervals of the median in brackets",
            self.rounds
        )?;
        for figure in &self.figures {
            let Median { value, low, high, .. } = figure.median;
            let (value, low, high) = (short(value), short(low), short(high));
            let unit = figure.unit;
            write!(f, "  {:<46} {value:>9} {unit:<5} [{low} to {high}]", figure.name)?;
            match (figure.goal, figure.answer) {
                (Some(goal), Some(answer)) => writeln!(f, "  {goal}: {answer}")?,
                _ => writeln!(f)?,
            }
        }
        for text in &self.remarks {
            writeln!(f, "  {text}")?;
        }
        for text in &self.not_measured {
            writeln!(f, "  NOT MEASURED: {text}")?;
        }
        if self.rounds < ROUNDS_MIN {
            writeln!(
                f,
                "  below 6 rounds there is no 95 % interval; the brackets hold all values"
            )?;
        }
        Ok(())
    }
}

/// Writes a value with three significant digits.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 || size == 0.0 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(limit) => write!(f, "at most {limit}"),
            Self::AtLeast(limit) => write!(f, "at least {limit}"),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reached => "REACHED",
            Self::Missed => "MISSED",
            Self::Open => "OPEN",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_interval_answers_for_a_goal() {
        let median = |low, high| Median { value: (low + high) / 2.0, low, high, count: 20 };
        assert_eq!(Goal::AtMost(1.3).answer(&median(1.1, 1.3)), Answer::Reached);
        assert_eq!(Goal::AtMost(1.3).answer(&median(1.1, 1.4)), Answer::Open);
        assert_eq!(Goal::AtMost(1.3).answer(&median(1.31, 1.4)), Answer::Missed);
        assert_eq!(Goal::AtLeast(2.0).answer(&median(2.0, 3.0)), Answer::Reached);
        assert_eq!(Goal::AtLeast(2.0).answer(&median(1.0, 1.9)), Answer::Missed);
    }

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(
            [0.1234, 1.234, 12.34, 123.4, 23_456.0, 0.0].map(short),
            ["0.123", "1.23", "12.3", "123", "23456", "0"]
        );
    }
}
