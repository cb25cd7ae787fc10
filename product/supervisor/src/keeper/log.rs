//! The history of a site's partitions, for those who ask later. Each partition has a bounded
//! history of its own, so that one in trouble does not push out the events of the others.

pub(in crate::keeper) mod quiet;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::control::{Asker, EventLine, Severity};
use crate::log_file::LogFile;
use crate::world::World;

/// Limit of the events of a partition that are kept.
pub(crate) const EVENTS_MAX: usize = 2_000;

/// Limit of the size of the file of events, and of the older one beside it; in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The events of a site.
#[derive(Debug)]
pub(crate) struct EventLog {
    world: Arc<dyn World>,
    lines: Mutex<Lines>,
}

#[derive(Debug, Default)]
struct Lines {
    next: u64,
    /// Events by partition, each in order.
    kept: BTreeMap<String, VecDeque<EventLine>>,
    /// File in which they outlive the site.
    file: Option<LogFile>,
}

impl EventLog {
    /// Makes a log whose events also go to a file, which outlives the site.
    pub(crate) fn in_file(world: Arc<dyn World>, path: PathBuf) -> Self {
        let file = Some(LogFile::new(world.storage(), path, FILE_BYTES_MAX));
        Self { world, lines: Mutex::new(Lines { file, ..Lines::default() }) }
    }

    /// Returns the world in which the events happen.
    pub(crate) fn world(&self) -> Arc<dyn World> {
        Arc::clone(&self.world)
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        // The lines remain usable even if a thread panicked while it held the lock.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what was done at somebody's request.
    pub(crate) fn add_asked(
        &self,
        partition: &str,
        kind: &str,
        text: &str,
        cycle: Option<u64>,
        by: Option<&Asker>,
    ) {
        let by = by.map(ToString::to_string);
        let severity = Severity::Information;
        self.push(EventLine {
            sequence: 0,
            at: self.world.time_of_day().to_string(),
            partition: partition.to_owned(),
            cycle,
            kind: kind.to_owned(),
            severity,
            text: text.to_owned(),
            by,
        });
    }

    /// Notes something that happened now, outside of any cycle.
    pub(crate) fn note(&self, partition: &str, kind: &str, severity: Severity, text: &str) {
        self.add(partition, kind, severity, text, None, self.world.time_of_day());
    }

    /// Notes something that happened at the time `at`.
    pub(crate) fn add(
        &self,
        partition: &str,
        kind: &str,
        severity: Severity,
        text: &str,
        cycle: Option<u64>,
        at: jiff::Timestamp,
    ) {
        self.push(EventLine {
            sequence: 0,
            at: at.to_string(),
            partition: partition.to_owned(),
            cycle,
            kind: kind.to_owned(),
            severity,
            text: text.to_owned(),
            by: None,
        });
    }

    /// Gives an event its number and keeps it.
    fn push(&self, event: EventLine) {
        let mut lines = self.lines();
        let event = EventLine { sequence: lines.next, ..event };
        lines.next += 1;
        let kept = lines.kept.entry(event.partition.clone()).or_default();
        if kept.len() == EVENTS_MAX {
            kept.pop_front();
        }
        kept.push_back(event.clone());
        if let Some(file) = &mut lines.file {
            let line = serde_json::to_string(&event).expect("texts and numbers are JSON");
            // What can't be written can still be asked for as long as the site runs.
            let _ = file.add(&line);
        }
    }

    /// Returns the events from number `since` on, in order.
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
    use crate::world::live::Live;

    #[test]
    fn events_stay_in_a_file_across_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        for run in ["first", "second"] {
            let log = EventLog::in_file(Arc::new(Live), path.clone());
            log.note("tank", "started", Severity::Information, run);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let read = |line: &str| serde_json::from_str::<EventLine>(line).unwrap().text;
        assert_eq!(text.lines().map(read).collect::<Vec<_>>(), ["first", "second"]);
    }

    #[test]
    fn old_events_are_forgotten_and_the_numbers_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let log = EventLog::in_file(Arc::new(Live), folder.path().join("events.jsonl"));
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
