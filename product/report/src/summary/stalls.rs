//! Late releases that one stall made: a machine that stands still for five periods delays five
//! releases, and that is one event.
//!
//! ```text
//! due        1    2    3    4    5    6
//!            │    │    │    │    │    │
//! started    └─ stall ────────────┴┴┴┴┘    2 to 5 were due before 1 had started
//! ```

use quietcore_record::ledger::Ledger;
use quietcore_record::record::{Record, Spike, WakeKind};

/// Late releases of one record, each of which was due before the one before it had started.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stall<'a> {
    /// The latest of them.
    pub(crate) worst: &'a Spike,
    /// The first and the last release.
    pub(crate) releases: (u64, u64),
    /// Number of them that the record has as spikes; it keeps the worst only.
    pub(crate) count: usize,
    /// The ledger of the latest release that has one.
    pub(crate) ledger: Option<&'a Ledger>,
}

/// The stalls that a record tells of, the worst first.
pub(crate) fn stalls(record: &Record) -> Vec<Stall<'_>> {
    let mut spikes: Vec<&Spike> = record.spikes.iter().collect();
    spikes.sort_by_key(|spike| (spike.at_ns, spike.release));
    let mut stalls: Vec<Stall<'_>> = Vec::new();
    // Up to here the stall before delays whatever is due.
    let mut until_ns = 0;
    for spike in spikes {
        let end_ns = spike.at_ns.saturating_add(spike.latency_ns);
        match stalls.last_mut() {
            Some(stall) if spike.at_ns < until_ns => {
                stall.releases.0 = stall.releases.0.min(spike.release);
                stall.releases.1 = stall.releases.1.max(spike.release);
                stall.count += 1;
                if spike.latency_ns > stall.worst.latency_ns {
                    stall.worst = spike;
                }
                until_ns = until_ns.max(end_ns);
            }
            _ => {
                let releases = (spike.release, spike.release);
                stalls.push(Stall { worst: spike, releases, count: 1, ledger: None });
                until_ns = end_ns;
            }
        }
    }
    for stall in &mut stalls {
        stall.ledger = ledger_of(record, stall.releases);
    }
    stalls.sort_by_key(|stall| std::cmp::Reverse(stall.worst.latency_ns));
    stalls
}

/// The latest release of a stall that has a ledger.
fn ledger_of(record: &Record, (first, last): (u64, u64)) -> Option<&Ledger> {
    let kept = record.ledgers.iter().flat_map(|ledgers| &ledgers.kept);
    let own = kept.filter(|ledger| (first..=last).contains(&ledger.release));
    own.max_by_key(|ledger| ledger.latency_ns)
}

/// The command that measures again as `record` was, and explains releases that are as late as
/// `latency_ns`.
pub(crate) fn explain_command(record: &Record, latency_ns: u64) -> String {
    let held = &record.conditions;
    let mut command = "quietcore probe latency".to_owned();
    match record.cpu {
        Some(cpu) => command.push_str(&format!(" --cpus {cpu}")),
        None if record.scan.is_some() && !held.affinity.is_empty() => {
            command.push_str(&format!(" --cpus {}", held.affinity));
        }
        None => command.push_str(" --unpinned"),
    }
    if let Some(period_ns) = record.period_ns {
        command.push_str(&format!(" --period {}", duration(period_ns)));
    }
    let scheduled = held.scheduling();
    if scheduled.wake == Some(WakeKind::Early) {
        command.push_str(" --mode early-wake");
    }
    if let Some(priority) = scheduled.fifo_priority {
        command.push_str(&format!(" --priority {priority}"));
    }
    for load in &held.loads {
        command.push_str(&format!(" --load {}:{}", load.kind, load.workers));
    }
    let seconds = held.duration_ns.div_ceil(1_000_000_000).max(10);
    format!("{command} --duration {seconds}s --explain {}", duration(threshold(latency_ns)))
}

/// The largest of 1, 2, 5 × 10ⁿ ns that is at most half of a latency: what is like it is surely
/// explained, and little else is.
fn threshold(latency_ns: u64) -> u64 {
    const LEAST_NS: u64 = 10_000;
    let half = (latency_ns / 2).max(LEAST_NS);
    let decade = 10_u64.pow(half.ilog10());
    [5, 2, 1].into_iter().map(|step| step * decade).find(|mark| *mark <= half).unwrap_or(half)
}

/// A duration as an option takes it, exact and without a space.
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

    fn spike(release: u64, latency_us: u64) -> Spike {
        Spike {
            release,
            at_ns: release * 1_000_000,
            latency_ns: latency_us * 1_000,
            wakeup_ns: 0,
            cpu: 1,
            conditions: Vec::new(),
        }
    }

    fn found(spikes: &[Spike]) -> Vec<(u64, (u64, u64), usize)> {
        let evidence: Record = serde_json::from_value(serde_json::json!({
            "schema": "quietcore.record/1", "name": "a", "probe": "latency", "partition": "a",
            "profile": "tp2", "reserved": true, "cpu": 1, "period_ns": 1_000_000,
            "release": quietcore_record::histogram::Histogram::new(), "wakeup": null,
            "counters": quietcore_record::record::Counters::default(), "spikes": spikes,
            "timeline": quietcore_record::record::Timeline::default(),
            "conditions": quietcore_record::record::Conditions::default(),
            "interrupted": false, "degraded": [], "invalid_because": [],
        }))
        .expect("it has all fields");
        let stalls = stalls(&evidence);
        stalls.iter().map(|it| (it.worst.latency_ns, it.releases, it.count)).collect()
    }

    #[test]
    fn one_stall_is_one_whatever_it_delayed() {
        // 4.2 ms from release 10 on delay five releases; release 40 is another matter.
        let late = vec![spike(10, 4_200), spike(12, 2_200), spike(11, 3_200), spike(13, 1_200)];
        let all: Vec<Spike> = late.into_iter().chain([spike(14, 200), spike(40, 300)]).collect();
        assert_eq!(found(&all), [(4_200_000, (10, 14), 5), (300_000, (40, 40), 1)]);
    }

    #[test]
    fn releases_after_the_start_of_the_one_before_are_apart() {
        let apart = found(&[spike(10, 900), spike(11, 900)]);
        assert_eq!(apart.iter().map(|it| it.2).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(found(&[]), []);
    }

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
