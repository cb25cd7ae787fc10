//! What has happened to the partitions of a site, for those who ask later.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::control::{EventLine, Severity};

/// The most events that are kept.
const EVENTS_MAX: usize = 10_000;

/// The events of a site.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    lines: Mutex<Lines>,
}

#[derive(Debug, Default)]
struct Lines {
    next: u64,
    kept: VecDeque<EventLine>,
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
        if lines.kept.len() == EVENTS_MAX {
            lines.kept.pop_front();
        }
        lines.kept.push_back(EventLine {
            sequence,
            at: at.to_string(),
            partition: partition.to_owned(),
            cycle,
            kind: kind.to_owned(),
            severity,
            text: text.to_owned(),
        });
    }

    /// The events from number `since` on.
    pub(crate) fn since(&self, since: u64) -> Vec<EventLine> {
        self.lines().kept.iter().filter(|line| line.sequence >= since).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_events_are_forgotten_and_the_numbers_say_so() {
        let log = EventLog::default();
        for number in 0..EVENTS_MAX + 5 {
            log.note("axis", "overrun", Severity::Warning, &number.to_string());
        }
        let all = log.since(0);
        assert_eq!((all.len(), all[0].sequence), (EVENTS_MAX, 5));
        assert_eq!(all[0].text, "5");
        assert_eq!(log.since(EVENTS_MAX as u64 + 4).len(), 1);
    }
}
