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

pub mod process;

use quietcore_clock::Clock;
use quietcore_maindevice::{Alarm, Fieldbus};
use quietcore_record::histogram::Histogram;
use quietcore_units::Nanos;
use quietcore_wire::Wire;
use serde::{Deserialize, Serialize};

/// Number of cycles in a window, over which the sustained rate is taken.
pub const WINDOW_CYCLES: u64 = 1_000;

/// The plan of a measurement of round trips.
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

/// The results of a measurement of round trips.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundTrips {
    /// The round trips of cycles that lost nothing.
    pub histogram: Histogram,
    /// Cycles that lost a frame.
    pub lost: u64,
    /// Cycles in which a working counter was wrong.
    pub incomplete: u64,
    /// Number of cycles run in all.
    pub cycles: u64,
    /// Time from before the first cycle until after the last.
    pub elapsed: Nanos,
    /// The longest time that [`WINDOW_CYCLES`] took; `None` with fewer cycles.
    pub slowest_window: Option<Nanos>,
    /// The first alarm that the fieldbus raised; `None` without any.
    pub first_alarm: Option<Alarm>,
    /// `true` if it was told to stop before it had come to its end.
    pub stopped: bool,
}

impl RoundTrips {
    /// Returns the cycles per second over the whole run; 0 without any.
    pub fn mean_rate(&self) -> f64 {
        if self.cycles == 0 {
            return 0.0;
        }
        self.cycles as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the cycles per second in the slowest window; `None` with fewer cycles than a window
    /// has.
    pub fn sustained_rate(&self) -> Option<f64> {
        Some(WINDOW_CYCLES as f64 / self.slowest_window?.as_secs_f64())
    }
}

/// Measures round trips. Ends early once `stop` returns `true`, which is asked once a cycle.
pub fn measure<W: Wire>(
    fieldbus: &mut Fieldbus<W>,
    clock: &impl Clock,
    plan: &Plan,
    mut stop: impl FnMut() -> bool,
) -> RoundTrips {
    let mut result = RoundTrips {
        histogram: Histogram::new(),
        lost: 0,
        incomplete: 0,
        cycles: 0,
        elapsed: Nanos::ZERO,
        slowest_window: None,
        first_alarm: None,
        stopped: false,
    };
    let mut due = fieldbus.wire().now();
    for _ in 0..plan.warm_up_cycles {
        due = release(clock, plan, due);
        let until = fieldbus.wire().now() + plan.timeout;
        fieldbus.cycle(until);
        fieldbus.supervise();
        if stop() {
            result.stopped = true;
            return result;
        }
    }
    let begin = fieldbus.wire().now();
    let mut window_begin = begin;
    for cycle in 1..=plan.cycles {
        due = release(clock, plan, due);
        one(fieldbus, plan.timeout, &mut result);
        if cycle % WINDOW_CYCLES == 0 {
            let now = fieldbus.wire().now();
            let window = now.saturating_sub(window_begin);
            result.slowest_window = result.slowest_window.max(Some(window));
            window_begin = now;
            if plan.limit.is_some_and(|limit| now.saturating_sub(begin) >= limit) {
                break;
            }
        }
        if cycle < plan.cycles && stop() {
            result.stopped = true;
            break;
        }
    }
    result.elapsed = fieldbus.wire().now().saturating_sub(begin);
    result
}

/// Waits for the release that follows `due`, and returns it; returns `due` at once without a
/// period.
fn release(clock: &impl Clock, plan: &Plan, due: Nanos) -> Nanos {
    let Some(period) = plan.period else { return due };
    clock.sleep_until(due + period);
    due + period
}

/// Runs one cycle and records it.
fn one<W: Wire>(fieldbus: &mut Fieldbus<W>, timeout: Nanos, result: &mut RoundTrips) {
    let begin = fieldbus.wire().now();
    let outcome = fieldbus.cycle(begin + timeout);
    let end = fieldbus.wire().now();
    result.cycles += 1;
    if outcome.lost() {
        result.lost += 1;
    } else {
        result.histogram.record(end.saturating_sub(begin).get());
        result.incomplete += u64::from(!outcome.is_complete());
    }
    fieldbus.supervise();
    while let Some(alarm) = fieldbus.take_alarm() {
        result.first_alarm.get_or_insert(alarm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_clock::FakeClock;
    use quietcore_maindevice::Expectation;
    use quietcore_segment::{Fault, FaultKind, Options, Segment, SubDevice, When};
    use quietcore_wire::SegmentWire;

    fn fieldbus() -> Fieldbus<SegmentWire<FakeClock>> {
        let names = ["coupler", "servo-drive"];
        let subdevices = names.iter().map(|name| SubDevice::by_name(name).unwrap()).collect();
        let clock = FakeClock::new(Nanos::from_secs(1), Nanos::new(500), []);
        let wire = SegmentWire::with_clock(Segment::new(subdevices, Options::default()), clock);
        let expectation = Expectation {
            static_sync_iterations: 10,
            ..Expectation::anything(Nanos::from_millis(1))
        };
        Fieldbus::bring_up(wire, &expectation).unwrap()
    }

    const PLAN: Plan = Plan {
        cycles: 3_000,
        warm_up_cycles: 10,
        period: None,
        timeout: Nanos::from_micros(100),
        limit: None,
    };

    fn clock() -> FakeClock {
        FakeClock::new(Nanos::ZERO, Nanos::ZERO, [])
    }

    #[test]
    fn round_trips_and_rates_are_what_the_clock_says() {
        let mut fieldbus = fieldbus();
        let measured = measure(&mut fieldbus, &clock(), &PLAN, || false);
        assert_eq!((measured.cycles, measured.lost, measured.incomplete), (3_000, 0, 0));
        assert_eq!(measured.histogram.count(), 3_000);
        // The clock moves by 500 ns each time that it is read, and nothing else takes time.
        assert_eq!(measured.histogram.min_ns(), measured.histogram.max_ns());
        assert!(measured.histogram.max_ns() < 5_000, "{} ns", measured.histogram.max_ns());
        let (mean, sustained) = (measured.mean_rate(), measured.sustained_rate().unwrap());
        assert!((mean / sustained - 1.0).abs() < 0.01, "{mean} and {sustained}");
        assert_eq!(measured.first_alarm, None);
    }

    /// Goal: a lost frame is no long round trip, and makes its window the slowest.
    #[test]
    fn lost_frames_are_counted_apart() {
        let mut fieldbus = fieldbus();
        let from = fieldbus.wire().segment().counters().frames + 1_510;
        let lose = Fault { kind: FaultKind::LoseFrame, when: When::Frames { from, count: 40 } };
        fieldbus.wire_mut().segment_mut().faults_mut().add(lose);
        let measured = measure(&mut fieldbus, &clock(), &PLAN, || false);
        assert_eq!(
            (measured.cycles, measured.lost, measured.histogram.count()),
            (3_000, 40, 2_960)
        );
        assert!(measured.histogram.max_ns() < 100_000);
        assert_eq!(measured.first_alarm, Some(Alarm::Lost { frames: 1 }));
        assert!(measured.sustained_rate().unwrap() < 0.95 * measured.mean_rate());
    }

    /// Goal: whoever stops a run finds what was measured until then, and that it was stopped.
    /// Method: a stop in the warm-up, in the middle, and only after the last cycle.
    #[test]
    fn a_stop_ends_with_what_was_measured() {
        for (asked, cycles, stopped) in [(0, 0, true), (1_009, 1_000, true), (3_009, 3_000, false)]
        {
            let mut left = asked;
            let stop = || {
                left -= 1;
                left < 0
            };
            let measured = measure(&mut fieldbus(), &clock(), &PLAN, stop);
            assert_eq!((measured.cycles, measured.histogram.count()), (cycles, cycles));
            assert_eq!(measured.stopped, stopped, "after {asked} questions");
            assert!(measured.mean_rate().is_finite());
        }
    }

    /// Goal: a run that ends when its time is over was not stopped, and its warm-up is no part of
    /// that time.
    #[test]
    fn a_run_that_ends_in_time_was_not_stopped() {
        let one_window = measure(&mut fieldbus(), &clock(), &PLAN, || false).slowest_window;
        let plan = Plan { cycles: u64::MAX, warm_up_cycles: 5_000, limit: one_window, ..PLAN };
        let measured = measure(&mut fieldbus(), &clock(), &plan, || false);
        assert!([1_000, 2_000].contains(&measured.cycles), "{}", measured.cycles);
        assert!(!measured.stopped);
    }
}
