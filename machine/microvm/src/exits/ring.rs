//! The ring of the last exits.
//!
//! An exit takes four words: its number plus one (0 while it is written), the reason with the
//! detail, the counter at its begin, its time. The number says which exit a place holds, so that a
//! reader who is overtaken notices.

use std::sync::atomic::{AtomicU64, Ordering, fence};

use super::layout::{RECORDED, RING};
use super::{REASONS, Reason};

/// Number of exits that the ring holds.
pub const RECENT: usize = 4096;

/// The words of one.
pub(super) const WORDS_PER_EXIT: usize = 4;

/// The bits of a detail that are kept: no address of a guest has more.
const DETAIL_BITS: u32 = 56;

/// An exit with its time and duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The reason of the exit.
    pub reason: Reason,
    /// The port or the address that it was about; 0 where it was about none.
    pub detail: u64,
    /// The guest's counter when this process saw it.
    pub begin: u64,
    /// The time until the guest was entered again, in ns.
    pub time_ns: u64,
}

pub(super) fn push(words: &[AtomicU64], exit: &Exit) {
    let number = words[RECORDED].load(Ordering::Relaxed);
    let [stamp, what, begin, time] = place(words, number);
    stamp.store(0, Ordering::Relaxed);
    fence(Ordering::Release);
    let detail = exit.detail & ((1 << DETAIL_BITS) - 1);
    what.store((exit.reason as u64) << DETAIL_BITS | detail, Ordering::Relaxed);
    begin.store(exit.begin, Ordering::Relaxed);
    time.store(exit.time_ns, Ordering::Relaxed);
    stamp.store(number.wrapping_add(1), Ordering::Release);
    words[RECORDED].store(number.wrapping_add(1), Ordering::Release);
}

pub(super) fn recorded(words: &[AtomicU64]) -> u64 {
    words[RECORDED].load(Ordering::Acquire)
}

pub(super) fn recent(words: &[AtomicU64]) -> Vec<Exit> {
    let end = recorded(words);
    (end.saturating_sub(RECENT as u64)..end).filter_map(|number| read(words, number)).collect()
}

/// The exit of this number, where it is there whole.
fn read(words: &[AtomicU64], number: u64) -> Option<Exit> {
    let [stamp, what, begin, time] = place(words, number);
    if stamp.load(Ordering::Acquire) != number.wrapping_add(1) {
        return None;
    }
    let (what, begin, time_ns) =
        (what.load(Ordering::Relaxed), begin.load(Ordering::Relaxed), time.load(Ordering::Relaxed));
    fence(Ordering::Acquire);
    if stamp.load(Ordering::Relaxed) != number.wrapping_add(1) {
        return None;
    }
    let reason = REASONS.get((what >> DETAIL_BITS) as usize).copied()?;
    Some(Exit { reason, detail: what & ((1 << DETAIL_BITS) - 1), begin, time_ns })
}

fn place(words: &[AtomicU64], number: u64) -> [&AtomicU64; WORDS_PER_EXIT] {
    let first = RING + (number % RECENT as u64) as usize * WORDS_PER_EXIT;
    [&words[first], &words[first + 1], &words[first + 2], &words[first + 3]]
}
