//! What clients have changed lately, for whoever records meanwhile: a plot marks it.

use std::collections::VecDeque;

use crate::control::{AppliedChange, Change};

/// The most changes that are kept, of all partitions together.
pub(super) const CHANGES_MAX: usize = 512;

/// The changes of a site, the oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The number of the next one.
    next: u64,
    kept: VecDeque<AppliedChange>,
}

impl History {
    /// Notes a group of changes that acts from a cycle; `None` lets all forced variables go.
    pub(super) fn note(&mut self, partition: &str, cycle: u64, changes: Option<&[Change]>) {
        let changes = match changes {
            Some(changes) => changes.iter().cloned().map(Some).collect(),
            None => vec![None],
        };
        for change in changes {
            if self.kept.len() == CHANGES_MAX {
                self.kept.pop_front();
            }
            let (sequence, partition) = (self.next, partition.to_owned());
            self.kept.push_back(AppliedChange { sequence, partition, cycle, change });
            self.next += 1;
        }
    }

    /// The changes from number `since` on, and the number of the next one.
    pub(super) fn since(&self, since: u64) -> (Vec<AppliedChange>, u64) {
        let from = self.kept.partition_point(|change| change.sequence < since);
        (self.kept.range(from..).cloned().collect(), self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::ChangeKind;

    #[test]
    fn the_latest_changes_are_kept_with_their_numbers() {
        let mut history = History::default();
        let change = |number: usize| Change {
            kind: ChangeKind::Set,
            variable: format!("x{number}"),
            value: Some("1".to_owned()),
            allow_nan: false,
        };
        assert_eq!(history.since(0), (Vec::new(), 0));
        for number in 0..CHANGES_MAX {
            history.note("axis", 5, Some(&[change(number)]));
        }
        history.note("tank", 6, None);
        let (all, next) = history.since(0);
        assert_eq!((all.len(), next), (CHANGES_MAX, CHANGES_MAX as u64 + 1));
        assert_eq!((all[0].sequence, &all[0].change), (1, &Some(change(1))));
        let (last, _) = history.since(next - 1);
        assert_eq!(last.len(), 1);
        assert_eq!(
            (last[0].partition.as_str(), last[0].cycle, &last[0].change),
            ("tank", 6, &None)
        );
    }
}
