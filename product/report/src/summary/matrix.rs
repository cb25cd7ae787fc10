//! The partitions: each a matrix of classes and profiles.

use std::collections::HashMap;

use quietcore_evidence::{Evidence, NotMeasured};
use quietcore_record::class::{Class, JitterDefinition};
use quietcore_record::reason::{Reason, VerdictReason};
use quietcore_record::record::Record;
use quietcore_record::statistics::Statistics;
use quietcore_record::verdict::{Judgement, Verdict, fastest_cycle, is_held_to_class, is_judged};
use quietcore_units::Nanos;

use super::{IMPORTED, RecordSummary};

/// A partition with its verdicts.
#[derive(Debug)]
pub struct PartitionSummary<'a> {
    /// Name of the partition, or of the file that was imported.
    pub name: &'a str,
    /// The class that it declares; `None` where it declares none.
    pub declared: Option<Declared<'a>>,
    /// Its profiles that were measured.
    pub columns: Vec<Column<'a>>,
    /// A row for each class, with as many cells as there are columns.
    pub rows: Vec<ClassRow<'a>>,
    /// The fastest cycle that it qualifies for, or why none is proven.
    pub fastest: Result<Fastest, String>,
    /// Records that are held to nothing, so that no verdict is about them: tasks of a kernel
    /// without a deadline. Indices into `Summary::records`.
    pub unjudged: Vec<usize>,
}

/// The class that a partition declares.
#[derive(Debug)]
pub struct Declared<'a> {
    /// Name of the class in the site file.
    pub name: &'a str,
    /// The class with its figures; `None` where the evidence has no class of this name.
    pub class: Option<&'a Class>,
    /// Verdict on the class over all profiles that count.
    pub overall: Overall,
}

/// A profile of a partition.
#[derive(Debug)]
pub struct Column<'a> {
    /// Name of the profile.
    pub profile: &'a str,
    /// Description of the profile; empty where the manifest has none.
    pub description: &'a str,
    /// `true` if it keeps the partition's reservation; others are for comparison.
    pub reserved: bool,
    /// Its records, as indices into `Summary::records`.
    pub records: Vec<usize>,
}

impl Column<'_> {
    /// Returns `true` if it stands for imported data, which have no profile worth naming.
    pub fn is_imported(&self) -> bool {
        self.profile == IMPORTED
    }
}

/// A class against all profiles of a partition.
#[derive(Debug)]
pub struct ClassRow<'a> {
    /// The class of the row.
    pub class: &'a Class,
    /// One cell for each column.
    pub cells: Vec<Cell>,
    /// The worst over the columns that keep the reservation.
    pub overall: Overall,
}

/// A verdict over several records, with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Overall {
    /// The verdict, the worst of those that count.
    pub verdict: Verdict,
    /// The reason, as a sentence.
    pub because: String,
    /// The record that decides, as an index into `Summary::records`; `None` where it is the lack of
    /// one.
    pub record: Option<usize>,
    /// Cycles that would be needed; `None` where more would not help.
    pub cycles_needed: Option<u64>,
}

/// The verdict of one class under one profile: that of its worst record.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The verdict of the worst record.
    pub verdict: Verdict,
    /// The reason, as a sentence.
    pub because: String,
    /// The number that decides.
    pub figure: Figure,
    /// The record that it comes from, as an index into `Summary::records`.
    pub record: usize,
    /// Cycles that would be needed; `None` where more would not help.
    pub cycles_needed: Option<u64>,
}

/// The figure that decides a verdict, short enough for a cell of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The largest release latency, in ns.
    Latency(u64),
    /// The largest release latency as it is known, in ns, which may be above the limit.
    LatencyUnsure(u64),
    /// The release jitter by the class's definition, in ns; `None` where it lies in the overflow.
    Jitter(Option<u64>),
    /// The most that the release jitter can have been, in ns; `None` where it is not known.
    JitterUnsure(Option<u64>),
    /// The longest response time of a task that is held to its deadline, in ns.
    Response(u64),
    /// The program failed, or was not done in time.
    Program(ProgramFault),
    /// Nothing, because no cycle was measured.
    Nothing,
    /// The record is invalid.
    Invalid,
    /// The record was not measured as the site asks.
    Degraded,
    /// The values are no releases of a thread.
    NoRelease,
    /// The class has no published cycle.
    NoCycle,
    /// The measurement's period, in ns, is longer than the class's cycle; `None` where it is
    /// unknown.
    Period(Option<u64>),
    /// Too few cycles: the number measured, and the number needed.
    TooFew(u64, u64),
    /// The longest run of misses, of a class that bears some: at least and at most.
    MissRun(u64, u64),
    /// The share of misses in millionths of all cycles, of a class that bears one: at least and at
    /// most.
    MissShare(u64, u64),
}

