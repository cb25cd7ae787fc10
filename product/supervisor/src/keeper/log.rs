//! What has happened to the partitions of a site, for those who ask later. Each partition has a
//! bounded history of its own, so that one in trouble does not push out what the others told.

pub(in crate::keeper) mod quiet;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::control::{EventLine, Severity};

/// The most events of a partition that are kept.
pub(crate) const EVENTS_MAX: usize = 2_000;

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
}

impl EventLog {
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
        kept.push_back(EventLine {
            sequence,
            at: at.to_string(),
            partition: partition.to_owned(),
            cycle,
            kind: kind.to_owned(),
            severity,
            text: text.to_owned(),
        });
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
