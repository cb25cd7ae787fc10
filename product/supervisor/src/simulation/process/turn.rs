//! Two threads of which one runs at a time: the keeper's, and that of its partition's process.
//!
//! The keeper's thread grants the other one time, and waits until that has used it up, has ended,
//! or was killed.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use quietcore_units::Nanos;

/// The end of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::simulation) enum Ended {
    /// It ended with this wait status.
    Status(i32),
    /// It ended by a panic of our own code, with this message.
    Panicked(String),
}

/// The turn, which either the keeper or the process has.
#[derive(Debug, Default)]
pub(in crate::simulation) struct Turn {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Instant until which the process may run.
    until: Nanos,
    /// Instant before which the process does nothing.
    waits_for: Nanos,
    is_its_turn: bool,
    /// `true` if it is to end without another step.
    is_killed: bool,
    ended: Option<Ended>,
}

/// The payload of the unwinding thread whose process was killed.
#[derive(Debug)]
pub(in crate::simulation) struct Killed;

impl Turn {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the other thread, after the lock is free: woken before, it would sleep again at once.
    fn hand_over<'t>(&'t self, state: MutexGuard<'t, State>) -> MutexGuard<'t, State> {
        drop(state);
        self.changed.notify_all();
        self.state()
    }

    /// Lets the process run until an instant. Returns at once if it has ended.
    pub(in crate::simulation) fn grant(&self, until: Nanos) {
        let mut state = self.state();
        if state.ended.is_some() {
            return;
        }
        state.until = state.until.max(until);
        if state.until < state.waits_for && !state.is_killed {
            return;
        }
        state.is_its_turn = true;
        state = self.hand_over(state);
        while state.is_its_turn && state.ended.is_none() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Kills the process wherever it is.
    pub(in crate::simulation) fn kill(&self) {
        self.state().is_killed = true;
        self.grant(Nanos::ZERO);
    }

    /// Returns its end, if it has ended.
    pub(in crate::simulation) fn ended(&self) -> Option<Ended> {
        self.state().ended.clone()
    }

    /// Makes the process wait until it may run at an instant. Unwinds with [`Killed`] if it was
    /// killed meanwhile.
    pub(in crate::simulation) fn wait_until(&self, instant: Nanos) {
        let mut state = self.state();
        state.waits_for = instant;
        while !state.is_its_turn || (state.until < instant && !state.is_killed) {
            if state.is_its_turn {
                state.is_its_turn = false;
                state = self.hand_over(state);
                continue;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_killed {
            drop(state);
            std::panic::resume_unwind(Box::new(Killed));
        }
    }

    /// Takes note that the process has ended.
    pub(in crate::simulation) fn end(&self, how: Ended) {
        let mut state = self.state();
        state.ended = Some(how);
        state.is_its_turn = false;
        self.changed.notify_all();
    }
}