/// A failure of a program that no class allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramFault {
    /// It stopped before its time.
    Stopped,
    /// This many of its cycles ended after their deadline.
    Overruns(u64),
    /// The watchdog stopped it, or releases were left out.
    Held,
    /// Its own kernel refused activations or cut jobs off, this many times.
    LostWork(u64),
}

impl PartitionSummary<'_> {
    /// Lists all its records, including those that are held to nothing.
    pub fn all_records(&self) -> Vec<usize> {
        let judged = self.columns.iter().flat_map(|column| &column.records);
        let mut all: Vec<usize> = judged.chain(&self.unjudged).copied().collect();
        all.sort_unstable();
        all
    }

    /// Returns `true` if another rule decides on its class than that no release may be later than a
    /// tenth of the cycle, by which the fastest cycle is found.
    pub(crate) fn has_other_rule(&self) -> bool {
        let class = self.declared.as_ref().and_then(|declared| declared.class);
        class.is_some_and(|class| !class.strictness.is_hard() || class.latency_ns.is_some())
    }
}

/// The fastest cycle that a partition qualifies for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fastest {
    /// The cycle, in ns.
    pub cycle_ns: u64,
    /// `true` if the measurement's period is the limit, and not the latency.
    pub limited_by_period: bool,
    /// The record that sets the limit, as an index into `Summary::records`.
    pub record: usize,
}

type Judgements<'a> = HashMap<(&'a str, &'a str), &'a Judgement>;

pub(super) fn partitions<'a>(
    evidence: &'a Evidence,
    records: &[RecordSummary<'a>],
) -> Vec<PartitionSummary<'a>> {
    let judgements = index(evidence);
    let mut names: Vec<&str> = Vec::new();
    let manifest = &evidence.manifest;
    let of_releases = evidence.records.iter().filter(|record| record.is_of_releases());
    let all = (of_releases.map(|record| record.partition.as_str()))
        .chain(manifest.declared.keys().map(String::as_str))
        .chain(evidence.missing().map(|missing| missing.partition.as_str()));
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().map(|name| partition(name, evidence, records, &judgements)).collect()
}

/// Indexes the judgements by record and class. If a file holds two for the same pair, the worse one
/// counts.
fn index(evidence: &Evidence) -> Judgements<'_> {
    let mut judgements: Judgements<'_> = HashMap::new();
    for judgement in &evidence.judgements {
        let known = judgements
            .entry((judgement.record.as_str(), judgement.class.as_str()))
            .or_insert(judgement);
        if judgement.verdict > known.verdict {
            *known = judgement;
        }
    }
    judgements
}

fn partition<'a>(
    name: &'a str,
    evidence: &'a Evidence,
    records: &[RecordSummary<'a>],
    judgements: &Judgements<'a>,
) -> PartitionSummary<'a> {
    let columns = columns(name, evidence, records);
    let gap = gap(name, evidence);
    let rows: Vec<_> = evidence
        .manifest
        .classes
        .iter()
        .map(|class| {
            let cells: Vec<_> =
                columns.iter().map(|column| cell(class, column, records, judgements)).collect();
            let verdict = evidence.overall(name, &class.name);
            let overall = overall(verdict, &columns, &cells, gap.as_deref());
            ClassRow { class, cells, overall }
        })
        .collect();
    let declared = evidence.manifest.declared.get(name).map(|class| declare(class, &rows));
    let is_unjudged = |record: &Record| record.partition == name && !is_judged(record);
    let unjudged: Vec<usize> =
        (0..records.len()).filter(|index| is_unjudged(records[*index].record)).collect();
    let exceedance = evidence.manifest.exceedance;
    let fastest = fastest(&columns, records, exceedance, gap.as_deref(), &unjudged);
    PartitionSummary { name, declared, columns, rows, fastest, unjudged }
}

