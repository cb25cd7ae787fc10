//! Site files to begin with, fitted to a machine.
//!
//! The last CPU that the kernel isolates, else the last one online, goes to the partition and the
//! others to housekeeping. With a single CPU nothing can be kept apart: the file says so and leaves
//! out the profiles that can't be run.

use std::fmt::Write;
use std::str::FromStr;

use quietcore_record::class::catalogue;
use quietcore_units::{CpuId, CpuSet};

use crate::machine::Machine;
use crate::words::instead;
use crate::{Site, plan, read};

/// The column at which the comments of a file begin.
const COMMENT_COLUMN: usize = 36;

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
}

/// A name that no example has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no example `{name}`; {remedy}")]
pub struct UnknownExample {
    name: String,
    remedy: String,
}

impl Example {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Minimal, Self::Quickstart, Self::Acceptance];

    /// The name on the command line; it is also the name of the site.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Quickstart => "quickstart",
            Self::Acceptance => "acceptance",
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
pub fn init(machine: &Machine, example: Example) -> String {
    let all = ["tp1", "tp2", "tp3", "tp4"];
    let whole = write(machine, example, &all);
    let Ok(site) = read(example.name(), whole.as_bytes(), &catalogue()) else {
        return whole;
    };
    let possible: Vec<_> =
        all.into_iter().filter(|profile| can_be_planned(&site, profile, machine)).collect();
    if possible.len() == all.len() || possible.is_empty() {
        return whole;
    }
    write(machine, example, &possible)
}

fn can_be_planned(site: &Site, profile: &str, machine: &Machine) -> bool {
    let mut alone = site.clone();
    alone.select_profiles(&[profile.to_owned()]).is_ok() && plan(&alone, machine).is_ok()
}

fn write(machine: &Machine, example: Example, profiles: &[&str]) -> String {
    let (own, others) = split(machine);
    let mut text = head(example);
    let mut line = |setting: &str, comment: &str| {
        let written = if comment.is_empty() {
            writeln!(text, "{setting}")
        } else {
            writeln!(text, "{setting:COMMENT_COLUMN$}# {comment}")
        };
        written.expect("a String takes all that is written to it");
    };
    let brief = example == Example::Minimal;
    if !brief || others.is_empty() {
        line("[host]", "");
        if others.is_empty() {
            line("housekeeping = []", "one CPU: all else runs beside the partition");
        } else {
            let setting = format!("housekeeping = {}", notation(&others));
            line(&setting, "CPUs for everything that is not a partition");
        }
        line("", "");
    }
    line("[[partition]]", "");
    line("name = \"axis\"", "");
    line("class = \"motion-control\"", "what the timing is judged against: 1 ms cycles");
    if !brief {
        line("backend = \"process\"", "");
    }
    line("", "");
    line("[partition.vcr]", "");
    let share = if others.is_empty() {
        "the only CPU, shared with everything else"
    } else {
        "a CPU of its own"
    };
    line(&format!("cpus = {}", notation(&CpuSet::from_iter([own]))), share);
    if !brief {
        line("", "");
        line("[partition.program]", "without a `model` the probe runs in its place");
        line("period = \"1 ms\"", "");
        line("priority = 90", "of SCHED_FIFO");
        line("early_wake = \"adaptive\"", "sleep to shortly before the release, then spin");
    }
    line("", "");
    line("[campaign]", "");
    campaign(example, profiles, &mut line);
    text
}

fn head(example: Example) -> String {
    let name = example.name();
    let what = match example {
        Example::Minimal => "The smallest site file: everything else is left to the defaults.",
        Example::Quickstart => {
            "A quick look at what this machine can serve, in less than 3 minutes."
        }
        Example::Acceptance => "Qualifies this machine for production; the run takes some hours.",
    };
    format!(
        "# {what}\n#\n\
         #   quietcore plan {name}.toml       what would be done, in words\n\
         #   quietcore qualify {name}.toml    do it\n\n\
         [site]\nschema = \"quietcore.site/1\"\nname = \"{name}\"\n\n"
    )
}

fn campaign(example: Example, profiles: &[&str], line: &mut impl FnMut(&str, &str)) {
    let quoted: Vec<_> = profiles.iter().map(|profile| format!("\"{profile}\"")).collect();
    let list = format!("profiles = [{}]", quoted.join(", "));
    let all = profiles.len() == 4;
    let has = |profile| profiles.contains(&profile);
    if example != Example::Minimal {
        line("# tp1: not pinned, no load     tp3: not pinned, load anywhere", "");
        line("# tp2: pinned, no load         tp4: pinned, load on the other CPUs", "");
    }
    if !all && !has("tp4") {
        line("# The others can't be run here: no CPU for their load, or too little memory.", "");
    }
    if !all || example != Example::Minimal {
        line(&list, "");
    }
    match example {
        Example::Minimal => {
            line("duration = \"10 s\"", "each profile");
            line("exceedance = 1e-3", "a first impression: fewer than 1 in 1000 cycles");
        }
        Example::Quickstart => {
            line("duration = \"38 s\"", "each profile; with all set-up below 3 minutes");
            line("warm_up = \"1 s\"", "");
            line("", "");
            line(
                "# What a PASS excludes: with 95 % confidence fewer than 1 in 10 000 cycles exceed",
                "",
            );
            line(
                "# the limit. That takes 29 956 cycles and is a quick look; acceptance wants hours",
                "",
            );
            line("# and 1e-6 (see `quietcore init --example acceptance`).", "");
            line("exceedance = 1e-4", "");
        }
        Example::Acceptance => {
            line("duration = \"1 h\"", "each profile; a shift of 8 h says more");
            line("warm_up = \"10 s\"", "");
            line("", "");
            line(
                "# What a PASS excludes: with 95 % confidence fewer than 1 in 1 000 000 cycles",
                "",
            );
            line("# exceed the limit. That takes 2 995 731 cycles, 50 minutes at 1 ms.", "");
            line("exceedance = 1e-6", "");
        }
    }
}

/// The CPU for the partition, and the others.
fn split(machine: &Machine) -> (CpuId, CpuSet) {
    let isolated = machine.online.intersection(&machine.isolated);
    let from = if isolated.is_empty() { machine.online } else { isolated };
    let own = from.iter().last().or(CpuId::new(0)).expect("CPU 0 is below the limit");
    (own, machine.online.without(&CpuSet::from_iter([own])))
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
