//! State that the guest's processor and the board's thread share.
// UNSAFETY: an event file of another crate is borrowed for a wait.
#![expect(unsafe_code, reason = "an event file of another crate can't be borrowed otherwise")]

use std::fmt;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use quietcore_boot::board::{BoardPage, Raised};
use vmm_sys_util::eventfd::EventFd;

use super::registers::Order;
use crate::processor::counter::Counter;
use crate::slot;

/// The bit of the packed order that says that the board is on.
const ON: u64 = 1 << 32;
/// From this bit on is how often the board was switched on or off.
const SWITCHINGS: u32 = 33;

/// State that the guest's processor and the board's thread share.
#[derive(Debug)]
pub(super) struct Shared {
    page: Arc<slot::Shared>,
    /// The counter of the guest.
    counter: Counter,
    line: EventFd,
    bell: EventFd,
    /// The period, whether the board is on, and how often that has changed.
    order: AtomicU64,
    ended: AtomicBool,
    raised: AtomicU64,
    failed: AtomicU64,
    left_out: AtomicU64,
}

/// Counts of a board's interrupts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoardCounts {
    /// Interrupts raised since the begin.
    pub raised: u64,
    /// Of these, those that KVM was not told of, because its event file was full.
    pub failed: u64,
    /// Interrupts left out because the thread came a whole period late or more.
    pub left_out: u64,
}

impl fmt::Display for BoardCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { raised, failed, left_out } = self;
        write!(f, "raised {raised}, of which lost {failed}, left out {left_out}")
    }
}

impl Shared {
    pub(super) fn new(
        page: Arc<slot::Shared>,
        counter: Counter,
        line: EventFd,
        bell: EventFd,
    ) -> Self {
        let shared = Self {
            page,
            counter,
            line,
            bell,
            order: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            raised: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            left_out: AtomicU64::new(0),
        };
        shared.page().begin();
        shared
    }

    fn page(&self) -> BoardPage<'_> {
        let words = self.page.words().first_chunk();
        BoardPage::new(words.expect("a page has more words than that"))
    }

    /// Has the thread do this from now on. Called by one thread at a time.
    pub(super) fn give(&self, order: Order) {
        self.order.store(packed(self.order.load(Relaxed), order), Release);
        self.ring();
    }

    /// Returns the order for the thread, and how often the board was switched on or off so far;
    /// `None` for its end.
    pub(super) fn order(&self) -> Option<(Order, u32)> {
        let packed = self.order.load(Acquire);
        let order = Order { period: packed as u32, on: packed & ON != 0 };
        (!self.ended.load(Acquire)).then_some((order, (packed >> SWITCHINGS) as u32))
    }

    pub(super) fn end(&self) {
        self.ended.store(true, Release);
        self.ring();
    }

    fn ring(&self) {
        // A bell that is full rings already.
        let _ = self.bell.write(1);
    }

    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        // SAFETY: the file is open as long as `self` lives.
        unsafe { BorrowedFd::borrow_raw(self.bell.as_raw_fd()) }
    }

    pub(super) fn take_bell(&self) {
        // Where nobody rang, there is nothing to take.
        let _ = self.bell.read();
    }

    /// Raises the interrupt of this number.
    pub(super) fn raise(&self, number: u64) {
        self.page().note(Raised { number, counter: self.counter.read() });
        if self.line.write(1).is_err() {
            self.failed.fetch_add(1, Relaxed);
        }
        self.raised.fetch_add(1, Relaxed);
    }

    pub(super) fn say_left_out(&self, left_out: u64) {
        self.left_out.store(left_out, Relaxed);
    }

    pub(super) fn counts(&self) -> BoardCounts {
        BoardCounts {
            raised: self.raised.load(Relaxed),
            failed: self.failed.load(Relaxed),
            left_out: self.left_out.load(Relaxed),
        }
    }
}

/// The word of an order that follows the one of this word.
fn packed(before: u64, order: Order) -> u64 {
    let on = if order.on { ON } else { 0 };
    let switchings = (before >> SWITCHINGS) + u64::from(before & ON != on);
    u64::from(order.period) | on | switchings << SWITCHINGS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_tells_that_the_board_was_switched_and_a_period_does_not() {
        let (on, off) = (Order { period: 7, on: true }, Order { period: 7, on: false });
        let switchings = |word: u64| word >> SWITCHINGS;
        let first = packed(0, on);
        assert_eq!((switchings(first), first & ON, first as u32), (1, ON, 7));
        assert_eq!(packed(first, on), first);
        assert_eq!(switchings(packed(first, Order { period: 8, on: true })), 1);
        assert_eq!(switchings(packed(packed(first, off), on)), 3);
        // It begins anew one day, and nothing else changes.
        let last = packed(u64::MAX, off);
        assert_eq!((switchings(last), last & ON, last as u32), (0, 0, 7));
    }
}
