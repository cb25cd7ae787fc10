//! The search for the smallest set of controls that reaches the class. Pure.

use quietcore_site::Control;

/// A search for the smallest set of controls that reaches the class. It tries none, all, then the
/// most helpful ones one after the other until the class is reached; then it leaves out each of
/// these in turn.
///
/// It takes at most two runs for each control, and two more. No control can be left out of the set
/// that it finds; another set may be as small.
#[derive(Clone, Debug)]
pub struct Search {
    ordered: Vec<Control>,
    phase: Phase,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    Nothing,
    All,
    /// This many of the most helpful controls.
    Grow(usize),
    /// A set that reaches the class, and the place of the control to leave out next.
    Shrink(Vec<Control>, usize),
    End(Option<Vec<Control>>),
}

impl Search {
    /// Starts a search among these controls, the most helpful first.
    pub const fn new(ordered: Vec<Control>) -> Self {
        Self { ordered, phase: Phase::Nothing }
    }

    /// Returns the set to try next; `None` at the end.
    pub fn next_set(&self) -> Option<Vec<Control>> {
        match &self.phase {
            Phase::Nothing => Some(Vec::new()),
            Phase::All => Some(self.ordered.clone()),
            Phase::Grow(count) => Some(self.ordered[..*count].to_vec()),
            Phase::Shrink(set, place) => Some(without(set, *place)),
            Phase::End(_) => None,
        }
    }

    /// Notes whether the set that was to be tried next reached the class.
    pub fn tell(&mut self, reached: bool) {
        let phase = std::mem::replace(&mut self.phase, Phase::End(None));
        self.phase = match (phase, reached) {
            (Phase::Nothing, true) => Phase::End(Some(Vec::new())),
            (Phase::Nothing, false) if self.ordered.is_empty() => Phase::End(None),
            (Phase::Nothing, false) => Phase::All,
            (Phase::All, false) => Phase::End(None),
            (Phase::All, true) => self.grow(1),
            (Phase::Grow(count), true) => grown(self.ordered[..count].to_vec()),
            (Phase::Grow(count), false) => self.grow(count + 1),
            (Phase::Shrink(set, place), true) => shrink(without(&set, place), place),
            (Phase::Shrink(set, place), false) => shrink(set, place),
            (Phase::End(found), _) => Phase::End(found),
        };
    }

    /// Returns the set that was found; `None` before the end, and when not even all controls reach
    /// the class.
    pub fn found(&self) -> Option<&[Control]> {
        match &self.phase {
            Phase::End(found) => found.as_deref(),
            _ => None,
        }
    }

    /// Tries the first `count` controls next. All of them together need no run: they reach the
    /// class.
    fn grow(&self, count: usize) -> Phase {
        if count < self.ordered.len() { Phase::Grow(count) } else { grown(self.ordered.clone()) }
    }
}

/// Begins to leave out controls of a set that reached the class only with its last one, which is
/// needed.
fn grown(set: Vec<Control>) -> Phase {
    let last = set.len().saturating_sub(1);
    shrink(set, last)
}

/// Goes on with the control before `place`. A set of one is never emptied, because the empty set is
/// known not to reach the class.
fn shrink(set: Vec<Control>, place: usize) -> Phase {
    match place.checked_sub(1) {
        Some(place) if set.len() > 1 => Phase::Shrink(set, place),
        _ => Phase::End(Some(set)),
    }
}

fn without(set: &[Control], place: usize) -> Vec<Control> {
    let rest = set.iter().enumerate().filter(|(index, _)| *index != place);
    rest.map(|(_, control)| *control).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use Control::{Governor, IdleStates, Interrupts, Timers};

    /// Runs a search in which exactly the sets that hold all of `needed` reach the class; returns
    /// the set that it found, and the number of sets tried.
    fn search(ordered: &[Control], needed: Option<&[Control]>) -> (Option<Vec<Control>>, usize) {
        let mut search = Search::new(ordered.to_vec());
        let mut tried = 0;
        while let Some(set) = search.next_set() {
            search.tell(needed.is_some_and(|needed| needed.iter().all(|it| set.contains(it))));
            tried += 1;
            assert!(tried <= 2 * ordered.len() + 2, "it does not end");
        }
        (search.found().map(<[_]>::to_vec), tried)
    }

    #[test]
    fn the_smallest_set_is_found_whatever_is_needed() {
        let ordered = [Interrupts, Governor, Timers, IdleStates];
        for needed in 0..16_usize {
            let chosen = ordered.iter().enumerate().filter(|(place, _)| needed & 1 << place != 0);
            let needed: Vec<Control> = chosen.map(|(_, control)| *control).collect();
            let (found, _) = search(&ordered, Some(&needed));
            assert_eq!(found.as_deref(), Some(&*needed));
        }
    }

    #[test]
    fn it_ends_at_once_where_nothing_or_everything_settles_it() {
        let ordered = [Interrupts, Governor, Timers];
        assert_eq!(search(&ordered, Some(&[])), (Some(Vec::new()), 1));
        assert_eq!(search(&ordered, None), (None, 2));
        assert_eq!(search(&[], None), (None, 1));
        assert_eq!(search(&[Governor], Some(&[Governor])), (Some(vec![Governor]), 2));
    }

    #[test]
    fn either_of_two_that_do_the_same_is_enough() {
        let mut search = Search::new(vec![Interrupts, Governor, Timers]);
        while let Some(set) = search.next_set() {
            search.tell(set.contains(&Governor) || set.contains(&Timers));
        }
        assert_eq!(search.found(), Some(&[Governor][..]));
    }
}
