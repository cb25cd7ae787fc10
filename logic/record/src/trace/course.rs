//! Many samples in a bounded number of stretches, each with the smallest and the largest value: a
//! plot of them shows every extreme, however long the recording was.

/// The most stretches that are kept; twice as many as a plot is wide would show no more.
pub const STRETCHES_MAX: usize = 2048;

/// The values of a variable in a stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The smallest value; not a number where none was.
    pub low: f64,
    /// The largest value; not a number where none was.
    pub high: f64,
    /// The last value of the stretch.
    pub last: f64,
}

/// A stretch of time with the extremes in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// Instant of its first sample.
    pub from_seconds: f64,
    /// Instant of its last sample.
    pub to_seconds: f64,
    /// One for each variable.
    pub bands: Vec<Band>,
}

/// Values over time, in stretches.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    variables: usize,
    stretches: Vec<Stretch>,
    /// Samples that make a stretch.
    per_stretch: u64,
    /// Samples in the last one.
    in_last: u64,
}

impl Course {
    /// Makes the course of as many variables.
    pub fn new(variables: usize) -> Self {
        Self { variables, stretches: Vec::new(), per_stretch: 1, in_last: 0 }
    }

    /// Returns the stretches, in the order of time.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// Returns the range of a variable's numbers; `None` where it has none.
    pub fn range(&self, variable: usize) -> Option<(f64, f64)> {
        let bands = self.stretches.iter().filter_map(|stretch| stretch.bands.get(variable));
        let finite = bands.filter(|band| band.low.is_finite() && band.high.is_finite());
        let mut ranges = finite.map(|band| (band.low, band.high));
        let first = ranges.next()?;
        Some(ranges.fold(first, |all, band| (all.0.min(band.0), all.1.max(band.1))))
    }

    /// Adds a sample; values beyond the number of variables are left out, missing ones are no
    /// numbers.
    pub fn push(&mut self, seconds: f64, values: &[f64]) {
        let value = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        match self.stretches.last_mut() {
            Some(last) if self.in_last < self.per_stretch => {
                last.to_seconds = seconds;
                for (index, band) in last.bands.iter_mut().enumerate() {
                    // The smaller of a number and what is none is the number.
                    band.low = band.low.min(value(index));
                    band.high = band.high.max(value(index));
                    band.last = value(index);
                }
                self.in_last += 1;
            }
            _ => {
                if self.stretches.len() == STRETCHES_MAX {
                    self.halve();
                }
                let band =
                    |index| Band { low: value(index), high: value(index), last: value(index) };
                self.stretches.push(Stretch {
                    from_seconds: seconds,
                    to_seconds: seconds,
                    bands: (0..self.variables).map(band).collect(),
                });
                self.in_last = 1;
            }
        }
    }

    /// Merges each two stretches into one; all of them are full.
    fn halve(&mut self) {
        let merged = self.stretches.chunks(2).map(|pair| {
            let mut first = pair[0].clone();
            if let Some(second) = pair.get(1) {
                first.to_seconds = second.to_seconds;
                for (band, other) in first.bands.iter_mut().zip(&second.bands) {
                    band.low = band.low.min(other.low);
                    band.high = band.high.max(other.high);
                    band.last = other.last;
                }
            }
            first
        });
        self.stretches = merged.collect();
        self.per_stretch = self.per_stretch.saturating_mul(2);
    }
}
