//! A routine, again and again.

use quietcore_units::Nanos;

use super::program::once;
use super::{Body, Bring, Kernel, MARKS, Reading};

/// Loops between two calls of `pause`.
const LOOK_EVERY: u64 = 512;

/// How long is measured without a rest. A real-time thread that never sleeps is stopped by the
/// operating system for 50 ms a second, so that others live; these 50 ms would be a maximum. And
/// the kernel's own threads of less priority would have none of its CPU: interrupts of disks and
/// networks that are served there would wait for ever.
pub const BURST: Nanos = Nanos::from_millis(40);
/// How long a rest takes; what it cools is warmed again before the next value.
pub const REST: Nanos = Nanos::from_millis(4);

/// What comes of a look between two loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// It goes on.
    GoOn,
    /// It goes on after so many loops that are forgotten: something else ran meanwhile.
    WarmUp(u64),
    /// It ends.
    Stop,
}

/// How far a series is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Loops that are done, warm-up included.
    pub done: u64,
    /// The largest value so far, in counts.
    pub worst: u64,
}

/// Runs a routine `warm_up` times, and then until `take` was given `loops` counts. `look` is asked
/// now and then. Returns how many loops did not come to the end of their routine.
pub fn run<K: Kernel, R: Reading, T: Bring>(
    body: Body,
    warm_up: u64,
    loops: u64,
    mut look: impl FnMut(Progress) -> Look,
    mut take: impl FnMut(u64),
) -> u64 {
    MARKS.begin(body);
    let (mut worst, mut unfinished) = (0, 0);
    for index in 0..warm_up + loops {
        if index % LOOK_EVERY == 0 {
            match look(Progress { done: index, worst }) {
                Look::GoOn => {}
                Look::WarmUp(loops) => (0..loops).for_each(|_| once::<K, R, T>(body)),
                Look::Stop => break,
            }
        }
        MARKS.start_at(0);
        MARKS.stop_at(0);
        once::<K, R, T>(body);
        let (start, stop) = MARKS.both();
        unfinished += u64::from(stop == 0);
        let count = stop.saturating_sub(start);
        if index >= warm_up {
            worst = worst.max(count);
            take(count);
        }
    }
    unfinished
}
