//! Site files to begin with, fitted to a machine.
//!
//! The last CPU that the kernel isolates, else the last one online, goes to the partition and the
//! others to housekeeping. With a single CPU nothing can be kept apart: the file says so and leaves
//! out the profiles that can't be run.
//!
//! Three examples run a program on a simulated fieldbus, and one an OSEK program. Their [`Model`]s
//! are in this crate, so that whoever writes the site file can write the folder of C beside it.

mod control;
mod found;
mod model;

use std::str::FromStr;

use quietcore_record::class::catalogue;
use quietcore_units::{CpuId, CpuSet};
use quietcore_wording::{LongWord, wrap};

use crate::machine::Machine;
use crate::words::instead;
use crate::{Site, plan, read};

pub use found::{FoundModel, FoundPeriod, FoundVariable, init_found};
pub use model::{Model, ModelFile};

/// The first line of a site file: where an editor finds the schema that `quietcore schema` prints.
/// Nobody but an editor needs that file, and the line says how to get it.
pub const SCHEMA_LINE: &str = "#:schema ./site-file.schema.json\n# (for editors: quietcore schema \
                               > site-file.schema.json)\n#\n";

/// The column at which the comments of a file begin.
const COMMENT_COLUMN: usize = 30;

/// The columns that a line takes at most.
const COLUMNS: usize = 80;

/// The profiles that a file names where the machine can run them.
const PROFILES: [&str; 4] = ["tp1", "tp2", "tp3", "tp4"];

/// A kind of site file to begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Example {
    /// As little as there can be; everything else is left to the defaults.
    Minimal,
    /// A quick look at the machine, in less than 3 minutes.
    #[default]
    Quickstart,
    /// As many cycles as acceptance takes: some hours.
    Acceptance,
    /// A servo axis at 1 ms, with its program on a simulated fieldbus.
    Servo,
    /// A steam turbine at 10 ms and 100 ms.
    Turbine,
    /// A tank at 100 ms.
    Tank,
    /// A sorting conveyor of four tasks under an OSEK kernel with a tick of 1 ms.
    Osek,
}

/// A name that no example has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no example `{name}`; {remedy}")]
pub struct UnknownExample {
    name: String,
    remedy: String,
}

impl Example {
    /// All examples, in the order of the help.
    pub const ALL: [Self; 7] = [
        Self::Minimal,
        Self::Quickstart,
        Self::Acceptance,
        Self::Servo,
        Self::Turbine,
        Self::Tank,
        Self::Osek,
    ];

    /// The name on the command line; it is also the name of the site.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Quickstart => "quickstart",
            Self::Acceptance => "acceptance",
            Self::Servo => "servo",
            Self::Turbine => "turbine",
            Self::Tank => "tank",
            Self::Osek => "osek",
        }
    }

    /// The program that the site file names as its `model`; `None` where only the probe runs.
    pub const fn model(self) -> Option<&'static Model> {
        match self {
            Self::Minimal | Self::Quickstart | Self::Acceptance => None,
            Self::Servo => Some(&model::SERVO),
            Self::Turbine => Some(&model::TURBINE),
            Self::Tank => Some(&model::TANK),
            Self::Osek => Some(&model::CONVEYOR),
        }
    }
}

impl FromStr for Example {
    type Err = UnknownExample;

    fn from_str(name: &str) -> Result<Self, UnknownExample> {
        let known = Self::ALL.iter().map(|example| example.name());
        let found = Self::ALL.iter().find(|example| example.name() == name);
        found
            .copied()
            .ok_or_else(|| UnknownExample { name: name.to_owned(), remedy: instead(name, known) })
    }
}

/// Writes a commented site file that fits `machine`: [`read`] accepts it and [`plan()`] plans it.
/// It is called `file` in its own comments.
pub fn init(machine: &Machine, example: Example, file: &str) -> String {
    let whole = write(machine, example, &PROFILES, file);
    let Ok(site) = read(example.name(), whole.as_bytes(), &catalogue()) else {
        return whole;
    };
    let possible: Vec<_> =
        PROFILES.into_iter().filter(|profile| can_be_planned(&site, profile, machine)).collect();
    if possible.len() == PROFILES.len() || possible.is_empty() {
        return whole;
    }
    write(machine, example, &possible, file)
}

