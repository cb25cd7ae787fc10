//! The axes that all plots of a report share, and the limits drawn in them.

use quietcore_record::class::CYCLE_PART;
use quietcore_record::histogram::Quantile;
use quietcore_record::record::Record;
use quietcore_record::verdict::own_limit_ns;

use super::axis::Scale;
use crate::figures;
use crate::summary::Summary;

/// Ratio of the largest latency to the smallest median beyond which a linear axis would show only
/// one of them.
const LINEAR_RATIO: f64 = 150.0;

/// The longest axis, in ns: 31 years. A larger value in a file is drawn at its end.
const AXIS_MAX: f64 = 1e18;

/// Cycles that everybody knows, in ns: 1, 10 and 100 ms, as in hofer2019.
const USUAL_CYCLES: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];

/// A limit of the latency, drawn as a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    /// The limit, in ns.
    pub(crate) limit_ns: u64,
    /// Name of the line, such as `tenth of 1 ms`.
    pub(crate) label: String,
    /// Shorter name where many stand beside each other, such as `of 1 ms`.
    pub(crate) short: String,
    /// Classes that it belongs to, for the tooltip.
    pub(crate) classes: String,
    /// `true` if a partition declares one of them.
    pub(crate) declared: bool,
    /// `true` if it is the tenth of a usual cycle, which is named before others.
    pub(crate) usual: bool,
}

/// The axes shared by the plots of all records, so that these can be compared by eye.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    /// Latency along a histogram.
    pub(crate) latency: Scale,
    /// Releases per bar, logarithmic.
    pub(crate) count: Scale,
    /// Latency over time, logarithmic.
    pub(crate) level: Scale,
    /// Time since the first release, in ns, linear.
    pub(crate) time: Scale,
    /// Limit lines of the classes, ascending, one for each distinct limit.
    pub(crate) limits: Vec<Limit>,
}

impl Frame {
    /// Makes axes that hold all records.
    pub(crate) fn of(summary: &Summary<'_>) -> Self {
        let extent = Extent::of(summary);
        let latency = if extent.max > extent.median_min * LINEAR_RATIO || extent.max > 2e6 {
            Scale::logarithmic_around(extent.min, extent.max)
        } else {
            Scale::linear_beyond(extent.max)
        };
        Self {
            latency,
            count: Scale::Logarithmic { begin: 0.5, end: extent.count.max(10.0) * 2.5 },
            level: Scale::logarithmic_around(extent.mean_min.min(extent.max) / 2.0, extent.max),
            time: Scale::Linear { end: extent.time.max(1.0) },
            limits: limits(summary),
        }
    }

    /// Lists the limits that a record is judged by, ascending: those of the classes, but for a
    /// slower task of a program no less than a tenth of its own period.
    pub(crate) fn limits_of(&self, record: &Record) -> Vec<Limit> {
        let fastest = record.scan().map(|scan| scan.terms.program_period_ns);
        let own = own_limit_ns(record).filter(|_| record.period_ns > fastest);
        let Some(own_ns) = own else { return self.limits.clone() };
        // Limits that are no larger are merged into this one.
        let (merged, mut limits): (Vec<Limit>, Vec<Limit>) =
            self.limits.iter().cloned().partition(|limit| limit.limit_ns <= own_ns);
        if !merged.is_empty() {
            let period_ns = own_ns.saturating_mul(CYCLE_PART);
            let classes: Vec<_> = merged.iter().map(|limit| limit.classes.as_str()).collect();
            let declared = merged.iter().any(|limit| limit.declared);
            limits.insert(0, Limit::tenth_of(period_ns, own_ns, &classes.join(", "), declared));
        }
        limits
    }
}

impl Limit {
    /// Returns the same limit, called by its short name even where it is declared.
    pub(crate) fn shortened(&self) -> Self {
        Self { label: self.short.clone(), ..self.clone() }
    }

    pub(crate) fn tenth_of(cycle_ns: u64, limit_ns: u64, classes: &str, declared: bool) -> Self {
        Self {
            limit_ns,
            label: format!("tenth of {}", figures::set_nanos(cycle_ns)),
            short: format!("of {}", figures::set_nanos(cycle_ns)),
            classes: classes.to_owned(),
            declared,
            usual: USUAL_CYCLES.contains(&cycle_ns),
        }
    }

    /// Makes the line of a limit that the source of its class states.
    fn stated(limit_ns: u64, classes: &str, declared: bool) -> Self {
        let label = figures::set_nanos(limit_ns);
        let short = label.clone();
        Self { limit_ns, label, short, classes: classes.to_owned(), declared, usual: false }
    }
}

/// The ranges of all records together, in ns.
struct Extent {
    min: f64,
    median_min: f64,
    mean_min: f64,
    max: f64,
    count: f64,
    time: f64,
}

impl Extent {
    fn of(summary: &Summary<'_>) -> Self {
        let mut extent = Self {
            min: f64::INFINITY,
            median_min: f64::INFINITY,
            mean_min: f64::INFINITY,
            max: 0.0,
            count: 0.0,
            time: 0.0,
        };
        for record in &summary.records {
            let resolution = record.record.release.resolution_ns() as f64;
            for statistics in [Some(&record.statistics), record.wakeup.as_ref()] {
                let Some(statistics) = statistics else { continue };
                let (Some(min), Some(max)) = (statistics.min_ns, statistics.max_ns) else {
                    continue;
                };
                let floor = |value: u64| (value as f64).max(resolution);
                let median = statistics.median_ns.map_or(0, Quantile::lower_bound);
                extent.min = extent.min.min(floor(min));
                extent.median_min = extent.median_min.min(floor(median));
                extent.max = extent.max.max(max as f64);
                extent.count = extent.count.max(statistics.count as f64);
            }
            extent.add_timeline(record.record);
        }
        extent.max = extent.max.min(AXIS_MAX);
        // The axes exist even without a record.
        if extent.max < 1.0 {
            extent.max = 1_000.0;
        }
        extent.min = extent.min.min(extent.max);
        extent.median_min = extent.median_min.min(extent.max);
        extent.mean_min = extent.mean_min.min(extent.max);
        extent
    }

    fn add_timeline(&mut self, record: &Record) {
        let mut cycles = 0_u64;
        for (count, _, sum) in &record.timeline.slots {
            if *count > 0 {
                let mean = (*sum as f64 / *count as f64).max(1.0);
                self.mean_min = self.mean_min.min(mean);
            }
            cycles = cycles.saturating_add(*count);
        }
        let span = cycles as f64 * super::timeline::cycle_of(record);
        self.time = self.time.max(span);
    }
}

/// Makes one line for each distinct latency limit, named by the cycle that it is a tenth of, or
/// else by itself.
fn limits(summary: &Summary<'_>) -> Vec<Limit> {
    let mut limits: Vec<Limit> = Vec::new();
    let manifest = &summary.evidence.manifest;
    for class in &manifest.classes {
        let Some(limit_ns) = class.latency_limit_ns() else { continue };
        let declared = manifest.declared.values().any(|name| *name == class.name);
        if let Some(limit) = limits.iter_mut().find(|limit| limit.limit_ns == limit_ns) {
            limit.classes.push_str(", ");
            limit.classes.push_str(&class.name);
            limit.declared |= declared;
            continue;
        }
        limits.push(match class.cycle_ns.filter(|_| class.latency_ns.is_none()) {
            Some(cycle_ns) => Limit::tenth_of(cycle_ns, limit_ns, &class.name, declared),
            None => Limit::stated(limit_ns, &class.name, declared),
        });
    }
    limits.sort_by_key(|limit| limit.limit_ns);
    limits
}
