//! The release latencies of a run over time: a histogram for each stretch of it.
//!
//! ```text
//! base stretch  |0|1|2|3|4|5| …              a border each second or two
//! 128 are full  |0 1|2 3|4 5| …              merged pairwise, and each takes twice the time
//! after a time  |0 1|2 3|                    the sum of those up to it
//! ```
//!
//! So a run of any length keeps at most [`STRETCHES_MAX`] of them. The borders of a run of an hour
//! or more fall on full hours for its first five days; those of a shorter one halve it.
//!
//! A border is read from outside while the task runs, up to a tenth of a second late: a stretch has
//! as many cycles as its count says. All stretches together have every value of the run.

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::histogram::{Histogram, SparseHistogram};

/// The most stretches of a run.
pub const STRETCHES_MAX: usize = 128;

/// The shortest run that is cut into stretches.
const LENGTH_MIN: Nanos = Nanos::from_secs(16);
/// The time that stretches of a long run divide.
const HOUR: Nanos = Nanos::from_secs(3_600);
/// The base stretch is shorter than this, and at least half of it.
const BASE_END: Nanos = Nanos::from_secs(2);

/// The histograms of a run's equal stretches of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretches {
    /// Time of a stretch, in ns; the last one may be shorter.
    pub stretch_ns: u64,
    /// Release latencies of each, from the first one on.
    pub histograms: Vec<SparseHistogram>,
}

impl Stretches {
    /// Makes those of a run that is planned to be measured for `length`; `None` for one that is too
    /// short to be cut.
    pub fn planned(length: Nanos) -> Option<Self> {
        if length < LENGTH_MIN {
            return None;
        }
        let mut stretch = length.min(HOUR);
        while stretch >= BASE_END {
            stretch = Nanos::new(stretch.get() / 2);
        }
        Some(Self { stretch_ns: stretch.get(), histograms: Vec::new() })
    }

    /// Returns `true` if the present stretch is over `elapsed` after the first release.
    pub fn is_due(&self, elapsed: Nanos) -> bool {
        let next = self.histograms.len() as u64 + 1;
        elapsed.get() >= self.stretch_ns.saturating_mul(next)
    }

    /// Ends the present stretch, `elapsed` after the first release, with the values since its
    /// beginning. Stretches that passed without a look are empty.
    pub fn end(&mut self, elapsed: Nanos, since: &Histogram) {
        self.push(since);
        while self.is_due(elapsed) {
            self.push(&Histogram::new());
        }
    }

    /// Ends the last stretch with the run; `since` are the values since its beginning.
    pub fn end_with_run(&mut self, since: &Histogram) {
        if since.count() > 0 {
            self.push(since);
        }
    }

    fn push(&mut self, values: &Histogram) {
        self.histograms.push(SparseHistogram::from(values.clone()));
        if self.histograms.len() < STRETCHES_MAX {
            return;
        }
        let pairs = self.histograms.chunks(2);
        self.histograms = pairs.map(|pair| SparseHistogram::from(sum(pair))).collect();
        self.stretch_ns = self.stretch_ns.saturating_mul(2);
    }

    /// Returns all values together.
    pub fn whole(&self) -> Histogram {
        sum(&self.histograms)
    }

    /// Returns the values of the run's first `time`; `None` where no stretch ends there.
    pub fn after(&self, time: Nanos) -> Option<Histogram> {
        let is_border = time.get().is_multiple_of(self.stretch_ns.max(1));
        let count = usize::try_from(time.get() / self.stretch_ns.max(1)).ok()?;
        let first = self.histograms.get(..count).filter(|_| is_border && count > 0)?;
        Some(sum(first))
    }

    /// Lists the times after which a reader looks at a run of `length`: 1, 2, 4 … hours of one that
    /// takes an hour or more, and an eighth, a quarter and half of a shorter one; then all of it.
    /// Each has its values.
    pub fn looks(&self, length: Nanos) -> Vec<(Nanos, Histogram)> {
        let first = if length >= HOUR { HOUR } else { Nanos::new(length.get() / 8) };
        let times = std::iter::successors(Some(first), |time| Some(*time * 2));
        let before = times.take_while(|time| *time < length);
        let mut looks: Vec<(Nanos, Histogram)> =
            before.filter_map(|time| Some((time, self.after(time)?))).collect();
        looks.push((length, self.whole()));
        looks
    }
}

