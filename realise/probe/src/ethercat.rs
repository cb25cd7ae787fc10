//! Round trips of the EtherCAT cycle: the time that all process data take out and back, and the
//! number of cycles per second.
//!
//! ```text
//! ─┬─ cycle: frames out, frames back ─┬─ supervision, recording ─┬─ the next cycle
//!  └──────── round trip ──────────────┘                          └ at once, or at its release
//! ```
//!
//! A round trip is the time that the caller of a cycle waits: from before the first frame is handed
//! over until the last one is back and its data are in the process image. Cycles that lost a frame
//! are counted apart, because their time is the time-out rather than the wire's.
//!
//! Without a period the cycles follow each other at once. Their rate in the slowest window of
//! [`WINDOW_CYCLES`] is the one that can be sustained; the mean would hide a pause.
//!
//! | module | what | for |
//! |---|---|---|
//! | [`rows`] | what a guest leaves of them in its exchange, and how that is read | both sides |
//! | `process` | the line to the SubDevices; a measurement in a process | a process |
//! | `round_trips` | what was measured, as values | a process |

#[cfg(feature = "process")]
pub mod process;
#[cfg(feature = "process")]
mod round_trips;
pub mod rows;

use quietcore_clock::Clock;
use quietcore_maindevice::{Alarm, Fieldbus};
use quietcore_units::Nanos;
use quietcore_wire::Wire;
use serde::{Deserialize, Serialize};

#[cfg(feature = "process")]
pub use round_trips::RoundTrips;

/// Number of cycles in a window, over which the sustained rate is taken.
pub const WINDOW_CYCLES: u64 = 1_000;
/// The cycle with which the SubDevices are brought up, where none is asked for.
const BRING_UP_CYCLE: Nanos = Nanos::from_millis(1);

/// The plan of a measurement of round trips. A guest gets it as its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Number of cycles to measure.
    pub cycles: u64,
    /// Cycles to run before the measured ones.
    pub warm_up_cycles: u64,
    /// Time from one release to the next; `None` for one cycle after the other at once.
    pub period: Option<Nanos>,
    /// Time that a cycle waits for its frames before they count as lost.
    pub timeout: Nanos,
    /// Time after which the measurement ends, whatever the number of cycles; looked at once per
    /// window. `None` sets no limit.
    pub limit: Option<Nanos>,
}

impl Plan {
    /// Returns the cycle with which the SubDevices are brought up.
    pub fn bring_up_cycle(&self) -> Nanos {
        self.period.unwrap_or(BRING_UP_CYCLE)
    }

    /// Returns the same for a guest, whose frames pass its host: without a period they have as long
    /// as in the cycles that are measured.
    pub fn bring_up_cycle_in_guest(&self) -> Nanos {
        self.period.unwrap_or_else(|| self.timeout.max(BRING_UP_CYCLE))
    }
}

/// Takes the values of a measurement as they come.
pub trait RoundTripLog {
    /// Takes the time of a cycle that lost nothing, and whether all its working counters were
    /// right.
    fn round_trip(&mut self, time: Nanos, is_complete: bool);

    /// Takes note of a cycle that lost a frame.
    fn lost(&mut self);

    /// Takes the time of [`WINDOW_CYCLES`] cycles.
    fn window(&mut self, time: Nanos);

    /// Takes an alarm that the fieldbus raised.
    fn alarm(&mut self, alarm: &Alarm);
}

/// The end of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Time from before the first cycle until after the last.
    pub elapsed: Nanos,
    /// `true` if it was told to stop before it had come to its end.
    pub stopped: bool,
}

/// Measures round trips into `log`. Ends early once `stop` returns `true`, which is asked once a
/// cycle. Allocates nothing.
pub fn measure<W: Wire>(
    fieldbus: &mut Fieldbus<W>,
    clock: &impl Clock,
    plan: &Plan,
    log: &mut impl RoundTripLog,
    mut stop: impl FnMut() -> bool,
) -> End {
    let mut due = fieldbus.wire().now();
    for _ in 0..plan.warm_up_cycles {
        due = release(clock, plan, due);
        let until = fieldbus.wire().now() + plan.timeout;
        fieldbus.cycle(until);
        fieldbus.supervise();
        if stop() {
            return End { elapsed: Nanos::ZERO, stopped: true };
        }
    }
    let begin = fieldbus.wire().now();
    let (mut window_begin, mut stopped) = (begin, false);
    for cycle in 1..=plan.cycles {
        due = release(clock, plan, due);
        one(fieldbus, plan.timeout, log);
        if cycle % WINDOW_CYCLES == 0 {
            let now = fieldbus.wire().now();
            log.window(now.saturating_sub(window_begin));
            window_begin = now;
            if plan.limit.is_some_and(|limit| now.saturating_sub(begin) >= limit) {
                break;
            }
        }
        if cycle < plan.cycles && stop() {
            stopped = true;
            break;
        }
    }
    End { elapsed: fieldbus.wire().now().saturating_sub(begin), stopped }
}

/// Waits for the release that follows `due`, and returns it; returns `due` at once without a
/// period.
fn release(clock: &impl Clock, plan: &Plan, due: Nanos) -> Nanos {
    let Some(period) = plan.period else { return due };
    clock.sleep_until(due + period);
    due + period
}

/// Runs one cycle and records it.
fn one<W: Wire>(fieldbus: &mut Fieldbus<W>, timeout: Nanos, log: &mut impl RoundTripLog) {
    let begin = fieldbus.wire().now();
    let outcome = fieldbus.cycle(begin + timeout);
    let end = fieldbus.wire().now();
    if outcome.lost() {
        log.lost();
    } else {
        log.round_trip(end.saturating_sub(begin), outcome.is_complete());
    }
    fieldbus.supervise();
    while let Some(alarm) = fieldbus.take_alarm() {
        log.alarm(&alarm);
    }
}
