//! The loop that repeats a routine, with looks and rests in between.

use quietcore_units::{Nanos, Routine};

use super::program::once;
use super::{Bring, Kernel, MARKS, Reading};

/// Loops between two calls of `look`.
const LOOK_EVERY: u64 = 512;

/// The longest time to measure without a rest. The operating system stops a real-time thread that
/// never sleeps for 50 ms a second, so that others can run; these 50 ms would be a maximum. Nor
/// would the kernel's own threads of lower priority get its CPU: interrupts of disks and networks
/// that they serve there would wait for ever.
pub const BURST: Nanos = Nanos::from_millis(40);
/// Time of a rest; the caches that it cools are warmed again before the next value.
pub const REST: Nanos = Nanos::from_millis(4);

/// The answer of a look between two loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The series goes on at once.
    GoOn,
    /// The series goes on after this many loops that are discarded, because something else ran
    /// meanwhile.
    WarmUp(u64),
    /// The series ends before the next loop.
    Stop,
}

/// The progress of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Loops that are done, warm-up included.
    pub done: u64,
    /// The largest value so far, in counts of the clock.
    pub worst: u64,
}

/// Runs a routine `warm_up` times, and then until `take` has been given `loops` counts. `look` is
/// called now and then. A loop in which a reading is missing ends the series: what should bring it
/// did not come. Returns `true` if there was none.
pub fn run<K: Kernel, R: Reading, T: Bring>(
    routine: Routine,
    warm_up: u64,
    loops: u64,
    mut look: impl FnMut(Progress) -> Look,
    mut take: impl FnMut(u64),
) -> bool {
    MARKS.begin(routine);
    let mut worst = 0;
    for index in 0..warm_up + loops {
        if index % LOOK_EVERY == 0 {
            match look(Progress { done: index, worst }) {
                Look::GoOn => {}
                Look::WarmUp(loops) => (0..loops).for_each(|_| once::<K, R, T>(routine)),
                Look::Stop => return true,
            }
        }
        MARKS.start_at(0);
        MARKS.stop_at(0);
        once::<K, R, T>(routine);
        let Some(count) = between(MARKS.both()) else { return false };
        if index >= warm_up {
            worst = worst.max(count);
            take(count);
        }
    }
    true
}

/// Returns the counts between two readings; `None` where one is missing, which is zero then. The
/// counter itself counts from the start of the machine, so that what is missing is no early value.
fn between((start, stop): (u64, u64)) -> Option<u64> {
    (start != 0 && stop != 0).then(|| stop.saturating_sub(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_in_which_a_reading_is_missing_has_no_value() {
        assert_eq!(between((70, 75)), Some(5));
        assert_eq!(between((75, 70)), Some(0), "counters of two processors may differ");
        assert_eq!(between((0, 75)), None, "an ISR that never ran has not begun");
        assert_eq!(between((70, 0)), None);
    }
}
