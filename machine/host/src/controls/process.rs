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

/// When a process or a thread began, in the kernel's ticks: field 22 of its `stat`. One that has
/// ended and nobody has waited for is gone, too.
pub(super) fn began_at(source: &Source, process: u32) -> Option<u64> {
    let text = source.text(&format!("/proc/{process}/stat"));
    // The second field is a name in parentheses, in which there may be anything.
    let (_, fields) = text.get()?.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
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
