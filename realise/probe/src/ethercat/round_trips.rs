//! Round trips as values, where a process has measured them.

use quietcore_clock::Clock;
use quietcore_maindevice::{Alarm, Fieldbus};
use quietcore_record::histogram::Histogram;
use quietcore_units::Nanos;
use quietcore_wire::Wire;

use super::{End, Plan, RoundTripLog, WINDOW_CYCLES, measure};

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
    /// The first alarm that the fieldbus raised, in words; `None` without any.
    pub first_alarm: Option<String>,
    /// `true` if it was told to stop before it had come to its end.
    pub stopped: bool,
}

impl RoundTrips {
    /// Measures round trips. Ends early once `stop` returns `true`, which is asked once a cycle.
    pub fn measure<W: Wire>(
        fieldbus: &mut Fieldbus<W>,
        clock: &impl Clock,
        plan: &Plan,
        stop: impl FnMut() -> bool,
    ) -> Self {
        let mut result = Self {
            histogram: Histogram::new(),
            lost: 0,
            incomplete: 0,
            cycles: 0,
            elapsed: Nanos::ZERO,
            slowest_window: None,
            first_alarm: None,
            stopped: false,
        };
        let End { elapsed, stopped } = measure(fieldbus, clock, plan, &mut result, stop);
        Self { elapsed, stopped, ..result }
    }

    /// Returns the cycles per second over the whole run; 0 without any.
    pub fn mean_rate(&self) -> f64 {
        if self.cycles == 0 || self.elapsed == Nanos::ZERO {
            return 0.0;
        }
        self.cycles as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the cycles per second in the slowest window; `None` with fewer cycles than a window
    /// has.
    pub fn sustained_rate(&self) -> Option<f64> {
        let slowest = self.slowest_window.filter(|window| *window > Nanos::ZERO)?;
        Some(WINDOW_CYCLES as f64 / slowest.as_secs_f64())
    }
}

impl RoundTripLog for RoundTrips {
    fn round_trip(&mut self, time: Nanos, is_complete: bool) {
        self.cycles += 1;
        self.histogram.record(time.get());
        self.incomplete += u64::from(!is_complete);
    }

    fn lost(&mut self) {
        self.cycles += 1;
        self.lost += 1;
    }

    fn window(&mut self, time: Nanos) {
        self.slowest_window = self.slowest_window.max(Some(time));
    }

    fn alarm(&mut self, alarm: &Alarm) {
        self.first_alarm.get_or_insert_with(|| alarm.to_string());
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
        Fieldbus::bring_up(wire, &Expectation::anything(Nanos::from_millis(1))).unwrap()
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
        let measured = RoundTrips::measure(&mut fieldbus, &clock(), &PLAN, || false);
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
        let measured = RoundTrips::measure(&mut fieldbus, &clock(), &PLAN, || false);
        assert_eq!(
            (measured.cycles, measured.lost, measured.histogram.count()),
            (3_000, 40, 2_960)
        );
        assert!(measured.histogram.max_ns() < 100_000);
        assert_eq!(measured.first_alarm, Some(Alarm::Lost { frames: 1 }.to_string()));
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
            let measured = RoundTrips::measure(&mut fieldbus(), &clock(), &PLAN, stop);
            assert_eq!((measured.cycles, measured.histogram.count()), (cycles, cycles));
            assert_eq!(measured.stopped, stopped, "after {asked} questions");
            assert!(measured.mean_rate().is_finite());
        }
    }

    /// Goal: a run that ends when its time is over was not stopped, and its warm-up is no part of
    /// that time.
    #[test]
    fn a_run_that_ends_in_time_was_not_stopped() {
        let one_window =
            RoundTrips::measure(&mut fieldbus(), &clock(), &PLAN, || false).slowest_window;
        let plan = Plan { cycles: u64::MAX, warm_up_cycles: 5_000, limit: one_window, ..PLAN };
        let measured = RoundTrips::measure(&mut fieldbus(), &clock(), &plan, || false);
        assert!([1_000, 2_000].contains(&measured.cycles), "{}", measured.cycles);
        assert!(!measured.stopped);
    }
}
