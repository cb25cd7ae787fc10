//! A ledger from counters alone, where there is no trace.
//!
//! Counters are read before and after a late release, some milliseconds apart. What they rose by
//! within that time bounds what the release can have lost to it, and no more is claimed.

use super::attribute::Window;
use super::{Cause, Counted, Ledger, Share};

/// Increments of counters around a late release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The time between the two readings, in ns.
    pub within_ns: u64,
    /// Time for which the task could run and did not, in ns, beyond what it does in quiet stretches
    /// as long as this one; `None` where it isn't counted.
    pub run_delay_ns: Option<u64>,
    /// Time for which the hypervisor ran something else, in ns, in steps of 10 ms; `None` where it
    /// isn't counted.
    pub steal_ns: Option<u64>,
    /// Other counts, by name.
    pub counts: Vec<(String, u64)>,
}

/// Makes a ledger from counters. The shares add up to the window.
pub fn from_counters(window: &Window, seen: &Differences) -> Ledger {
    let latency_ns = window.started_ns.saturating_sub(window.due_ns);
    let within = quietcore_units::Nanos::new(seen.within_ns);
    let mut rest = latency_ns;
    let mut shares = Vec::new();
    for (cause, ns) in [(Cause::Steal, seen.steal_ns), (Cause::RunDelay, seen.run_delay_ns)] {
        let ns = ns.unwrap_or(0).min(rest);
        if ns > 0 {
            let what = format!("at most; counted within {within}");
            shares.push(Share { cause, what, ns, times: 1 });
            rest -= ns;
        }
    }
    if rest > 0 {
        let unexplained =
            Share { cause: Cause::Unexplained, what: String::new(), ns: rest, times: 1 };
        shares.push(unexplained);
    }
    shares.sort_by_key(|share| std::cmp::Reverse(share.ns));
    Ledger {
        release: window.release,
        at_ns: window.due_ns.saturating_sub(window.first_release_ns),
        latency_ns,
        cpu: window.cpu,
        shares,
        course: Vec::new(),
        counted: counted(seen),
        stack: Vec::new(),
        remarks: Vec::new(),
    }
}

/// Adds to a traced ledger what was counted around it, and puts late timers and what is unexplained
/// down to steal, as far as the hypervisor took time then.
pub fn put_down_to_steal(ledger: &mut Ledger, seen: &Differences) {
    let within = quietcore_units::Nanos::new(seen.within_ns);
    let mut left = seen.steal_ns.unwrap_or(0);
    let mut taken = 0;
    for share in &mut ledger.shares {
        if matches!(share.cause, Cause::TimerLate | Cause::Unexplained) {
            let part = share.ns.min(left);
            share.ns -= part;
            left -= part;
            taken += part;
        }
    }
    if taken > 0 {
        let what = format!("at most; counted within {within}");
        ledger.shares.push(Share { cause: Cause::Steal, what, ns: taken, times: 1 });
        ledger.shares.retain(|share| share.ns > 0);
        ledger.shares.sort_by_key(|share| std::cmp::Reverse(share.ns));
    }
    ledger.counted.extend(counted(seen));
}

fn counted(seen: &Differences) -> Vec<Counted> {
    let some = seen.counts.iter().filter(|(_, count)| *count > 0);
    some.map(|(what, count)| Counted {
        what: what.clone(),
        count: *count,
        within_ns: seen.within_ns,
    })
    .collect()
}
