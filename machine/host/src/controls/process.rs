//! Who a process is: its number, and when it began, as numbers are used again.

use serde::{Deserialize, Serialize};

use crate::source::Source;

/// Flags of a task (Linux, `include/linux/sched.h`), the ninth field of its `stat`.
const KERNEL_THREAD: u64 = 0x0020_0000;
const IS_BOUND: u64 = 0x0400_0000;

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

/// When a process or a thread began, in the kernel's ticks. One that has ended and nobody has
/// waited for is gone, too.
pub(super) fn began_at(source: &Source, process: u32) -> Option<u64> {
    ThreadFacts::read(source, process).map(|facts| facts.began)
}

/// What the kernel says about a thread that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadFacts {
    /// Its name.
    pub(super) name: String,
    /// Whether it is one of the kernel's own.
    pub(super) is_of_kernel: bool,
    /// Whether the kernel keeps it on its CPUs.
    pub(super) is_bound: bool,
    /// When it began, in the kernel's ticks since the machine did.
    pub(super) began: u64,
}

impl ThreadFacts {
    /// Those of a thread's `stat`; `None` when it has ended.
    pub(super) fn read(source: &Source, thread: u32) -> Option<Self> {
        let text = source.text(&format!("/proc/{thread}/stat"));
        // The second field is a name in parentheses, in which there may be anything.
        let (head, fields) = text.get()?.rsplit_once(')')?;
        let (_, name) = head.split_once('(')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        if matches!(*fields.first()?, "Z" | "X") {
            return None;
        }
        let flags: u64 = fields.get(6)?.parse().ok()?;
        Some(Self {
            name: name.to_owned(),
            is_of_kernel: flags & KERNEL_THREAD != 0,
            is_bound: flags & IS_BOUND != 0,
            began: fields.get(19)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_that_has_ended_is_gone_before_somebody_waits_for_it() {
        let source = Source::live();
        assert!(ProcessName::own(&source).lives(&source));
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let began = began_at(&source, child.id()).unwrap();
        let name = ProcessName { process: child.id(), began };
        assert!(name.lives(&source));
        child.kill().unwrap();
        // Killing takes a moment.
        let gone = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            !name.lives(&source)
        });
        assert!(gone);
        child.wait().unwrap();
        assert!(!name.lives(&source));
    }
}
