//! KVM's own counts of a guest, seen from outside.
//!
//! KVM keeps its counters of each machine in debugfs, a file each, and has a tracepoint at every
//! exit. The counters say how many exits there were; the tracepoint, counted by a trigger in the
//! kernel, says why. Neither asks the guest or its monitor for anything.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Folder of the counters: a folder for each machine, `PROCESS-FILE`.
const COUNTERS: &str = "/sys/kernel/debug/kvm";
/// The tracepoint at each exit.
const TRACEPOINT: &str = "/sys/kernel/tracing/events/kvm/kvm_exit";
/// Tries to read two counters of the same moment.
const TRIES: usize = 1000;
/// Exits of AMD's and Intel's processors, by their numbers (AMD APM volume 2, appendix C; Intel SDM
/// volume 3, appendix C), after that of their instruction set in the tracepoint.
const REASONS: [(u32, u32, &str); 18] = [
    (2, 0x60, "host's interrupt"),
    (2, 0x61, "host's interrupt"),
    (2, 0x64, "window for an interrupt"),
    (2, 0x72, "CPUID"),
    (2, 0x77, "PAUSE"),
    (2, 0x78, "HLT"),
    (2, 0x7B, "port"),
    (2, 0x7C, "MSR"),
    (2, 0x400, "page fault"),
    (1, 1, "host's interrupt"),
    (1, 7, "window for an interrupt"),
    (1, 10, "CPUID"),
    (1, 12, "HLT"),
    (1, 30, "port"),
    (1, 32, "MSR"),
    (1, 40, "PAUSE"),
    (1, 48, "page fault"),
    (1, 52, "preemption timer"),
];

/// The counters of a machine.
#[derive(Debug)]
pub(super) struct Counters {
    folder: PathBuf,
}

/// Exits at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exits {
    /// Exits for any reason.
    pub(super) all: u64,
    /// Those because an interrupt came for the host.
    pub(super) interrupts: u64,
}

impl Exits {
    /// Those since an earlier moment that are the guest's own doing.
    pub(super) fn own_since(self, before: Self) -> u64 {
        (self.all - before.all).saturating_sub(self.interrupts - before.interrupts)
    }
}

impl Counters {
    /// Those of the machine that a process has made.
    ///
    /// # Errors
    /// There are none, in words.
    pub(super) fn of(process: u32) -> Result<Self, String> {
        let remedy = "mount it: `mount -t debugfs none /sys/kernel/debug`";
        let folders = fs::read_dir(COUNTERS)
            .map_err(|error| format!("KVM's counters in {COUNTERS}: {error}; {remedy}"))?;
        let start = format!("{process}-");
        let of_process = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start))
        };
        let mut found = folders.flatten().map(|entry| entry.path()).filter(of_process);
        let folder = found.next().ok_or("KVM has no counters of this machine")?;
        Ok(Self { folder })
    }

    /// Reads the exits so far.
    ///
    /// # Errors
    /// A counter can't be read, in words.
    pub(super) fn exits(&self) -> Result<Exits, String> {
        for _ in 0..TRIES {
            let interrupts = self.read("irq_exits")?;
            let all = self.read("exits")?;
            if self.read("irq_exits")? == interrupts {
                return Ok(Exits { all, interrupts });
            }
        }
        Err("KVM's counters change too fast to be read together".to_owned())
    }

    fn read(&self, name: &str) -> Result<u64, String> {
        let path = self.folder.join(name);
        value(&path).ok_or_else(|| format!("{} can't be read", path.display()))
    }

    /// All counters that are not zero.
    pub(super) fn all(&self) -> BTreeMap<String, u64> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let named = entries.filter_map(|entry| {
            Some((entry.file_name().into_string().ok()?, value(&entry.path())?))
        });
        named.filter(|(_, value)| *value > 0).collect()
    }
}

fn value(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Exits of one thread, counted by their reasons. Dropped, nothing is counted any more.
#[derive(Debug)]
pub(super) struct Reasons {
    trigger: String,
}

impl Reasons {
    /// Begins to count exits of a thread.
    ///
    /// # Errors
    /// Where the kernel has no such triggers, or they are not for this user; in words.
    pub(super) fn count(thread: u32) -> Result<Self, String> {
        let trigger = format!("hist:keys=isa,exit_reason:size=512 if common_pid=={thread}");
        let file = format!("{TRACEPOINT}/trigger");
        fs::write(&file, &trigger).map_err(|error| format!("{file}: {error}"))?;
        Ok(Self { trigger })
    }

    /// Reads the exits so far, by their reasons.
    ///
    /// # Errors
    /// Those of reading, in words.
    pub(super) fn read(&self) -> Result<BTreeMap<String, u64>, String> {
        let file = format!("{TRACEPOINT}/hist");
        let text = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        Ok(parse(&text))
    }
}

impl Drop for Reasons {
    fn drop(&mut self) {
        // Nobody is left to be told that it is counted on.
        let _ = fs::write(format!("{TRACEPOINT}/trigger"), format!("!{}", self.trigger));
    }
}

/// `{ isa:          2, exit_reason:        124 } hitcount:       2000`.
fn parse(text: &str) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for line in text.lines() {
        let mut numbers = line
            .split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .filter_map(|word| word.parse().ok());
        if !line.starts_with("{ isa") {
            continue;
        }
        if let (Some(set), Some(reason), Some(count)) =
            (numbers.next(), numbers.next(), numbers.next())
        {
            *counts.entry(name(set, reason)).or_default() += u64::from(count);
        }
    }
    counts
}

fn name(set: u32, reason: u32) -> String {
    let known = REASONS.iter().find(|(a, b, _)| (*a, *b) == (set, reason));
    known.map_or_else(|| format!("reason {reason:#x}"), |(_, _, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_read_from_the_kernels_table() {
        let text = "\
# event histogram
#
# trigger info: hist:keys=isa,exit_reason:vals=hitcount:size=512 [active]
#

{ isa:          2, exit_reason:        124 } hitcount:       2000
{ isa:          2, exit_reason:         96 } hitcount:          3
{ isa:          2, exit_reason:         97 } hitcount:          2
{ isa:          2, exit_reason:          5 } hitcount:          1

Totals:
    Hits: 2006
";
        let expected = [("MSR", 2000), ("host's interrupt", 5), ("reason 0x5", 1)];
        let expected = expected.map(|(name, count)| (name.to_owned(), count));
        assert_eq!(parse(text), BTreeMap::from(expected));
    }

    #[test]
    fn interrupts_of_the_host_are_none_of_the_guests() {
        let before = Exits { all: 100, interrupts: 40 };
        let after = Exits { all: 150, interrupts: 45 };
        assert_eq!(after.own_since(before), 45);
    }
}
