//! The latest changes by clients, kept for those who record meanwhile: a plot marks them.

use std::collections::VecDeque;

use crate::control::{Applied, AppliedChange, Asker, Effect, History as HistoryAnswer};

/// Limit of the changes that are kept, of all partitions together.
pub(super) const CHANGES_MAX: usize = 512;

/// The changes of a site, the oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Number of the next change.
    next: u64,
    kept: VecDeque<AppliedChange>,
}

impl History {
    /// Notes the effects of a group of changes.
    pub(super) fn note(&mut self, partition: &str, by: &Asker, applied: &Applied) {
        for effect in &applied.effects {
            self.add(partition, by, applied.cycle, effect);
        }
    }

    fn add(&mut self, partition: &str, by: &Asker, cycle: u64, effect: &Effect) {
        if self.kept.len() == CHANGES_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(AppliedChange {
            sequence: self.next,
            partition: partition.to_owned(),
            cycle,
            by: by.clone(),
            effect: effect.clone(),
        });
        self.next += 1;
    }

    /// Returns the changes from number `since` on, and the number of the next one.
    pub(super) fn since(&self, since: u64) -> HistoryAnswer {
        let from = self.kept.partition_point(|change| change.sequence < since);
        HistoryAnswer { changes: self.kept.range(from..).cloned().collect(), next: self.next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Change, ChangeKind, samples};

    #[test]
    fn the_latest_changes_are_kept_with_their_numbers() {
        let mut history = History::default();
        let effect = |number: usize| Effect {
            change: Change {
                kind: ChangeKind::Set,
                variable: format!("x{number}"),
                value: Some("1".to_owned()),
                allow_nan: false,
            },
            old: Some("0".to_owned()),
            new: Some("1".to_owned()),
            without_effect: None,
        };
        let by = samples::asker();
        assert_eq!(history.since(0), HistoryAnswer { changes: Vec::new(), next: 0 });
        for number in 0..CHANGES_MAX {
            history.note("axis", &by, &Applied { cycle: 5, effects: vec![effect(number)] });
        }
        history.note("tank", &by, &Applied { cycle: 6, effects: vec![effect(0)] });
        let HistoryAnswer { changes, next } = history.since(0);
        assert_eq!((changes.len(), next), (CHANGES_MAX, CHANGES_MAX as u64 + 1));
        assert_eq!((changes[0].sequence, &changes[0].effect), (1, &effect(1)));
        let last = history.since(next - 1).changes;
        assert_eq!(last.len(), 1);
        assert_eq!((last[0].partition.as_str(), last[0].cycle, &last[0].by), ("tank", 6, &by));
    }
}
