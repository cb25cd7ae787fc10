//! The view of a probe that was run by hand: the figures, and the conditions that they hold for.

use quietcore_record::record::{Conditions, LoadAchieved, Scan, joined};
use quietcore_record::statistics::Statistics;

use super::Page;
use crate::figures;
use crate::summary::RecordSummary;

/// Columns of a line's name.
const NAME: usize = 12;

/// Number of worst cycles that are named.
const SPIKES: usize = 3;

impl Page {
    /// Appends all about one record.
    pub(super) fn probe(&mut self, summary: &RecordSummary<'_>) {
        let record = summary.record;
        let conditions = &record.conditions;
        self.line(&summary.label());
        self.named("mode", &format!("{}; {}", conditions.mode, conditions.policy));
        self.named("release", &spread(&summary.statistics));
        if let Some(wakeup) = &summary.wakeup {
            self.named("wake-up", &spread(wakeup));
        }
        if let Some(scan) = &summary.scan {
            self.named("execution", &spread(&scan.execution));
            self.named("response", &spread(&scan.response));
            self.named("deadline", &deadline(scan.scan));
            if let Some(frames) = scan.scan.counters.lost_frames {
                self.named("fieldbus", &format!("{} lost frames", figures::count(frames)));
            }
            for errors in &scan.scan.kernel_errors {
                self.named("kernel", &errors.to_string());
            }
            for fault in &scan.scan.faults {
                self.named("fault", &fault.to_string());
            }
        }
        for because in &record.invalid_because {
            self.named("invalid", &because.to_string());
        }
        if let Some(missed) = summary.statistics.missed_cycles {
            let longest = summary.statistics.longest_miss_run.unwrap_or_default();
            let missed = figures::count(missed);
            self.named("missed", &format!("{missed} cycles, at most {longest} in a row"));
        }
        let spun = record.counters.spin_ns as f64 / conditions.duration_ns.max(1) as f64 * 100.0;
        let spun = format!("{spun:.1} % of the core spun");
        match record.counters.own_cost_ns {
            0 => self.named("cost", &spun),
            own => {
                let own = figures::nanos(own);
                self.named("cost", &format!("{own} a cycle for the probe, {spun}"));
            }
        }
        self.disturbed(conditions);
        for spike in record.spikes.iter().take(SPIKES) {
            self.named(
                "worst",
                &format!(
                    "{} at release {} ({} after the first): {}",
                    figures::nanos(spike.latency_ns),
                    figures::count(spike.release),
                    figures::nanos(spike.at_ns),
                    joined(&spike.conditions, ", ")
                ),
            );
        }
        if let Some(ledgers) = &record.ledgers {
            self.ledgers(ledgers);
        }
        self.line("");
    }

    /// Appends what ran beside the partition to disturb it.
    fn disturbed(&mut self, conditions: &Conditions) {
        for load in &conditions.loads {
            self.named(
                "load",
                &format!(
                    "{} × {}: {} {}, {:.2} CPUs",
                    load.workers,
                    load.kind,
                    figures::amount(load.operations_per_second),
                    load.unit,
                    load.cpu_share
                ),
            );
        }
        for neighbour in &conditions.neighbours {
            for load in &neighbour.loads {
                let achieved = figures::amount(load.operations_per_second);
                let LoadAchieved { workers, kind, unit, .. } = load;
                let (name, form, cpus) = (&neighbour.name, &neighbour.kind, &neighbour.cpus);
                let words = format!(
                    "{name}, a {form} on CPUs {cpus}: {workers} × {kind}: {achieved} {unit}"
                );
                self.named("beside", &words);
            }
        }
    }

    pub(super) fn named(&mut self, name: &str, text: &str) {
        self.paragraph(&format!("  {name:<NAME$}"), text);
    }
}

/// Formats a count with its noun.
fn counted(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {noun}{s}", figures::count(count))
}

/// Tells the deadline and the watchdog time of a task of a program, and how often it exceeded them.
fn deadline(scan: &Scan) -> String {
    let (terms, counters) = (&scan.terms, &scan.counters);
    let held = match terms.deadline_ns {
        None => "none".to_owned(),
        Some(deadline) => {
            let overruns = counted(counters.overruns, "overrun");
            format!("{}: {overruns}", figures::nanos(deadline))
        }
    };
    let hits = counted(counters.watchdog_hits, "hit");
    let watchdog = terms.watchdog_ns.map_or_else(String::new, |watchdog| {
        format!("; watchdog {}: {hits}", figures::nanos(watchdog))
    });
    format!("{held}{watchdog}")
}

/// Formats the usual figures of a latency in one line.
pub(crate) fn spread(statistics: &Statistics) -> String {
    let quantile = |value: Option<_>| figures::or_dash(value, figures::quantile);
    let mean = figures::or_dash(statistics.mean_ns, figures::nanos_f64);
    format!(
        "min {}, mean {mean}, median {}, p99 {}, p99.9 {}, max {}; {} cycles",
        figures::or_dash(statistics.min_ns, figures::nanos),
        quantile(statistics.median_ns),
        quantile(statistics.p99_ns),
        quantile(statistics.p99_9_ns),
        figures::maximum(statistics),
        figures::count(statistics.count)
    )
}
