//! The forces that the partition must have, as the answers to requests tell.

use std::collections::{BTreeMap, BTreeSet};

use super::client::{Heard, What};
use crate::control::{Change, ChangeKind, Restart};

/// The variables that must be forced, and those of which nobody knows it.
///
/// The keeper fulfils requests in the order in which they were made. It does not answer them in
/// that order: a change that is looked at once more is answered after later ones. So the request
/// that was made last decides.
#[derive(Debug, Default)]
pub(super) struct Forces {
    forced: BTreeSet<String>,
    unsure: BTreeSet<String>,
    /// Variables whose force has ended with a build, and may come back with the one before.
    lost: BTreeSet<String>,
    /// The last request of each variable of which the outcome is known, or is known to be lost.
    decided: BTreeMap<String, u64>,
    /// The same, of requests that concern all variables.
    all_decided: u64,
    /// The last request that concerns all variables of which nobody knows the outcome.
    all_unknown: u64,
}

impl Forces {
    /// Takes note of an answer.
    pub(super) fn hear(&mut self, Heard { number, what, is_done }: &Heard) {
        match what {
            What::Write(changes) if *is_done => {
                for Change { kind, variable, .. } in changes {
                    if *kind == ChangeKind::Set || !self.decides(*number, variable) {
                        continue;
                    }
                    match kind {
                        ChangeKind::Force => drop(self.forced.insert(variable.clone())),
                        _ => drop(self.forced.remove(variable)),
                    }
                    if *number < self.all_unknown {
                        self.unsure.insert(variable.clone());
                    } else {
                        self.unsure.remove(variable);
                    }
                }
            }
            What::UnforceAll | What::Restart(Restart::Origin) if *is_done => {
                let number = *number;
                let is_before = |variable: &String| !is_later(&self.decided, number, variable);
                self.forced.retain(|variable| !is_before(variable));
                self.unsure.retain(|variable| !is_before(variable));
                self.lost.clear();
                self.all_decided = self.all_decided.max(number);
            }
            what => self.unknown(*number, what),
        }
    }

    /// Takes note of a request whose outcome nobody hears.
    pub(super) fn unknown(&mut self, number: u64, what: &What) {
        match what {
            What::Write(changes) => {
                for change in changes.iter().filter(|change| change.kind != ChangeKind::Set) {
                    if self.decides(number, &change.variable) {
                        self.unsure.insert(change.variable.clone());
                    }
                }
            }
            What::UnforceAll | What::Restart(Restart::Origin) => {
                let (kept, unsure) = std::mem::take(&mut self.forced)
                    .into_iter()
                    .partition(|variable| is_later(&self.decided, number, variable));
                self.forced = kept;
                self.unsure.extend::<BTreeSet<String>>(unsure);
                self.all_unknown = self.all_unknown.max(number);
            }
            _ => {}
        }
    }

    /// Takes note of a force that has ended with a build.
    pub(super) fn lose(&mut self, variable: String) {
        self.forced.remove(&variable);
        self.lost.insert(variable);
    }

    /// Takes note of a build that was taken back, with which lost forces may have come back.
    pub(super) fn revert(&mut self) {
        self.unsure.append(&mut self.lost);
    }

    /// Returns `true` if there may be forces.
    pub(super) fn may_be(&self) -> bool {
        !self.forced.is_empty() || !self.unsure.is_empty()
    }

    /// Returns `true` if it is known of every variable whether it is forced.
    pub(super) fn are_known(&self) -> bool {
        self.unsure.is_empty()
    }

    /// Returns `true` if a variable must be forced, `false` if it must not be, and `None` if nobody
    /// knows.
    pub(super) fn must_be(&self, variable: &str) -> Option<bool> {
        (!self.unsure.contains(variable)).then(|| self.forced.contains(variable))
    }

    /// Returns `true` if no later request has decided on a variable, and notes that this one has.
    fn decides(&mut self, number: u64, variable: &str) -> bool {
        if number < self.all_decided || is_later(&self.decided, number, variable) {
            return false;
        }
        self.decided.insert(variable.to_owned(), number);
        true
    }
}

/// Returns `true` if a request after this one has decided on a variable.
fn is_later(decided: &BTreeMap<String, u64>, number: u64, variable: &str) -> bool {
    decided.get(variable).is_some_and(|decided| *decided > number)
}

#[cfg(test)]
mod tests {
    use super::super::client::set_or_force;
    use super::*;

    fn heard(number: u64, what: What) -> Heard {
        Heard { number, what, is_done: true }
    }

    fn write(kind: ChangeKind, variable: &str) -> What {
        What::Write(vec![set_or_force(kind, variable, None)])
    }

    #[test]
    fn the_request_that_was_made_last_decides_whichever_is_answered_last() {
        let mut forces = Forces::default();
        forces.hear(&heard(2, write(ChangeKind::Unforce, "a")));
        forces.hear(&heard(1, write(ChangeKind::Force, "a")));
        assert_eq!(forces.must_be("a"), Some(false));
        forces.hear(&heard(4, write(ChangeKind::Force, "a")));
        forces.hear(&heard(3, What::UnforceAll));
        assert_eq!(forces.must_be("a"), Some(true));
        forces.hear(&heard(6, What::UnforceAll));
        forces.hear(&heard(5, write(ChangeKind::Force, "b")));
        assert_eq!((forces.must_be("a"), forces.must_be("b")), (Some(false), Some(false)));
    }

    #[test]
    fn a_request_that_nobody_hears_makes_earlier_ones_unsure_but_no_later_one() {
        let mut forces = Forces::default();
        forces.hear(&heard(1, write(ChangeKind::Force, "a")));
        forces.hear(&heard(3, write(ChangeKind::Force, "b")));
        forces.unknown(2, &What::UnforceAll);
        assert_eq!((forces.must_be("a"), forces.must_be("b")), (None, Some(true)));
        forces.hear(&heard(1, write(ChangeKind::Force, "c")));
        assert_eq!(forces.must_be("c"), None);
        forces.hear(&heard(5, write(ChangeKind::Unforce, "a")));
        forces.unknown(4, &write(ChangeKind::Force, "a"));
        assert_eq!(forces.must_be("a"), Some(false));
    }
}
