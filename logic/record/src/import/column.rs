//! One column of a foreign histogram, and what its file says about it: made into a histogram, or
//! refused where the two can't both be true.

use crate::histogram::Histogram;
use crate::reason::ForeignProblem;

/// The buckets of one thread or CPU that hold values, ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    buckets: Vec<(u64, u64)>,
    total: u64,
}

impl Column {
    /// Adds the next bucket; empty ones are left out.
    pub(crate) fn add(&mut self, bucket: u64, count: u64) -> Result<(), String> {
        self.total = self
            .total
            .checked_add(count)
            .ok_or("the counts add up to more than 64 bits; no program counts so far")?;
        if count > 0 {
            self.buckets.push((bucket, count));
        }
        Ok(())
    }

    /// Returns the number of values in buckets.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the first and last bucket with values.
    pub(crate) fn ends(&self) -> Option<(u64, u64)> {
        Some((self.buckets.first()?.0, self.buckets.last()?.0))
    }

    /// Returns the mean of the values that have a bucket, each taken for the bucket's begin.
    pub(crate) fn mean(&self) -> Option<f64> {
        let sum: f64 =
            self.buckets.iter().map(|(bucket, count)| *bucket as f64 * *count as f64).sum();
        (self.total > 0).then(|| sum / self.total as f64)
    }

    /// Returns the column with each bucket called by a number that is smaller by this.
    pub(crate) fn moved_down(&self, by: u64) -> Self {
        let moved = |(bucket, count): &(u64, u64)| (bucket.saturating_sub(by), *count);
        Self { buckets: self.buckets.iter().map(moved).collect(), total: self.total }
    }

    /// Takes the last bucket away and returns its count.
    pub(crate) fn take_last(&mut self) -> u64 {
        let count = self.buckets.pop().map_or(0, |(_, count)| count);
        self.total -= count;
        count
    }

    /// Returns the bucket numbers with values.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.buckets.iter().map(|(bucket, _)| *bucket)
    }
}

/// Returns the largest number that divides the numbers of all buckets with values; 0 without any,
/// or if they are all 0.
pub(crate) fn common_divisor<'a>(columns: impl IntoIterator<Item = &'a Column>) -> u64 {
    columns.into_iter().flat_map(Column::numbers).fold(0, |mut left, mut right| {
        while right != 0 {
            (left, right) = (right, left % right);
        }
        left
    })
}

/// Figures that a file states of a column. Times are in units of the file.
#[derive(Clone, Debug)]
pub(crate) struct Claims {
    /// The unit, in ns.
    pub(crate) unit_ns: u64,
    /// Units a bucket covers.
    pub(crate) bucket_size: u64,
    /// Values without a bucket.
    pub(crate) overflow: u64,
    /// Values without a bucket are at least this.
    pub(crate) overflow_from: u64,
    /// Smallest and largest value.
    pub(crate) extremes: Option<(u64, u64)>,
    /// The mean as printed.
    pub(crate) mean: Option<Mean>,
}

/// A printed mean, in units of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mean {
    stated: f64,
    /// Largest distance of the true mean below and above.
    below: f64,
    above: f64,
}

impl Mean {
    /// Makes a mean that was cut to whole units.
    pub(crate) const fn cut(stated: f64) -> Self {
        Self { stated, below: 0.0, above: 1.0 }
    }

    /// Makes a mean that was rounded to two decimals.
    pub(crate) const fn rounded(stated: f64) -> Self {
        Self { stated, below: 0.01, above: 0.01 }
    }

    /// Returns `true` if it is below this one, however it was rounded.
    pub(crate) fn is_below(self, mean: f64) -> bool {
        self.stated + self.above < mean
    }

    /// Makes a mean in units of one that was counted in buckets of this size.
    pub(crate) fn of_buckets(self, size: u64) -> Self {
        let Self { stated, below, above } = self;
        let size = size as f64;
        Self { stated: stated * size, below: below * size, above: above * size }
    }
}

/// A histogram with what is to be said about it.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) histogram: Histogram,
    /// Pairs of subject and remark.
    pub(crate) remarks: Vec<(&'static str, String)>,
    /// The reasons why it can't be trusted.
    pub(crate) invalid_because: Vec<ForeignProblem>,
}

/// Makes the histogram; the error says which claim the buckets contradict.
pub(crate) fn finish(column: &Column, claims: &Claims) -> Result<Finished, String> {
    if let Some((column, claims)) = without_overflow(column, claims) {
        return finish(&column?, &claims);
    }
    check_extremes(column, claims)?;
    let count = column
        .total
        .checked_add(claims.overflow)
        .ok_or("buckets and overflow add up to more than 64 bits")?;
    if count == 0 {
        // Minimum and maximum of nothing are whatever the program began with.
        let histogram = Histogram::imported(claims.unit_ns, u64::MAX);
        return Ok(Finished { histogram, remarks: Vec::new(), invalid_because: Vec::new() });
    }
    let in_ns = |value: u64| {
        value.checked_mul(claims.unit_ns).ok_or_else(|| format!("{value} is beyond 584 years"))
    };
    // Where no value has a bucket the smallest one is a closer bound than the histogram's end.
    let (min, max) = claims.extremes.unwrap_or((0, claims.overflow_from));
    let overflow_from =
        if column.total == 0 { claims.overflow_from.max(min) } else { claims.overflow_from };
    // Without an overflow, the end is beyond all values.
    let overflow_from =
        if claims.overflow == 0 { overflow_from.max(max.saturating_add(1)) } else { overflow_from };
    let resolution_ns = in_ns(claims.bucket_size)?;
    let mut histogram = Histogram::imported(resolution_ns, in_ns(overflow_from)?);
    let mut sum: u64 = 0;
    for (value, times) in placed(column, claims) {
        let value_ns = in_ns(value)?;
        sum = value_ns
            .checked_mul(times)
            .and_then(|part| sum.checked_add(part))
            .ok_or("the values add up to more than 584 years")?;
        histogram.record_many(value_ns, times);
    }
    let mut finished = Finished { histogram, remarks: Vec::new(), invalid_because: Vec::new() };
    if claims.overflow > 0 {
        let sum_ns = overflow_sum(sum, count, (overflow_from, max), claims)?;
        finished.histogram.record_overflow(claims.overflow, in_ns(max)?, sum_ns);
        finished.remark_overflow(claims);
        if claims.extremes.is_none() {
            finished.invalid_because.push(ForeignProblem::OverflowUnbounded);
        }
    } else if count > 0 {
        finished.check_mean(sum as f64 / count as f64, claims);
    }
    Ok(finished)
}

