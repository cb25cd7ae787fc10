//! Who a process is: its number, and when it began, as numbers are used again.

use serde::{Deserialize, Serialize};

use crate::source::Source;

/// A process that can be told from a later one with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessName {
    /// Its number.
    pub process: u32,
    /// When it began, in the kernel's ticks since the machine did.
    pub began: u64,
}

impl ProcessName {
    /// This process.
    pub fn own(source: &Source) -> Self {
        let process = std::process::id();
        Self { process, began: began_at(source, process).unwrap_or_default() }
    }

    /// Whether it still runs.
    pub fn lives(&self, source: &Source) -> bool {
        began_at(source, self.process) == Some(self.began)
    }
}

/// When a process or a thread began, in the kernel's ticks: field 22 of its `stat`.
pub(super) fn began_at(source: &Source, process: u32) -> Option<u64> {
    let text = source.text(&format!("/proc/{process}/stat"));
    // The second field is a name in parentheses, in which there may be anything.
    let (_, fields) = text.get()?.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}