fn declare<'a>(name: &'a str, rows: &[ClassRow<'a>]) -> Declared<'a> {
    match rows.iter().find(|row| row.class.name == name) {
        Some(row) => Declared { name, class: Some(row.class), overall: row.overall.clone() },
        None => Declared {
            name,
            class: None,
            overall: missing(format!("the evidence has no figures for class `{name}`")),
        },
    }
}

fn columns<'a>(
    partition: &str,
    evidence: &'a Evidence,
    records: &[RecordSummary<'a>],
) -> Vec<Column<'a>> {
    let mut columns: Vec<Column<'a>> = Vec::new();
    for (index, summary) in records.iter().enumerate() {
        let record = summary.record;
        if record.partition != partition || !is_judged(record) {
            continue;
        }
        let known = columns
            .iter_mut()
            .find(|column| column.profile == record.profile && column.reserved == record.reserved);
        if let Some(column) = known {
            column.records.push(index);
            continue;
        }
        let description = evidence
            .manifest
            .profiles
            .iter()
            .find(|(name, _)| *name == record.profile)
            .map_or("", |(_, description)| description);
        columns.push(Column {
            profile: &record.profile,
            description,
            reserved: record.reserved,
            records: vec![index],
        });
    }
    columns
}

/// Tells what is missing of a partition, so that it can't have passed; `None` when nothing is.
fn gap(partition: &str, evidence: &Evidence) -> Option<String> {
    // Profiles that are missing for the same reason are told together.
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    let counts = |it: &&NotMeasured| it.partition == partition && it.reserved;
    for missing in evidence.missing().filter(counts) {
        let because = missing.because.as_str();
        match reasons.iter_mut().find(|(known, _)| *known == because) {
            Some((_, profiles)) => profiles.push(&missing.profile),
            None => reasons.push((because, vec![&missing.profile])),
        }
    }
    let told = reasons.iter().map(|(because, profiles)| match profiles.as_slice() {
        [one] => format!("profile {one} was not measured: {because}"),
        [first @ .., last] => {
            format!("profiles {} and {last} were not measured: {because}", first.join(", "))
        }
        [] => String::new(),
    });
    let distrusted = evidence.why_nothing_passes().map(|distrust| distrust.to_string());
    let told: Vec<String> = distrusted.into_iter().chain(told).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

fn cell(
    class: &Class,
    column: &Column<'_>,
    records: &[RecordSummary<'_>],
    judgements: &Judgements<'_>,
) -> Cell {
    column
        .records
        .iter()
        .map(|index| judged(class, *index, &records[*index], judgements))
        .max_by_key(|cell| {
            let RecordSummary { record, statistics, .. } = &records[cell.record];
            (cell.verdict, is_held_to_class(record), statistics.max_ns)
        })
        .expect("a column is made for a record")
}

fn judged(
    class: &Class,
    index: usize,
    summary: &RecordSummary<'_>,
    judgements: &Judgements<'_>,
) -> Cell {
    let key = (summary.record.name.as_str(), class.name.as_str());
    let Some(judgement) = judgements.get(&key) else {
        return Cell {
            verdict: Verdict::NotProven,
            because: "the record was not judged against this class".to_owned(),
            figure: Figure::Nothing,
            record: index,
            cycles_needed: None,
        };
    };
    Cell {
        verdict: judgement.verdict,
        because: judgement.because.clone(),
        figure: figure_of(judgement, class, summary),
        record: index,
        cycles_needed: judgement.cycles_needed,
    }
}

fn figure_of(judgement: &Judgement, class: &Class, summary: &RecordSummary<'_>) -> Figure {
    let (record, statistics) = (summary.record, &summary.statistics);
    if judgement.verdict == Verdict::Fail
        && let Some(fault) = program_fault(record, judgement)
    {
        return Figure::Program(fault);
    }
    if let Some(figure) = judgement.reason.as_ref().and_then(figure_of_misses)
        && !class.strictness.is_hard()
    {
        return figure;
    }
    if let Some(VerdictReason::PerhapsLate { max_ns, .. }) = judgement.reason {
        return Figure::LatencyUnsure(max_ns);
    }
    // A task that is held only to its deadline is judged by the end of its jobs.
    let jobs = summary.scan.as_ref().filter(|_| !is_held_to_class(record));
    let largest = match jobs {
        Some(scan) => scan.response.max_ns.map(Figure::Response),
        None => statistics.max_ns.map(Figure::Latency),
    };
    let Some(largest) = largest else { return Figure::Nothing };
    match judgement.verdict {
        Verdict::Pass => largest,
        Verdict::Fail if judgement.exceedances_least.or(judgement.exceedances) == Some(0) => {
            Figure::Jitter(jitter(class, statistics))
        }
        Verdict::Fail => largest,
        Verdict::NotProven => match (judgement.cycles_needed, class.cycle_ns) {
            _ if !record.is_valid() => Figure::Invalid,
            _ if is_foreign(record) => Figure::NoRelease,
            _ if !record.degraded.is_empty() => Figure::Degraded,
            (Some(needed), _) => {
                Figure::TooFew(jobs.map_or(statistics.count, |scan| scan.response.count), needed)
            }
            (None, None) => Figure::NoCycle,
            (None, Some(cycle_ns)) if record.period_ns.is_none_or(|period| period > cycle_ns) => {
                Figure::Period(record.period_ns)
            }
            (None, Some(_)) if class.jitter_ns.is_some() && jobs.is_none() => {
                Figure::JitterUnsure(most_jitter(judgement))
            }
            (None, Some(_)) => largest,
        },
    }
}

/// Returns the most that the release jitter can have been, in ns; `None` where it is not known.
fn most_jitter(judgement: &Judgement) -> Option<u64> {
    match judgement.reason {
        Some(VerdictReason::JitterOpen { most_ns, .. }) => most_ns,
        _ => None,
    }
}

/// Returns the figure that decides on a class that bears misses; `None` where it is the same as of
/// a hard one, as where cycles are missing.
fn figure_of_misses(reason: &VerdictReason) -> Option<Figure> {
    match reason {
        VerdictReason::MissesInARow { run_least, run_most, missing: None, .. } => {
            Some(Figure::MissRun(*run_least, *run_most))
        }
        VerdictReason::ShareOfMisses {
            misses_least, misses_most, count, missing: None, ..
        } => {
            let ppm = |misses: &u64| (*misses as f64 * 1e6 / (*count).max(1) as f64).round() as u64;
            Some(Figure::MissShare(ppm(misses_least), ppm(misses_most)))
        }
        // There are late releases, which the class bears.
        VerdictReason::JitterAbove { jitter_ns, .. } => Some(Figure::Jitter(Some(*jitter_ns))),
        VerdictReason::JitterOpen { most_ns, .. } => Some(Figure::JitterUnsure(*most_ns)),
        VerdictReason::JitterUnknown { .. } => Some(Figure::JitterUnsure(None)),
        VerdictReason::WorkLost { errors } => {
            let count = errors.iter().map(|errors| errors.count).sum();
            Some(Figure::Program(ProgramFault::LostWork(count)))
        }
        _ => None,
    }
}

/// Returns `true` if only another program's file stands against the record: its values are no
/// releases of a thread.
fn is_foreign(record: &Record) -> bool {
    let foreign = |reason: &Reason| matches!(reason, Reason::Foreign(_));
    !record.degraded.is_empty() && record.degraded.iter().all(foreign)
}

/// Returns the release jitter by the definition of the class, in ns; `None` where it is not known.
fn jitter(class: &Class, statistics: &Statistics) -> Option<u64> {
    match class.jitter_definition {
        JitterDefinition::Whiskers => statistics.jitter_whiskers_ns,
        JitterDefinition::PeakToPeak => statistics.jitter_peak_to_peak_ns,
        JitterDefinition::Successive => {
            statistics.jitter_successive_ns.map(|jitter| jitter.ceil() as u64)
        }
    }
}

/// Returns the program's fault, where that is why the record fails: late releases come before late
/// ends.
fn program_fault(record: &Record, judgement: &Judgement) -> Option<ProgramFault> {
    let scan = record.scan()?;
    let counters = &scan.counters;
    match judgement.exceedances_least.or(judgement.exceedances) {
        _ if !scan.faults.is_empty() => Some(ProgramFault::Stopped),
        Some(late) if late > 0 => None,
        _ if counters.overruns > 0 => Some(ProgramFault::Overruns(counters.overruns)),
        _ if counters.watchdog_hits > 0 || counters.skipped_releases > 0 => {
            Some(ProgramFault::Held)
        }
        _ => {
            let lost = scan.kernel_errors.iter().filter(|errors| errors.is_lost_work);
            let count = lost.map(|errors| errors.count).sum();
            (count > 0).then_some(ProgramFault::LostWork(count))
        }
    }
}

fn missing(because: String) -> Overall {
    Overall { verdict: Verdict::NotProven, because, record: None, cycles_needed: None }
}

/// Finds the cell that decided a verdict, among those that keep the reservation, and its reason. A
/// gap decides where no cell did.
fn overall(verdict: Verdict, columns: &[Column<'_>], cells: &[Cell], gap: Option<&str>) -> Overall {
    let reserved = columns.iter().zip(cells).filter(|(column, _)| column.reserved);
    let decides =
        reserved.map(|(_, cell)| cell).filter(|cell| cell.verdict == verdict).max_by_key(|cell| {
            match cell.figure {
                Figure::Latency(value) | Figure::LatencyUnsure(value) => value,
                Figure::Jitter(value) | Figure::JitterUnsure(value) => value.unwrap_or(u64::MAX),
                Figure::Response(value) => value,
                Figure::TooFew(count, needed) => needed.saturating_sub(count),
                Figure::MissRun(_, most) | Figure::MissShare(_, most) => most,
                _ => u64::MAX,
            }
        });
    match (decides, gap) {
        (Some(cell), Some(gap)) if verdict == Verdict::NotProven => {
            Overall { because: format!("{}; {gap}", cell.because), ..decided(cell) }
        }
        (Some(cell), _) => decided(cell),
        (None, Some(gap)) => missing(gap.to_owned()),
        (None, None) if cells.is_empty() => missing("nothing was measured".to_owned()),
        (None, None) => missing("no profile that keeps the reservation was measured".to_owned()),
    }
}

fn decided(cell: &Cell) -> Overall {
    Overall {
        verdict: cell.verdict,
        because: cell.because.clone(),
        record: Some(cell.record),
        cycles_needed: cell.cycles_needed,
    }
}

fn fastest(
    columns: &[Column<'_>],
    records: &[RecordSummary<'_>],
    exceedance: f64,
    gap: Option<&str>,
    unjudged: &[usize],
) -> Result<Fastest, String> {
    let mut slowest: Option<Fastest> = None;
    for index in columns.iter().filter(|column| column.reserved).flat_map(|column| &column.records)
    {
        let summary = &records[*index];
        if !is_held_to_class(summary.record) {
            continue;
        }
        let found = fastest_cycle(summary.record, exceedance)
            .map_err(|because| format!("{}: {because}", summary.label()))?;
        if slowest.is_none_or(|slowest| found.cycle_ns > slowest.cycle_ns) {
            slowest = Some(Fastest {
                cycle_ns: found.cycle_ns,
                limited_by_period: found.limited_by_period,
                record: *index,
            });
        }
    }
    match (slowest, gap) {
        (Some(slowest), None) => Ok(slowest),
        (Some(slowest), Some(gap)) => Err(format!(
            "{gap}; what was measured would allow a cycle of {}",
            Nanos::new(slowest.cycle_ns)
        )),
        (None, Some(gap)) => Err(gap.to_owned()),
        (None, None) if columns.is_empty() && !unjudged.is_empty() => {
            Err("no release of a thread was measured".to_owned())
        }
        (None, None) => Err("no profile that keeps the reservation was measured".to_owned()),
    }
}
