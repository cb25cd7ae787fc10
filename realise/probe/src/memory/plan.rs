//! The working sets that are measured, and the turns of the neighbours. Pure.

use quietcore_units::ByteSize;

use super::chase::UNROLLED;

/// Strides that can be measured, in bytes: a word, a cache line, and a pair of lines, which some
/// processors fetch together.
pub const STRIDES: [u64; 3] = [8, 64, 128];
/// The smallest working set, in bytes: scordino2020 begins there.
pub const WORKING_SET_MIN: u64 = 1 << 10;
/// The largest working set, in bytes, whatever memory there is.
pub const WORKING_SET_MAX: u64 = 64 << 30;
/// The most working sets in an octave.
pub const PER_OCTAVE_MAX: u32 = 16;
/// The largest working set, in bytes, where nothing else is asked for.
pub const DEFAULT_MAX: u64 = 1 << 30;
/// The largest working set, in bytes, where the machine does not tell its caches: as in
/// scordino2020.
const UNKNOWN_CACHE_MAX: u64 = 96 << 20;
/// The share of the available memory that a working set may take, in per cent.
const MEMORY_SHARE: u64 = 50;

/// The working sets that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sets {
    /// The smallest one, in bytes.
    pub least: u64,
    /// The largest one, in bytes.
    pub most: u64,
    /// Number of working sets from a size up to its double.
    pub per_octave: u32,
    /// Distance from one place to the next, in bytes.
    pub stride_bytes: u64,
}

/// The reasons why working sets can't be measured, each with a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetsError {
    /// The stride is none of [`STRIDES`].
    #[error(
        "a stride of {stride_bytes} bytes: it can't be measured; use one of {}",
        STRIDES.map(|stride| stride.to_string()).join(", ")
    )]
    Stride {
        /// The stride that was asked for, in bytes.
        stride_bytes: u64,
    },
    /// The number of sizes from one up to its double is out of range.
    #[error("{per_octave} working sets an octave: out of range; use 1 to {PER_OCTAVE_MAX}")]
    PerOctave {
        /// The number that was asked for.
        per_octave: u32,
    },
    /// The smallest is below [`WORKING_SET_MIN`].
    #[error(
        "a working set of {least}: it is too small to be measured; use {} at least",
        ByteSize::new(WORKING_SET_MIN)
    )]
    TooSmall {
        /// The smallest that was asked for.
        least: ByteSize,
    },
    /// The largest is above what the memory allows.
    #[error(
        "a working set of {most}: it is too large; use {limit} at most, as {available} of memory \
         can be had and half of it is used"
    )]
    TooLarge {
        /// The largest that was asked for.
        most: ByteSize,
        /// The largest that can be measured here.
        limit: ByteSize,
        /// The available memory of this machine.
        available: ByteSize,
    },
    /// The smallest is above the largest.
    #[error(
        "working sets from {least} to {most}: the first is larger than the last; exchange them"
    )]
    Reversed {
        /// The smallest that was asked for.
        least: ByteSize,
        /// The largest that was asked for.
        most: ByteSize,
    },
}

impl Sets {
    /// Returns the number of bytes that every size is a multiple of.
    pub const fn granule(&self) -> u64 {
        self.stride_bytes * UNROLLED as u64
    }

    /// Returns the sizes in bytes, ascending; each is a multiple of the granule. `available` is the
    /// memory that can be had, in bytes.
    ///
    /// # Errors
    /// Returns all that is wrong, each with a remedy.
    pub fn sizes(&self, available: u64) -> Result<Vec<u64>, Vec<SetsError>> {
        let (least, most) = (ByteSize::new(self.least), ByteSize::new(self.most));
        let (stride_bytes, per_octave) = (self.stride_bytes, self.per_octave);
        let limit = WORKING_SET_MAX.min(available / 100 * MEMORY_SHARE);
        let checks = [
            (!STRIDES.contains(&stride_bytes), SetsError::Stride { stride_bytes }),
            (!(1..=PER_OCTAVE_MAX).contains(&per_octave), SetsError::PerOctave { per_octave }),
            (self.least < WORKING_SET_MIN, SetsError::TooSmall { least }),
            (
                self.most > limit,
                SetsError::TooLarge {
                    most,
                    limit: ByteSize::new(limit),
                    available: ByteSize::new(available),
                },
            ),
            (self.least > self.most, SetsError::Reversed { least, most }),
        ];
        let wrong = checks.into_iter().filter(|(is_wrong, _)| *is_wrong);
        let errors: Vec<SetsError> = wrong.map(|(_, error)| error).collect();
        if errors.is_empty() { Ok(self.ladder()) } else { Err(errors) }
    }

