//! The state that the tasks of one partition share, beside the exchange.
//!
//! ```text
//! leading task    the fastest: inputs, commands, forces, its step, outputs, swap of the build
//! other tasks     forces, their step
//! ```
//!
//! Only the leading task changes the build or the state; the others say when they are inside a
//! step. A swap needs an instant at which none of them is:
//!
//! ```text
//! leading task                 other task
//! swapping = true              inside = true
//! all `inside` false?          swapping false?
//!   yes: swap                    yes: step
//!   no: try in the next cycle    no: inside = false, wait
//! swapping = false             inside = false
//! ```
//!
//! Each side writes its own flag before it reads the other's, both sequentially consistent, so that
//! at least one of the two sees the other (Dekker).

use core::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU32,
    Ordering::{Acquire, Release, SeqCst},
};

/// The most tasks of a partition.
pub const TASK_LIMIT: usize = 16;

/// The state that the tasks of a partition share.
#[derive(Debug, Default)]
pub struct Shared {
    in_fault: AtomicBool,
    on_probation: AtomicBool,
    /// Number of the data slot whose build runs.
    active: AtomicU8,
    swapping: AtomicBool,
    inside: [AtomicBool; TASK_LIMIT],
    /// For each task, whether its trigger is true.
    triggers: [AtomicBool; TASK_LIMIT],
    /// For each task, how often its trigger has fired.
    fired: [AtomicU32; TASK_LIMIT],
}

impl Shared {
    /// Returns `true` while the partition is in fault: no step is run.
    #[inline]
    pub fn is_in_fault(&self) -> bool {
        self.in_fault.load(Acquire)
    }

    /// Puts the partition in fault; returns whether it was not before.
    pub fn enter_fault(&self) -> bool {
        !self.in_fault.swap(true, SeqCst)
    }

    /// Ends the fault, with a new build in place.
    pub(crate) fn leave_fault(&self) {
        self.in_fault.store(false, Release);
    }

    /// Enters a step of another task; `false` while the build is being swapped: try again.
    #[inline]
    pub fn try_enter(&self, task: usize) -> bool {
        let Some(inside) = self.inside.get(task) else { return false };
        inside.store(true, SeqCst);
        if self.swapping.load(SeqCst) {
            inside.store(false, SeqCst);
            return false;
        }
        true
    }

    /// Leaves the step that [`try_enter`](Self::try_enter) has entered.
    #[inline]
    pub fn exit(&self, task: usize) {
        if let Some(inside) = self.inside.get(task) {
            inside.store(false, Release);
        }
    }

    /// Runs `swap` if no other task is inside a step, and keeps them out meanwhile.
    pub(crate) fn while_all_are_outside<T>(&self, swap: impl FnOnce() -> T) -> Option<T> {
        self.swapping.store(true, SeqCst);
        let outside = self.inside.iter().all(|inside| !inside.load(SeqCst));
        let result = outside.then(swap);
        self.swapping.store(false, SeqCst);
        result
    }

    /// Returns `true` if no other task is inside a step at this instant.
    #[inline]
    pub(crate) fn all_are_outside(&self) -> bool {
        self.inside.iter().all(|inside| !inside.load(Acquire))
    }

    /// Starts a task whose trigger fired.
    pub(crate) fn fire(&self, task: usize) {
        if let Some(fired) = self.fired.get(task) {
            fired.fetch_add(1, Release);
        }
    }

    /// Returns the count of a task's firings, wrapping around.
    #[inline]
    pub fn fired(&self, task: usize) -> u32 {
        self.fired.get(task).map_or(0, |fired| fired.load(Acquire))
    }

    pub(crate) fn set_trigger(&self, task: usize, is: bool) {
        if let Some(trigger) = self.triggers.get(task) {
            trigger.store(is, Release);
        }
    }

    /// Returns `true` if a task's trigger is true.
    pub fn trigger(&self, task: usize) -> bool {
        self.triggers.get(task).is_some_and(|trigger| trigger.load(Acquire))
    }

    /// Returns the number of the data slot whose build runs: 0 or 1.
    #[inline]
    pub fn active(&self) -> u8 {
        self.active.load(Acquire) & 1
    }

    pub(crate) fn set_active(&self, slot: u8) {
        self.active.store(slot & 1, Release);
    }

    /// Returns `true` if the build before the running one must be kept.
    pub fn is_on_probation(&self) -> bool {
        self.on_probation.load(Acquire)
    }

    pub(crate) fn set_probation(&self, is: bool) {
        self.on_probation.store(is, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_swapped_under_a_running_step() {
        let shared = Shared::default();
        assert!(shared.try_enter(3));
        assert!(!shared.all_are_outside());
        assert_eq!(shared.while_all_are_outside(|| 1), None);
        shared.exit(3);
        let inside = shared.while_all_are_outside(|| shared.try_enter(3));
        assert_eq!(inside, Some(false), "and no step begins under a swap");
        assert!(shared.try_enter(3));
    }

    #[test]
    fn the_first_fault_is_the_one_that_counts() {
        let shared = Shared::default();
        assert!(shared.enter_fault() && !shared.enter_fault());
        assert!(shared.is_in_fault());
        shared.leave_fault();
        assert!(!shared.is_in_fault() && shared.enter_fault());
    }

    #[test]
    fn a_trigger_that_fires_is_counted_for_its_task() {
        let shared = Shared::default();
        shared.fire(2);
        shared.fire(2);
        assert_eq!((shared.fired(2), shared.fired(1)), (2, 0));
    }
}