/// Puts an overflow that is known, since its largest value is its smallest one, into a bucket;
/// `None` for any other.
fn without_overflow(column: &Column, claims: &Claims) -> Option<(Result<Column, String>, Claims)> {
    let (_, max) = claims.extremes?;
    let is_known = claims.overflow > 0 && max == claims.overflow_from && claims.bucket_size == 1;
    let settled = is_known.then(|| Claims {
        overflow: 0,
        overflow_from: claims.overflow_from.saturating_add(1),
        ..claims.clone()
    })?;
    let mut column = column.clone();
    let added = column.add(max, claims.overflow);
    Some((added.map(|()| column), settled))
}

/// Puts the values at the start of their bucket, but one at the maximum that the file states, and
/// none below its minimum. So a wide bucket understates no maximum.
fn placed(column: &Column, claims: &Claims) -> Vec<(u64, u64)> {
    let mut placed = column.buckets.clone();
    let Some((min, max)) = claims.extremes else { return placed };
    if let Some((first, _)) = placed.first_mut() {
        *first = min.max(*first);
    }
    if let Some((last, times)) = placed.last_mut().filter(|_| claims.overflow == 0)
        && max > *last
    {
        *times -= 1;
        placed.push((max, 1));
    }
    placed
}

fn check_extremes(column: &Column, claims: &Claims) -> Result<(), String> {
    let Some((min, max)) = claims.extremes else { return Ok(()) };
    if column.total == 0 && claims.overflow == 0 {
        return Ok(());
    }
    if min > max {
        return Err(format!("the minimum {min} is above the maximum {max}"));
    }
    let within = |value: u64, bucket: u64| value >= bucket && value - bucket < claims.bucket_size;
    if let Some((first, last)) = column.ends() {
        if !within(min, first) {
            return Err(format!(
                "the minimum is {min}, the first bucket with values is {first}; in an unchanged \
                 file they agree"
            ));
        }
        if claims.overflow == 0 && !within(max, last) {
            return Err(format!(
                "the maximum is {max}, the last bucket with values is {last} and nothing \
                 overflowed; in an unchanged file they agree"
            ));
        }
    }
    if claims.overflow > 0 && max < claims.overflow_from {
        return Err(format!(
            "{} values overflowed the histogram that ends at {}, yet the maximum is {max}",
            claims.overflow, claims.overflow_from
        ));
    }
    Ok(())
}

/// Returns the sum of the overflow, in ns: what the stated mean leaves for it, within what is
/// possible.
fn overflow_sum(
    binned_sum: u64,
    count: u64,
    (from, max): (u64, u64),
    claims: &Claims,
) -> Result<u64, String> {
    let unit = u128::from(claims.unit_ns);
    let times = u128::from(claims.overflow);
    let least = times * u128::from(from) * unit;
    let most = times * u128::from(max) * unit;
    let by_mean = claims.mean.map_or(least, |mean| {
        let total = mean.stated * claims.unit_ns as f64 * count as f64;
        (total as u128).saturating_sub(u128::from(binned_sum))
    });
    let sum = by_mean.clamp(least, most.max(least));
    u64::try_from(sum)
        .ok()
        .filter(|sum| sum.checked_add(binned_sum).is_some())
        .ok_or_else(|| "the values add up to more than 584 years".to_owned())
}

impl Finished {
    fn remark_overflow(&mut self, claims: &Claims) {
        let mean = match claims.mean {
            Some(mean) => format!(
                "taken from the file, which gives it in steps of {} ns; the overflow has no \
                 buckets",
                (mean.above * claims.unit_ns as f64).ceil()
            ),
            None => "a lower bound: the file doesn't say how late the overflow was".to_owned(),
        };
        self.remarks.push(("mean", mean));
    }

    fn check_mean(&mut self, mean_ns: f64, claims: &Claims) {
        let Some(Mean { stated, below, above }) = claims.mean else { return };
        let unit = claims.unit_ns as f64;
        // Values are known to a bucket, so their mean lies between this and a bucket more.
        let lowest = mean_ns / unit;
        let highest = lowest + (claims.bucket_size - 1) as f64;
        let rounding = lowest * 1e-9;
        if highest + rounding < stated - below || lowest - rounding > stated + above {
            let of_buckets = mean_ns / unit;
            self.invalid_because.push(ForeignProblem::OtherMean { stated, of_buckets });
        }
    }
}

#[cfg(test)]
mod tests;
