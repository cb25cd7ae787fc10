//! What has happened to the partitions of a site, for those who ask later. Each partition has a
//! bounded history of its own, so that one in trouble does not push out what the others told.

pub(in crate::keeper) mod quiet;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::control::{EventLine, Severity};
use crate::log_file::LogFile;

/// The most events of a partition that are kept.
pub(crate) const EVENTS_MAX: usize = 2_000;

/// The most bytes of the file of events, and of the older one beside it.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The events of a site.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    lines: Mutex<Lines>,
}

#[derive(Debug, Default)]
struct Lines {
    next: u64,
    /// By partition, each in order.
    kept: BTreeMap<String, VecDeque<EventLine>>,
    /// Where they stay when the site is down.
    file: Option<LogFile>,
}

impl EventLog {
    /// Events that are added to a file as well, which outlives the site.
    pub(crate) fn in_file(path: PathBuf) -> Self {
        let file = Some(LogFile::new(path, FILE_BYTES_MAX));
        Self { lines: Mutex::new(Lines { file, ..Lines::default() }) }
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        // They stay of use whatever became of a thread that held them.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes something that happened now, outside of any cycle.
    pub(crate) fn note(&self, partition: &str, kind: &str, severity: Severity, text: &str) {
        self.add(partition, kind, severity, text, None, jiff::Timestamp::now());
    }

    /// Notes something.
    pub(crate) fn add(
        &self,
        partition: &str,
        kind: &str,
        severity: Severity,
        text: &str,
        cycle: Option<u64>,
        at: jiff::Timestamp,
    ) {
        let mut lines = self.lines();
        let sequence = lines.next;
        lines.next += 1;
        let kept = lines.kept.entry(partition.to_owned()).or_default();
        if kept.len() == EVENTS_MAX {
            kept.pop_front();
        }
        let event = EventLine {
            sequence,
            at: at.to_string(),
            partition: partition.to_owned(),
            cycle,
            kind: kind.to_owned(),
            severity,
            text: text.to_owned(),
        };
        kept.push_back(event.clone());
        if let Some(file) = &mut lines.file {
            let line = serde_json::to_string(&event).expect("texts and numbers are JSON");
            // What can't be written is still told as long as the site runs.
            let _ = file.add(&line);
        }
    }

    /// The events from number `since` on, in order.
    pub(crate) fn since(&self, since: u64) -> Vec<EventLine> {
        let lines = self.lines();
        let of = |kept: &VecDeque<EventLine>| -> Vec<EventLine> {
            kept.range(kept.partition_point(|line| line.sequence < since)..).cloned().collect()
        };
        let mut events: Vec<EventLine> = lines.kept.values().flat_map(of).collect();
        events.sort_unstable_by_key(|line| line.sequence);
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_stay_in_a_file_across_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        for run in ["first", "second"] {
            let log = EventLog::in_file(path.clone());
            log.note("tank", "started", Severity::Information, run);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let read = |line: &str| serde_json::from_str::<EventLine>(line).unwrap().text;
        assert_eq!(text.lines().map(read).collect::<Vec<_>>(), ["first", "second"]);
    }

    #[test]
    fn old_events_are_forgotten_and_the_numbers_say_so() {
        let log = EventLog::default();
        log.note("tank", "started", Severity::Information, "first");
        for number in 0..EVENTS_MAX + 5 {
            log.note("axis", "overrun", Severity::Warning, &number.to_string());
        }
        let all = log.since(0);
        assert_eq!(all.len(), EVENTS_MAX + 1);
        assert_eq!((all[0].partition.as_str(), all[0].sequence), ("tank", 0), "it has its own");
        assert_eq!((all[1].sequence, all[1].text.as_str()), (6, "5"));
        assert!(all.is_sorted_by_key(|line| line.sequence));
        assert_eq!(log.since(EVENTS_MAX as u64 + 5).len(), 1);
    }
}
