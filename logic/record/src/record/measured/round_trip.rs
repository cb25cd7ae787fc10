//! Round trips of frames: part of the records of the probe `ethercat` only.
//!
//! The round trips are the record's own histogram. They are no releases of a periodic task, so that
//! no application class judges them; published figures of the same kind stand beside them.

use serde::{Deserialize, Serialize};

use crate::reason::Inconsistency;
use crate::record::Record;

/// The counters beside the round trips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RoundTripRun {
    /// The network interface, or `sim` for a segment simulated in the same process.
    pub interface: String,
    /// Number of SubDevices on it.
    pub subdevices: u64,
    /// Cycles run, those that lost a frame included.
    pub cycles: u64,
    /// Cycles that lost a frame; their time is in no histogram.
    pub lost: u64,
    /// Cycles whose frames came back with a wrong working counter.
    pub incomplete: u64,
    /// Cycles a second over the whole run.
    pub mean_cycles_per_second: f64,
    /// Cycles a second in the slowest window; absent where fewer were run than a window has.
    pub sustained_cycles_per_second: Option<f64>,
    /// The first thing that went wrong, in words; absent where nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_alarm: Option<String>,
}

impl RoundTripRun {
    /// Adds an earlier block of the same variant of an experiment.
    pub(super) fn join(&mut self, earlier: &Self) {
        let seconds = self.seconds() + earlier.seconds();
        if seconds > 0.0 {
            let cycles = self.cycles.saturating_add(earlier.cycles);
            self.mean_cycles_per_second = cycles as f64 / seconds;
        }
        for (count, more) in [
            (&mut self.cycles, earlier.cycles),
            (&mut self.lost, earlier.lost),
            (&mut self.incomplete, earlier.incomplete),
        ] {
            *count = count.saturating_add(more);
        }
        let slowest = self.sustained_cycles_per_second.zip(earlier.sustained_cycles_per_second);
        self.sustained_cycles_per_second = slowest.map(|(own, before)| own.min(before));
        self.first_alarm = earlier.first_alarm.clone().or(self.first_alarm.take());
    }

    /// Returns how long it took, in s, by its cycles and their rate; 0 without any.
    fn seconds(&self) -> f64 {
        match self.mean_cycles_per_second {
            rate if rate > 0.0 => self.cycles as f64 / rate,
            _ => 0.0,
        }
    }

    /// Lists the numbers that exclude each other.
    pub(in crate::record) fn self_check(&self, record: &Record) -> Vec<Inconsistency> {
        let mut wrong = Vec::new();
        if record.release.count().checked_add(self.lost) != Some(self.cycles) {
            wrong.push(Inconsistency::FramesBeyondCycles);
        }
        if self.incomplete > record.release.count() {
            wrong.push(Inconsistency::IncompleteBeyondFrames);
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Measured;
    use crate::record::check::self_check;
    use crate::test_record;

    #[test]
    fn a_run_that_contradicts_its_record_is_found() {
        let run = RoundTripRun {
            interface: "sim".to_owned(),
            subdevices: 3,
            cycles: 12,
            lost: 2,
            incomplete: 1,
            mean_cycles_per_second: 1e3,
            sustained_cycles_per_second: None,
            first_alarm: None,
        };
        let mut record = test_record(&[(4_000, 9), (4_990, 1)]);
        record.measured = Measured::RoundTrip(run.clone());
        assert!(!record.is_of_releases());
        assert_eq!(self_check(&record, None), []);
        record.measured = Measured::RoundTrip(RoundTripRun { lost: 1, incomplete: 11, ..run });
        assert_eq!(self_check(&record, None).len(), 2);
    }

    #[test]
    fn blocks_of_an_experiment_add_up() {
        let of = |cycles, rate, slowest, alarm: Option<&str>| RoundTripRun {
            interface: "sim".to_owned(),
            subdevices: 3,
            cycles,
            lost: 1,
            incomplete: 2,
            mean_cycles_per_second: rate,
            sustained_cycles_per_second: slowest,
            first_alarm: alarm.map(str::to_owned),
        };
        // 0.3 s and 0.2 s.
        let mut both = of(300, 1_000.0, Some(900.0), Some("later"));
        both.join(&of(100, 500.0, Some(950.0), Some("first")));
        let sum =
            RoundTripRun { lost: 2, incomplete: 4, ..of(400, 800.0, Some(900.0), Some("first")) };
        assert_eq!(both, sum);
        both.join(&of(0, 0.0, None, None));
        assert_eq!((both.cycles, both.sustained_cycles_per_second), (400, None));
    }
}
