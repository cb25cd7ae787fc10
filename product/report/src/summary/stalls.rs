//! The stalls of a record, each with its cause, and the command that finds the cause of one.

use quietcore_record::ledger::Ledger;
use quietcore_record::record::{AffinityInForce, LateRelease, Record, Spike};
use quietcore_units::WakeKind;

/// Late releases of one record that the same stall made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stall<'a> {
    /// The release with the largest latency.
    pub(crate) worst: &'a Spike,
    /// Numbers of the first and the last release.
    pub(crate) releases: (u64, u64),
    /// Number of them that the record keeps as spikes, which are only the worst.
    pub(crate) count: usize,
    /// Ledger of the release with the largest latency among those that have one.
    pub(crate) ledger: Option<&'a Ledger>,
}

/// Finds the stalls of a record, the worst first.
pub(crate) fn stalls(record: &Record) -> Vec<Stall<'_>> {
    let late = |spike: &&Spike| LateRelease { due_ns: spike.at_ns, latency_ns: spike.latency_ns };
    let found = quietcore_record::record::stalls(&record.spikes, late);
    let told = found.into_iter().map(|stall| {
        let numbers = || stall.releases.iter().map(|spike| spike.release);
        let own = stall.worst.release;
        let releases = (numbers().min().unwrap_or(own), numbers().max().unwrap_or(own));
        let (worst, count) = (stall.worst, stall.releases.len());
        Stall { worst, releases, count, ledger: ledger_of(record, releases) }
    });
    told.collect()
}

/// Returns the ledger with the largest latency among the releases of a stall.
fn ledger_of(record: &Record, (first, last): (u64, u64)) -> Option<&Ledger> {
    let kept = record.ledgers.iter().flat_map(|ledgers| &ledgers.kept);
    let own = kept.filter(|ledger| (first..=last).contains(&ledger.release));
    own.max_by_key(|ledger| ledger.latency_ns)
}

/// Returns the command that measures again as `record` was, and explains releases as late as
/// `latency_ns`.
pub(crate) fn explain_command(record: &Record, latency_ns: u64) -> String {
    let held = &record.conditions;
    let mut command = "quietcore probe latency".to_owned();
    match record.cpu {
        Some(cpu) => command.push_str(&format!(" --cpus {cpu}")),
        None => match held.affinity {
            AffinityInForce::ReadBack(cpus) if record.scan().is_some() => {
                command.push_str(&format!(" --cpus {cpus}"));
            }
            _ => command.push_str(" --unpinned"),
        },
    }
    if let Some(period_ns) = record.period_ns {
        command.push_str(&format!(" --period {}", duration(period_ns)));
    }
    if held.mode.wake() == Some(WakeKind::Early) {
        command.push_str(" --mode early-wake");
    }
    if let Some(priority) = held.policy.fifo_priority() {
        command.push_str(&format!(" --priority {priority}"));
    }
    for load in &held.loads {
        command.push_str(&format!(" --load {}:{}", load.kind, load.workers));
    }
    let seconds = held.duration_ns.div_ceil(1_000_000_000).max(10);
    format!("{command} --duration {seconds}s --explain {}", duration(threshold(latency_ns)))
}

/// Returns the largest of 1, 2, 5 × 10ⁿ ns that is at most half of a latency: similar releases are
/// surely explained, and few others.
fn threshold(latency_ns: u64) -> u64 {
    const LEAST_NS: u64 = 10_000;
    let half = (latency_ns / 2).max(LEAST_NS);
    let decade = 10_u64.pow(half.ilog10());
    [5, 2, 1].into_iter().map(|step| step * decade).find(|mark| *mark <= half).unwrap_or(half)
}

/// Formats a duration as an option takes it, exact and without a space.
fn duration(ns: u64) -> String {
    for (size, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
        if ns >= size && ns.is_multiple_of(size) {
            return format!("{}{unit}", ns / size);
        }
    }
    format!("{ns}ns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_at_most_half_of_what_is_to_be_explained() {
        for (latency_us, limit_us) in [(412, 200), (57_000, 20_000), (101, 50), (3, 10)] {
            assert_eq!(threshold(latency_us * 1_000), limit_us * 1_000);
        }
        assert_eq!(duration(57_000_000), "57ms");
        assert_eq!(duration(250_000), "250us");
        assert_eq!(duration(1_500), "1500ns");
    }
}