fn sum(stretches: &[SparseHistogram]) -> Histogram {
    let mut sum = Histogram::new();
    for stretch in stretches {
        sum.merge(&stretch.to_histogram());
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts a run with one value a second, each its number in µs, read `late` after each border.
    fn cut(seconds: u64, late: Nanos) -> (Stretches, Histogram) {
        let mut stretches = Stretches::planned(Nanos::from_secs(seconds)).unwrap();
        let (mut run, mut read) = (Histogram::new(), Histogram::new());
        for second in 0..seconds {
            run.record(second * 1_000);
            let elapsed = Nanos::from_secs(second) + late;
            if stretches.is_due(elapsed) {
                stretches.end(elapsed, &run.since(&read).unwrap());
                read = run.clone();
            }
        }
        stretches.end_with_run(&run.since(&read).unwrap());
        (stretches, run)
    }

    /// Goal: five days take no more room than a minute, no value is lost, and hours stay borders.
    #[test]
    fn a_run_of_any_length_keeps_few_stretches_and_every_value() {
        for hours in [1, 8, 60, 120] {
            let (stretches, run) = cut(hours * 3_600, Nanos::from_millis(90));
            assert!(stretches.histograms.len() <= STRETCHES_MAX, "{hours}");
            assert_eq!(stretches.whole(), run, "{hours}");
            for hour in [1, 2, 4, 8] {
                let Some(part) = stretches.after(HOUR * hour) else {
                    assert!(hour >= hours, "after {hour} h of {hours} h");
                    continue;
                };
                // The border is looked at within the second that follows.
                assert!((hour * 3_600..=hour * 3_600 + 1).contains(&part.count()), "{part:?}");
                assert_eq!(part.min_ns(), 0);
            }
        }
    }

    #[test]
    fn a_short_run_is_looked_at_after_parts_of_it_and_a_shorter_one_is_not_cut() {
        assert_eq!(Stretches::planned(Nanos::from_secs(15)), None);
        let (stretches, run) = cut(40, Nanos::ZERO);
        assert_eq!(stretches.stretch_ns, 1_250_000_000);
        let looks = stretches.looks(Nanos::from_secs(40));
        let times: Vec<u64> = looks.iter().map(|(time, _)| time.get() / 1_000_000_000).collect();
        assert_eq!(times, [5, 10, 20, 40]);
        let counts: Vec<u64> = looks.iter().map(|(_, part)| part.count()).collect();
        assert_eq!(counts, [6, 11, 21, 40]);
        assert_eq!(looks[3].1, run);
        assert_eq!(stretches.after(Nanos::from_secs(6)), None, "no stretch ends there");
        let (stretches, _) = cut(5 * 3_600, Nanos::ZERO);
        let looks = stretches.looks(HOUR * 5);
        let times: Vec<u64> =
            looks.iter().map(|(time, _)| time.get() / 1_000_000_000 / 3_600).collect();
        assert_eq!(times, [1, 2, 4, 5]);
    }

    #[test]
    fn stretches_that_nobody_looked_at_are_empty_and_borders_stay_where_they_are() {
        let mut stretches = Stretches::planned(Nanos::from_secs(32)).unwrap();
        let mut run = Histogram::new();
        run.record_many(5, 7);
        stretches.end(Nanos::from_millis(3_200), &run);
        assert_eq!(stretches.histograms.len(), 3);
        assert!(!stretches.is_due(Nanos::from_millis(3_999)));
        assert!(stretches.is_due(Nanos::from_secs(4)));
        assert_eq!(stretches.after(Nanos::from_secs(2)).unwrap().count(), 7);
    }

    #[test]
    fn stretches_are_read_as_they_were_written() {
        let (stretches, _) = cut(40, Nanos::ZERO);
        let text = serde_json::to_string(&stretches).unwrap();
        assert!(text.contains("\"bins\":\"0:1 1000:1 "), "{text}");
        assert_eq!(serde_json::from_str::<Stretches>(&text).unwrap(), stretches);
        for (from, to) in [("16992:1\"", "16993:1\""), ("1000:1 ", "1000:2 "), ("1000:1 ", "1000 ")]
        {
            let forged = text.replacen(from, to, 1);
            assert!(serde_json::from_str::<Stretches>(&forged).is_err(), "{to}");
        }
    }
}
