//! The geometry of the log-linear histogram, as pure functions.
//!
//! Values are nanoseconds. Below 2048 ns each value has a bin of its own; above, each doubling is
//! divided into 1024 bins, so a bin is never wider than 1/1024 of its values: three significant
//! digits from 1 ns to [`RANGE_END`] (68.7 s).
//!
//! | values | bin width | bins |
//! |--------|-----------|------|
//! | 0 … 2047 ns | 1 ns | 2048 |
//! | 2.048 µs … 4.095 µs | 2 ns | 1024 |
//! | … | doubling | 1024 each |
//! | 34.4 s … 68.7 s | 33.6 ms | 1024 |

/// Values from here on have no bin; they are counted as overflow. 2³⁶ ns = 68.7 s.
pub const RANGE_END: u64 = 1 << RANGE_BITS;

/// The number of bins.
pub const BIN_COUNT: usize = ((RANGE_BITS - HALF_BITS) << HALF_BITS) as usize + HALF;

const RANGE_BITS: u32 = 36;
const HALF_BITS: u32 = 10;
const HALF: usize = 1 << HALF_BITS;

const _: () = assert!(BIN_COUNT == 27_648);
const _: () = assert!(RANGE_END > 60_000_000_000);

/// The bin of `value`, or `None` from [`RANGE_END`] on.
#[inline]
pub const fn index_of(value: u64) -> Option<usize> {
    if value >= RANGE_END {
        return None;
    }
    // Bit 10 is set in a copy, so that the first 2048 values all get a shift of zero.
    let magnitude = (value | HALF as u64).ilog2();
    let shift = magnitude - HALF_BITS;
    Some(((shift as usize) << HALF_BITS) + (value >> shift) as usize)
}

/// The smallest value of bin `index`; bins at or beyond [`BIN_COUNT`] begin at [`RANGE_END`].
pub const fn lowest_of(index: usize) -> u64 {
    if index >= BIN_COUNT {
        return RANGE_END;
    }
    if index < 2 * HALF {
        return index as u64;
    }
    let shift = (index >> HALF_BITS) - 1;
    ((HALF + (index & (HALF - 1))) as u64) << shift
}

/// The largest value of bin `index`.
pub const fn highest_of(index: usize) -> u64 {
    lowest_of(index + 1) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bins_are_contiguous_and_at_most_a_thousandth_wide() {
        for index in 0..BIN_COUNT {
            let (low, high) = (lowest_of(index), highest_of(index));
            assert_eq!(index_of(low), Some(index));
            assert_eq!(index_of(high), Some(index));
            assert!((high - low) as f64 <= low as f64 / 1000.0 + 0.5, "bin {index}");
        }
        assert_eq!(highest_of(BIN_COUNT - 1), RANGE_END - 1);
        assert_eq!(index_of(RANGE_END), None);
        assert_eq!(index_of(u64::MAX), None);
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bin(value in 0..RANGE_END) {
            let index = index_of(value).unwrap();
            prop_assert!(lowest_of(index) <= value && value <= highest_of(index));
        }
    }
}