    fn ladder(&self) -> Vec<u64> {
        let granule = self.granule();
        let rounded = |bytes: f64| ((bytes / granule as f64).round() as u64).max(1) * granule;
        let octaves = (self.most as f64 / self.least as f64).log2();
        let steps = (octaves * f64::from(self.per_octave)).ceil() as u32;
        let mut sizes: Vec<u64> = (0..steps)
            .map(|step| f64::from(step) / f64::from(self.per_octave))
            .map(|octave| rounded(self.least as f64 * octave.exp2()))
            .collect();
        sizes.push(rounded(self.most as f64));
        sizes.dedup();
        sizes
    }
}

/// Returns the largest working set in bytes where none is asked for: twice the last-level cache,
/// but no more than [`DEFAULT_MAX`] and half of the available memory.
pub fn default_most(last_level_bytes: Option<u64>, available: u64) -> u64 {
    let wanted = last_level_bytes.map_or(UNKNOWN_CACHE_MAX, |bytes| bytes.saturating_mul(2));
    wanted.clamp(WORKING_SET_MIN, DEFAULT_MAX).min(available / 100 * MEMORY_SHARE)
}

/// Returns for the first and the second turn of a round whether the neighbours work. Turns change
/// their order from one working set and one round to the next: a drift then favours now the one and
/// now the other, and neighbours change their pace half as often.
pub const fn turns(round: u32, place: usize) -> [bool; 2] {
    let neighbours_first = (round as usize + place) % 2 == 1;
    [neighbours_first, !neighbours_first]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GIB: u64 = 1 << 30;

    fn sets(least: u64, most: u64) -> Sets {
        Sets { least, most, per_octave: 4, stride_bytes: 64 }
    }

    #[test]
    fn working_sets_go_in_even_steps_from_the_least_to_the_most() {
        let sizes = sets(1 << 10, 1 << 13).sizes(GIB).unwrap();
        assert_eq!(
            sizes,
            [1024, 1536, 2048, 2560, 3072, 3584, 4096, 5120, 5632, 6656, 8192],
            "in steps of a granule of 512 bytes, each once"
        );
        let wide = sets(1 << 20, 1 << 24).sizes(GIB).unwrap();
        assert_eq!(wide.len(), 17);
        assert!(wide.contains(&(2 << 20)) && wide.contains(&(16 << 20)));
        assert_eq!(sets(4096, 4096).sizes(GIB).unwrap(), [4096]);
    }

    #[test]
    fn what_is_too_small_or_too_large_is_refused_with_what_would_be_right() {
        let problems = |sets: Sets| -> String {
            sets.sizes(GIB).unwrap_err().iter().map(|error| format!("{error}\n")).collect()
        };
        let small = problems(sets(512, 4096));
        assert!(small.contains("512 B: it is too small") && small.contains("1"), "{small}");
        let large = problems(sets(1024, GIB));
        assert!(
            large.contains("1.00 GiB: it is too large") && large.contains("512 MiB"),
            "{large}"
        );
        assert!(problems(sets(8192, 4096)).contains("exchange them"));
        let all = Sets { per_octave: 0, stride_bytes: 24, ..sets(1, u64::MAX) };
        assert_eq!(problems(all).lines().count(), 4, "all are told at once");
    }

    #[test]
    fn the_default_reaches_beyond_the_last_level_cache_where_it_can() {
        assert_eq!(default_most(Some(6 << 20), 8 * GIB), 12 << 20);
        assert_eq!(default_most(Some(480 << 20), 64 * GIB), 960 << 20);
        assert_eq!(default_most(Some(768 << 20), 64 * GIB), GIB);
        assert_eq!(default_most(None, 64 * GIB), 96 << 20);
        assert!(default_most(Some(480 << 20), GIB) <= GIB / 2);
    }

    #[test]
    fn turns_alternate() {
        let first: Vec<bool> = (0..6).map(|round| turns(round, 3)[0]).collect();
        assert_eq!(first, [true, false, true, false, true, false]);
        assert_ne!(turns(0, 0)[0], turns(0, 0)[1]);
        // The second turn of one and the first of the next are the same.
        assert_eq!(turns(0, 0)[1], turns(0, 1)[0]);
    }

    proptest! {
        #[test]
        fn sizes_ascend_within_their_limits(
            least in 1024_u64..1 << 28,
            factor in 1.0_f64..1_000.0,
            per_octave in 1..=PER_OCTAVE_MAX,
            stride in 0..STRIDES.len(),
        ) {
            let most = ((least as f64 * factor) as u64).min(WORKING_SET_MAX);
            let sets = Sets { least, most, per_octave, stride_bytes: STRIDES[stride] };
            let sizes = sets.sizes(1 << 50).unwrap();
            prop_assert!(sizes.is_sorted_by(|one, next| one < next), "{:?}", sizes);
            prop_assert!(sizes.iter().all(|size| size.is_multiple_of(sets.granule())));
            let (first, last) = (sizes[0], sizes[sizes.len() - 1]);
            prop_assert!(first.abs_diff(least) <= sets.granule());
            prop_assert!(last.abs_diff(most) <= sets.granule());
        }
    }
}