fn can_be_planned(site: &Site, profile: &str, machine: &Machine) -> bool {
    let mut alone = site.clone();
    alone.select_profiles(&[profile.to_owned()]).is_ok() && plan(&alone, machine).is_ok()
}

fn write(machine: &Machine, example: Example, profiles: &[&str], file: &str) -> String {
    let (own, others) = split(machine);
    let mut text = SCHEMA_LINE.to_owned();
    text.push_str(&head(example, file));
    text.push_str(&host(example, &others));
    text.push_str(&partition(example, own, &others));
    text.push_str(&campaign(example, profiles));
    text
}

/// A setting with its comment behind it, or above it where both are too long for one line.
fn line(setting: &str, comment: &str) -> String {
    let beside = format!("{setting:COMMENT_COLUMN$}# {comment}\n");
    let is_apart = setting.chars().count() < COMMENT_COLUMN;
    if is_apart && beside.chars().count() <= COLUMNS + 1 {
        return beside;
    }
    format!("{}{setting}\n", remark(comment))
}

/// A sentence as lines of comment.
fn remark(sentence: &str) -> String {
    // As wide as a line that is in comments itself may be.
    let lines = wrap(sentence, COLUMNS - 4, LongWord::Keep).into_iter();
    lines.map(|line| format!("# {line}\n")).collect()
}

fn head(example: Example, file: &str) -> String {
    let name = example.name();
    let what = match example {
        Example::Minimal => "The smallest site file: everything else is left to the defaults.",
        Example::Quickstart => "What can this machine serve? A quick look in less than 3 minutes.",
        Example::Acceptance => "Qualifies this machine for production; the run takes some hours.",
        Example::Servo => "A servo axis at 1 ms: a program on a simulated EtherCAT segment.",
        Example::Turbine => {
            "A steam turbine at 10 ms: a program of two rates on a simulated segment."
        }
        Example::Tank => "A tank at 100 ms: a program on a simulated EtherCAT segment.",
        Example::Osek => {
            "An OSEK program: a sorting conveyor of four tasks under a kernel of its own."
        }
    };
    let verbs = match example.model() {
        None => format!(
            "#   quietcore plan {file}       what would be done, in words\n#   quietcore qualify \
             {file}    do it\n"
        ),
        Some(_) => format!(
            "#   quietcore up {file}         run it; `quietcore top` shows how it does\n#   \
             quietcore qualify {file}    judge its timing under load\n"
        ),
    };
    let more = if example == Example::Osek { OSEK_VERBS } else { "" };
    format!(
        "# {what}\n#\n{verbs}{more}\n[site]\nschema = \"quietcore.site/1\"\nname = \"{name}\"\n\n"
    )
}

/// Remarks on what else can be done with an OSEK program.
const OSEK_VERBS: &str = "\
#
# `quietcore top` shows the cycle that drives the kernel, and each task of it.
# The tasks, and when they run, stand in the OIL file beside the code; `quietcore
# osek check` says what is in it. While it runs:
#
#   quietcore watch conveyor conveyor_DW.parcels conveyor_Y.diverter
#   quietcore set conveyor conveyor_P.report_rounds=300000000
#         a background task too long for its activations: the fast tasks stay on
#         time, and `quietcore events` tells of E_OS_LIMIT
";

fn host(example: Example, others: &CpuSet) -> String {
    if others.is_empty() {
        let comment = "one CPU: all else runs beside the partition";
        return format!("[host]\n{}\n", line("housekeeping = []", comment));
    }
    if example == Example::Minimal {
        return String::new();
    }
    let setting = format!("housekeeping = {}", notation(others));
    let comment = "CPUs for everything that is not a partition";
    format!("[host]\n{}\n", line(&setting, comment))
}

