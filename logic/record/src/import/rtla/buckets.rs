//! The size of the buckets, which `rtla` does not print.

use super::Figures;
use crate::import::column::{Column, common_divisor};

/// Returns `true` if means lie below all that their buckets can have: `osnoise -b` counts them in
/// buckets. Columns with an overflow tell nothing, since it has no buckets.
pub(super) fn means_are_in_buckets(columns: &[Column], figures: &[Figures]) -> bool {
    let whole = columns.iter().zip(figures).filter(|(_, figures)| figures.over == 0);
    let mut means = whole.filter_map(|(column, figures)| figures.mean.zip(column.mean()));
    means.any(|(stated, of_buckets)| stated.is_below(of_buckets))
}

/// Returns the units a bucket covers, or a multiple of it: the largest number that divides all
/// buckets. Extremes lie less than that above their bucket.
pub(super) fn size(columns: &[Column], figures: &[Figures]) -> Result<u64, String> {
    let mut reach = 0;
    for (column, figures) in columns.iter().zip(figures) {
        let (Some((first, last)), Some((min, max))) = (column.ends(), figures.extremes) else {
            continue;
        };
        reach = reach.max(min.saturating_sub(first));
        if figures.over == 0 {
            reach = reach.max(max.saturating_sub(last));
        }
    }
    let divisor = common_divisor(columns);
    // All values in bucket 0: the size is unknown, and their extremes bound it.
    let size = if divisor == 0 { reach.saturating_add(1) } else { divisor };
    if size > reach {
        Ok(size)
    } else {
        Err(format!(
            "minimum or maximum lie {reach} above their bucket, the buckets are at most {size} \
             wide; in an unchanged file they agree"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::column::Mean;

    fn column(numbers: &[u64]) -> Column {
        let mut column = Column::default();
        for number in numbers {
            column.add(*number, 1).unwrap();
        }
        column
    }

    fn figures(min: u64, max: u64) -> Figures {
        Figures { over: 0, extremes: Some((min, max)), mean: None }
    }

    #[test]
    fn the_size_follows_from_the_rows_and_is_not_guessed_smaller() {
        assert_eq!(size(&[column(&[10, 15, 25]), column(&[3])], &[figures(10, 25)]), Ok(1));
        assert_eq!(size(&[column(&[10, 15, 25])], &[figures(10, 25)]), Ok(5));
        assert_eq!(size(&[column(&[10, 15, 25])], &[figures(12, 29)]), Ok(5));
        assert_eq!(size(&[column(&[0])], &[figures(3, 7)]), Ok(8));
        assert_eq!(size(&[column(&[])], &[]), Ok(1));
        size(&[column(&[10, 15, 25])], &[figures(12, 31)]).unwrap_err();
    }

    #[test]
    fn means_below_their_buckets_are_counted_in_them() {
        let with_mean = |mean| Figures { mean: Some(Mean::rounded(mean)), ..figures(10, 30) };
        let rows = [column(&[10, 20, 30])];
        assert!(means_are_in_buckets(&rows, &[with_mean(2.0)]));
        assert!(!means_are_in_buckets(&rows, &[with_mean(23.4)]));
    }
}
