//! The page over a folder of runs: for each partition its runs over time, with the conditions that
//! changed between them.
//!
//! ```text
//! Evidence ─► Entry ─┐   one folder each, a few hundred bytes
//! Evidence ─► Entry ─┼─► page    a trend and a table for each partition of each site
//! Evidence ─► Entry ─┘
//! ```
//!
//! An [`Entry`] is the part of a run that is kept, so that hundreds of them can be read one after
//! the other. Verdicts are those of the [`Summary`], which every page shows. Routines of the kernel
//! that were measured in several backends stand side by side.

mod page;
mod plot;
mod routines;

use std::collections::{BTreeMap, BTreeSet};

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::class::Class;
use quietcore_record::histogram::Quantile;
use quietcore_record::verdict::Verdict;

use crate::summary::{PartitionSummary, RecordSummary, Summary, quick_look};

pub use page::render;
use routines::KernelEntry;

/// Name by which a page of this kind is known; a file without it is not overwritten.
pub const GENERATOR: &str = "quietcore index/1";

/// One run, as far as the page needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The folder, as a path relative to the page.
    folder: String,
    /// Start of the run in RFC 3339, UTC.
    started_at: String,
    /// Name of the site, or of the imported data.
    name: String,
    origin: Origin,
    partitions: Vec<PartitionEntry>,
    /// The kernels whose routines were measured.
    kernels: Vec<KernelEntry>,
    is_damaged: bool,
}

/// One partition of a run, as far as the page needs it.
#[derive(Clone, Debug, PartialEq)]
struct PartitionEntry {
    name: String,
    class: Option<String>,
    limit_ns: Option<u64>,
    verdict: Verdict,
    because: String,
    is_quick: bool,
    cycles: u64,
    p99_9: Option<Quantile>,
    max_ns: Option<u64>,
    /// The conditions of its records, each with all its values.
    conditions: BTreeMap<String, String>,
}

/// A condition that differs from that of the run before, with both values.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change<'a> {
    name: &'a str,
    before: &'a str,
    now: &'a str,
}

/// Word in place of a condition that a run does not know.
const UNKNOWN: &str = "not known";

/// Number of digits of a sum that are shown; more would help nobody.
const SUM_SHOWN: usize = 12;

impl Entry {
    /// Keeps what the page needs of the run in `folder`, a path relative to the page.
    pub fn of(folder: &str, evidence: &Evidence) -> Self {
        let summary = Summary::of(evidence);
        let manifest = &evidence.manifest;
        let partitions = summary.partitions.iter().map(|it| PartitionEntry::of(it, &summary));
        Self {
            folder: folder.to_owned(),
            started_at: manifest.started_at.clone(),
            name: manifest.name.clone(),
            origin: manifest.origin,
            partitions: partitions.collect(),
            kernels: routines::of(evidence),
            is_damaged: !evidence.damage.is_empty(),
        }
    }
}

impl PartitionEntry {
    fn of(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Self {
        let columns = partition.columns.iter().filter(|column| column.reserved);
        let counted: Vec<&RecordSummary<'_>> = columns
            .flat_map(|column| &column.records)
            .map(|index| &summary.records[*index])
            .filter(|record| record.statistics.count > 0)
            .collect();
        let overall = partition.declared.as_ref().map(|declared| &declared.overall);
        let class = partition.declared.as_ref().and_then(|declared| declared.class);
        Self {
            name: partition.name.to_owned(),
            class: partition.declared.as_ref().map(|declared| {
                declared.class.map_or(declared.name, |class| class.title.as_str()).to_owned()
            }),
            limit_ns: class.and_then(Class::latency_limit_ns),
            verdict: overall.map_or(Verdict::NotProven, |overall| overall.verdict),
            because: overall.map_or_else(
                || "the partition declares no class".to_owned(),
                |overall| overall.because.clone(),
            ),
            is_quick: quick_look(partition, summary).is_some(),
            cycles: counted.iter().map(|record| record.statistics.count).sum(),
            p99_9: counted
                .iter()
                .filter_map(|record| record.statistics.p99_9_ns)
                .max_by_key(|quantile| quantile.lower_bound()),
            max_ns: counted.iter().filter_map(|record| record.statistics.max_ns).max(),
            conditions: conditions(&counted, partition, summary),
        }
    }

    /// Returns the conditions that differ from those of `before`, in the order of their names.
    fn changes<'a>(&'a self, before: &'a Self) -> Vec<Change<'a>> {
        let names: BTreeSet<&String> =
            self.conditions.keys().chain(before.conditions.keys()).collect();
        let read = |entry: &'a Self, name: &str| {
            entry.conditions.get(name).map_or(UNKNOWN, String::as_str)
        };
        let changes = names.into_iter().map(|name| Change {
            name,
            before: read(before, name),
            now: read(self, name),
        });
        // A runtime on one side only means another backend, which is a change of its own.
        let is_told = |change: &Change<'_>| {
            change.name == "container" && [change.before, change.now].contains(&UNKNOWN)
        };
        changes.filter(|change| change.before != change.now && !is_told(change)).collect()
    }
}