fn partition(example: Example, own: CpuId, others: &CpuSet) -> String {
    let (name, class, judged) = control::partition(example);
    let class = line(
        &format!("class = \"{class}\""),
        &format!("what the timing is judged against: {judged} cycles"),
    );
    let comment = if others.is_empty() {
        "the only CPU, shared with everything else"
    } else {
        "a CPU of its own"
    };
    let cpus = line(&format!("cpus = [{own}]"), comment);
    let head = format!("[[partition]]\nname = \"{name}\"\n{class}");
    if example == Example::Minimal {
        return format!("{head}\n[partition.vcr]\n{cpus}\n");
    }
    let head = format!("{head}backend = \"process\"\n\n[partition.vcr]\n{cpus}\n");
    if let Some(model) = example.model() {
        return head + &control::program(model) + control::rest(example);
    }
    let program = line("[partition.program]", "without a `model` the probe runs in its place");
    let priority = line("priority = 90", "of SCHED_FIFO");
    let early_wake =
        line("early_wake = \"adaptive\"", "sleep to shortly before the release, then spin");
    format!("{head}{program}period = \"1 ms\"\n{priority}{early_wake}\n")
}

fn campaign(example: Example, profiles: &[&str]) -> String {
    let mut text = "[campaign]\n".to_owned();
    let all = profiles.len() == PROFILES.len();
    if example != Example::Minimal {
        text.push_str(
            "# tp1: not pinned, no load     tp3: not pinned, load anywhere\n# tp2: pinned, no \
             load         tp4: pinned, load on the other CPUs\n",
        );
    }
    if !all {
        text.push_str("# The others can't be run here: no CPU for their load, or no memory.\n");
    }
    if !all || example != Example::Minimal {
        let quoted: Vec<_> = profiles.iter().map(|profile| format!("\"{profile}\"")).collect();
        text.push_str(&format!("profiles = [{}]\n", quoted.join(", ")));
    }
    text.push_str(&length(example));
    text
}

/// Returns the lines on the length, and on what a PASS excludes.
fn length(example: Example) -> String {
    match example {
        Example::Minimal => {
            line("duration = \"10 s\"", "each profile")
                + &line("exceedance = 1e-3", "a first impression: fewer than 1 in 1000 cycles")
        }
        Example::Quickstart => {
            line("duration = \"38 s\"", "each profile; with all set-up below 3 minutes")
                + "warm_up = \"1 s\"\n\n# What a PASS excludes: with 95 % confidence fewer than 1 \
                   in 10 000 cycles\n# exceed the limit. That takes 29 956 cycles and is a quick \
                   look; acceptance\n# wants hours and 1e-6 (see `quietcore init --example \
                   acceptance`).\nexceedance = 1e-4\n"
        }
        Example::Acceptance => {
            line("duration = \"1 h\"", "each profile; a shift of 8 h says more")
                + "warm_up = \"10 s\"\n\n# What a PASS excludes: with 95 % confidence fewer than 1 \
                   in 1 000 000 cycles\n# exceed the limit. That takes 2 995 731 cycles, 50 \
                   minutes at 1 ms.\nexceedance = 1e-6\n"
        }
        Example::Servo => {
            line("duration = \"10 s\"", "each profile")
                + &line("exceedance = 1e-3", "a first impression: fewer than 1 in 1000 cycles")
        }
        Example::Osek => {
            line("duration = \"10 s\"", "each profile")
                + &line("exceedance = 1e-2", "a first impression: fewer than 1 in 100 cycles")
        }
        Example::Turbine | Example::Tank => {
            line("duration = \"40 s\"", "each profile")
                + &line("exceedance = 1e-2", "a first impression: fewer than 1 in 100 cycles")
        }
    }
}

/// The CPU for the partition, and the others.
fn split(machine: &Machine) -> (CpuId, CpuSet) {
    let isolated = machine.usable.intersection(&machine.isolated);
    let from = if isolated.is_empty() { machine.usable } else { isolated };
    let own = from.iter().last().or(CpuId::new(0)).expect("CPU 0 is below the limit");
    (own, machine.usable.without(&CpuSet::from_iter([own])))
}

/// Few CPUs as an array of numbers, many in list notation.
fn notation(cpus: &CpuSet) -> String {
    const NUMBERS_MAX: usize = 4;
    if cpus.len() > NUMBERS_MAX {
        return format!("\"{cpus}\"");
    }
    let numbers: Vec<_> = cpus.iter().map(|cpu| cpu.to_string()).collect();
    format!("[{}]", numbers.join(", "))
}
