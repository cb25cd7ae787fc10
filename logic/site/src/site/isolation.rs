//! The twelve profiles of the isolation matrix: the rows of hofer2019's table I, as far as one
//! kernel has them.
//!
//! The rows stand in `quietcore_record::isolation`; here they become settings and loads:
//!
//! | the row asks for | what is done |
//! |------------------|--------------|
//! | pinned | each partition runs on its CPUs alone |
//! | others kept off | the controls [`OTHERS_OFF`], and loads on the other CPUs alone |
//! | no load balancing | the control `load-balance` |
//! | interrupts kept off | the control `interrupts` |
//! | load | the papers' load |
//!
//! hofer2019 loads its guests with the program `stress` and does not print with which options;
//! those that queiroz2023 prints for the same program stand for them.

use quietcore_record::isolation::{GROUP, LoadAt, OnOneKernel, ROWS, Row};

use super::profile::papers_load;
use super::{Control, LoadPlace, Profile};

/// Controls that keep everything else of the machine off the partitions' CPUs.
const OTHERS_OFF: [Control; 3] = [Control::Programs, Control::KernelThreads, Control::Workqueues];

/// The profiles that a name stands for: itself, or all of the matrix.
pub(crate) fn names_of(name: &str) -> Vec<String> {
    if name == GROUP {
        return ROWS.iter().map(|row| row.profile.to_owned()).collect();
    }
    vec![name.to_owned()]
}

/// The profiles of the matrix, in the order of its rows.
pub(super) fn profiles() -> impl Iterator<Item = Profile> {
    ROWS.iter().map(profile)
}

fn profile(row: &Row) -> Profile {
    let asked = row.on_one_kernel();
    let place = asked.load.map(|at| match at {
        LoadAt::Anywhere => LoadPlace::Anywhere,
        LoadAt::OtherCpus => LoadPlace::OtherCpus,
    });
    Profile::new(
        row.profile.to_owned(),
        description(row),
        asked.pinned,
        Some(controls(asked)),
        place.map(papers_load).unwrap_or_default(),
    )
}

fn description(row: &Row) -> String {
    let same = match row.same_as() {
        Some(same) => format!(", as {} on one kernel", same.profile),
        None => String::new(),
    };
    format!("{} (row {} of hofer2019, table I{same})", row.on_one_kernel().words(), row.number)
}

/// In the order in which they are applied.
fn controls(asked: OnOneKernel) -> Vec<Control> {
    let is_asked = |control: &Control| match control {
        Control::Interrupts => asked.interrupts_off,
        Control::LoadBalance => asked.no_load_balancing,
        other => asked.others_off && OTHERS_OFF.contains(other),
    };
    Control::ALL.into_iter().filter(is_asked).collect()
}
