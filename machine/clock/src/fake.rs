//! A clock that does what a test tells it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use quietcore_units::Nanos;

use crate::Clock;

/// A clock without a machine: reading it takes a fixed time, and each sleep ends as late as the
/// test wants.
#[derive(Debug, Default)]
pub struct FakeClock {
    now: Cell<Nanos>,
    read_cost: Nanos,
    oversleeps: RefCell<VecDeque<Nanos>>,
    sleeps: RefCell<Vec<Nanos>>,
}

impl FakeClock {
    /// A clock at `now` of which each reading takes `read_cost`. The sleeps end late by the given
    /// times in turn, later ones not at all.
    pub fn new(now: Nanos, read_cost: Nanos, oversleeps: impl IntoIterator<Item = Nanos>) -> Self {
        Self {
            now: Cell::new(now),
            read_cost,
            oversleeps: RefCell::new(oversleeps.into_iter().collect()),
            sleeps: RefCell::default(),
        }
    }

    /// Makes room for noting this many sleeps, for whoever counts allocations.
    pub fn reserve(&self, sleeps: usize) {
        self.sleeps.borrow_mut().reserve(sleeps);
    }

    /// The instants that were slept until.
    pub fn sleeps(&self) -> Vec<Nanos> {
        self.sleeps.borrow().clone()
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Nanos {
        let now = self.now.get() + self.read_cost;
        self.now.set(now);
        now
    }

    fn sleep_until(&self, due: Nanos) {
        self.sleeps.borrow_mut().push(due);
        let late = self.oversleeps.borrow_mut().pop_front().unwrap_or_default();
        self.now.set(self.now.get().max(due + late));
    }

    fn cpu(&self) -> u32 {
        0
    }
}
