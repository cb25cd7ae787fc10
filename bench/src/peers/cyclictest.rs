//! The peer `cyclictest` of the package rt-tests, as a process of its own.

use std::process::Command;

use quietcore_record::histogram::Histogram;
use quietcore_units::Nanos;

/// The setting of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// The CPU that its thread is pinned to.
    pub(crate) cpu: u32,
    /// Its priority of SCHED_FIFO.
    pub(crate) priority: u8,
    /// Time between two releases.
    pub(crate) period: Nanos,
    /// Number of releases in all.
    pub(crate) cycles: u64,
}

/// Runs it once and reads its histogram.
pub(crate) fn run(setup: &Setup) -> Result<Histogram, String> {
    // Nanoseconds, so that neither side is rounded; a bucket for each up to 1 ms.
    let output = Command::new("cyclictest")
        .args(["--quiet", "--mlockall", "--nsecs", "--threads=1", "--histogram=1000000"])
        .arg(format!("--affinity={}", setup.cpu))
        .arg(format!("--priority={}", setup.priority))
        .arg(format!("--interval={}", setup.period.get() / 1_000))
        .arg(format!("--loops={}", setup.cycles))
        .output()
        .map_err(|error| format!("cyclictest: {error}; install the package rt-tests"))?;
    if !output.status.success() {
        return Err(format!("cyclictest: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(read(&String::from_utf8_lossy(&output.stdout)))
}

/// Its histogram. What is beyond the last bucket counts as its maximum.
fn read(text: &str) -> Histogram {
    let mut histogram = Histogram::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split_whitespace().map(str::parse::<u64>);
        if let (Some(Ok(value)), Some(Ok(times))) = (cells.next(), cells.next()) {
            histogram.record_many(value, times);
        }
    }
    let number = |name: &str| {
        let cell = text.lines().find_map(|line| line.strip_prefix(name))?;
        cell.split_whitespace().next()?.parse::<u64>().ok()
    };
    if let Some(overflow) = number("# Histogram Overflows:") {
        let max = number("# Max Latencies:").unwrap_or_default();
        histogram.record_many(max, overflow);
    }
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_read_with_what_is_beyond_it() {
        let text = "# Histogram\n001500 000003\n001600 000001\n# Max Latencies: 0000002000000\n\
                    # Histogram Overflows: 00002\n";
        let histogram = read(text);
        assert_eq!((histogram.count(), histogram.max_ns()), (6, 2_000_000));
    }
}
