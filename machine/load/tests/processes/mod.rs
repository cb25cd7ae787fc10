//! Facts about processes for the tests: the helper program, which processes live, and in which
//! state.

use std::fs;
use std::path::PathBuf;

/// The example `load`, which is its own worker. Cargo builds it before it runs tests.
pub(crate) fn helper_program() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let folder = own.parent().and_then(|folder| folder.parent()).unwrap();
    let program = folder.join("examples/load");
    assert!(
        program.exists(),
        "`{}` is not there; run `cargo test -p quietcore-load` without `--test`, or build the \
         example first",
        program.display()
    );
    program
}

/// A process as `/proc` shows it.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) state: char,
    pub(crate) group: u32,
}

impl Process {
    /// A zombie, whose new parent has not fetched it yet, is not alive.
    pub(crate) fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

/// All processes whose group is one of `groups`: workers and what they started. Each worker leads
/// a group of its own, so this finds what it leaves behind, whoever became the parent.
pub(crate) fn members(groups: &[u32]) -> Vec<Process> {
    let entries = fs::read_dir("/proc").unwrap();
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(read)
        .filter(|process| groups.contains(&process.group))
        .collect()
}

fn read(id: u32) -> Option<Process> {
    let line = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let group = fields.nth(1)?.parse().ok()?;
    Some(Process { id, state, group })
}