/// Collects the conditions of the records that count, each with all its values.
fn conditions(
    counted: &[&RecordSummary<'_>],
    partition: &PartitionSummary<'_>,
    summary: &Summary<'_>,
) -> BTreeMap<String, String> {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut add = |name: &str, value: String| {
        values.entry(name.to_owned()).or_default().insert(value);
    };
    for record in counted {
        let (record, held) = (record.record, &record.record.conditions);
        for (name, value) in &held.machine_in_words() {
            add(&name.replace('_', " "), shortened(value));
        }
        if let Some(backend) = held.backend() {
            add("backend", backend.to_owned());
        }
        add("release", held.mode.to_string());
        add("policy", held.policy.to_string());
        if let Some(period_ns) = record.period_ns {
            add("period", crate::figures::set_nanos(period_ns));
        }
        let loads = held.loads.iter().map(|load| format!("{} × {}", load.workers, load.kind));
        let beside = held.neighbours.iter().map(|it| format!("{}, a {}", it.name, it.kind));
        let loads: Vec<String> = loads.chain(beside).collect();
        let loads = if loads.is_empty() { "none".to_owned() } else { loads.join(", ") };
        add(&format!("load of {}", record.profile), loads);
    }
    let manifest = &summary.evidence.manifest;
    let profiles = partition.columns.iter().map(|column| column.profile);
    add("profiles", profiles.collect::<Vec<_>>().join(", "));
    add("site file", shortened(&manifest.site_sha256));
    add("Quietcore", manifest.quietcore_version.clone());
    add("exceedance", format!("{:e}", manifest.exceedance));
    if let Some(declared) = &partition.declared {
        add("class", declared.name.to_owned());
    }
    let joined = |all: BTreeSet<String>| all.into_iter().collect::<Vec<_>>().join("; ");
    values.into_iter().map(|(name, all)| (name, joined(all))).collect()
}

/// Shortens a sum to its beginning; other values stay as they are.
fn shortened(value: &str) -> String {
    let is_sum = value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_sum { value[..SUM_SHOWN].to_owned() } else { value.to_owned() }
}

/// The runs of one partition of one site, the oldest first.
#[derive(Debug)]
struct Course<'a> {
    site: &'a str,
    partition: &'a str,
    runs: Vec<CourseRun<'a>>,
}

/// One run of a course, with the changes since the run before.
#[derive(Debug)]
struct CourseRun<'a> {
    entry: &'a Entry,
    found: &'a PartitionEntry,
    /// The conditions that changed since the run before; `None` for the first run.
    changes: Option<Vec<Change<'a>>>,
}

/// Groups the runs of all campaigns by site and partition; the courses with the newest run come
/// first.
fn courses(entries: &[Entry]) -> Vec<Course<'_>> {
    let mut sorted: Vec<&Entry> =
        entries.iter().filter(|entry| entry.origin == Origin::Campaign).collect();
    sorted.sort_by(|a, b| (&a.started_at, &a.folder).cmp(&(&b.started_at, &b.folder)));
    let mut courses: Vec<Course<'_>> = Vec::new();
    for entry in sorted {
        for found in &entry.partitions {
            let known =
                courses.iter().position(|it| it.site == entry.name && it.partition == found.name);
            let course = match known {
                Some(index) => &mut courses[index],
                None => {
                    courses.push(Course {
                        site: &entry.name,
                        partition: &found.name,
                        runs: Vec::new(),
                    });
                    let last = courses.len() - 1;
                    &mut courses[last]
                }
            };
            let before = course.runs.last().map(|run| run.found);
            let changes = before.map(|before| found.changes(before));
            course.runs.push(CourseRun { entry, found, changes });
        }
    }
    let newest = |course: &Course<'_>| course.runs.last().map(|run| &run.entry.started_at).cloned();
    courses.sort_by_key(|course| std::cmp::Reverse(newest(course)));
    courses
}
