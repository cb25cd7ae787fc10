//! The figures of the records for each row, beside the paper's.

use std::collections::BTreeMap;

use quietcore_units::CpuId;
use serde::{Deserialize, Serialize};

use super::{LoadAt, ROWS, Row, TABLE};
use crate::histogram::Histogram;
use crate::published::{self, Figure, Table};
use crate::record::Record;
use crate::statistics::exceedance_bound;
use crate::verdict::is_judged;

/// The cycles that the paper looks at, in ns; a tenth of each is the limit.
pub const CYCLES_NS: [u64; 2] = [1_000_000, 100_000_000];

/// Fewer rows than this are no matrix.
const ROWS_MIN: usize = 2;

/// The matrix of a partition: all twelve rows, whether they were measured or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct IsolationMatrix {
    /// Name of the partition.
    pub partition: String,
    /// The id of the paper's table.
    pub table: String,
    /// Paper and place in it.
    pub source: String,
    /// The rows, in the paper's order.
    pub rows: Vec<IsolationRow>,
}

/// A row of the matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct IsolationRow {
    /// Its number in the paper's table, from 1.
    pub row: u8,
    /// Name of the profile.
    pub profile: String,
    /// The name in the paper.
    pub title: String,
    /// Its meaning on one kernel, in words.
    pub on_one_kernel: String,
    /// The row that is measured in the same way, on one kernel; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<u8>,
    /// The records that were taken together; empty where nothing was measured.
    pub records: Vec<String>,
    /// The reasons why the figures are not those of this row: settings that did not hold, runs that
    /// are not valid or were ended early.
    pub not_as_asked: Vec<String>,
    /// The wake-up latency, where the partition wakes early; what the paper's program measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wakeup: Option<IsolationFigures>,
    /// The release latency; absent where nothing was measured.
    pub release: Option<IsolationFigures>,
    /// Figures of the paper, one entry a kernel.
    pub published: Vec<PublishedFigures>,
}

impl IsolationRow {
    /// Returns the figures that are like the paper's: of a program that sleeps until its release.
    pub fn as_slept(&self) -> Option<&IsolationFigures> {
        self.wakeup.as_ref().or(self.release.as_ref())
    }
}

/// The figures of a row. All times in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct IsolationFigures {
    /// Number of values of all records.
    pub count: u64,
    /// Smallest value, in ns.
    pub min_ns: u64,
    /// Arithmetic mean, in ns.
    pub mean_ns: f64,
    /// Standard deviation of the sample; absent where it isn't known.
    pub sd_ns: Option<f64>,
    /// Largest value, in ns.
    pub max_ns: u64,
    /// Exceedances of a tenth of each cycle.
    pub exceedances: Vec<Exceedance>,
}

/// Exceedances of one limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Exceedance {
    /// The cycle, in ns.
    pub cycle_ns: u64,
    /// A tenth of it, in ns.
    pub limit_ns: u64,
    /// Values that may lie above the limit: exact but for those in the bin that holds it.
    pub count: u64,
    /// Values that surely lie above it. Where it is `count`, that is exact.
    pub surely: u64,
    /// `count` as a share of all values, 0 to 1.
    pub share: f64,
    /// The probability per cycle that is excluded with 95 % confidence, if cycles are independent.
    pub bound_95: f64,
}

/// A row of the paper, for one kernel. Times in µs, as printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PublishedFigures {
    /// The kernel of the guest.
    pub kernel: String,
    /// Smallest value, in µs.
    pub min_us: f64,
    /// Arithmetic mean, in µs.
    pub mean_us: f64,
    /// Standard deviation, in µs.
    pub sd_us: f64,
    /// Largest value, in µs.
    pub max_us: f64,
}

/// Returns a matrix for each partition that was measured under at least two of its profiles, by
/// name.
pub fn matrices(records: &[Record]) -> Vec<IsolationMatrix> {
    let mut partitions: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in records.iter().filter(|it| it.is_of_releases() && is_judged(it)) {
        if Row::of_profile(&record.profile).is_some() {
            partitions.entry(&record.partition).or_default().push(record);
        }
    }
    let Ok(table) = published::find(TABLE) else { return Vec::new() };
    partitions
        .into_iter()
        .map(|(partition, records)| matrix(partition, &records, table))
        .filter(|matrix| matrix.rows.iter().filter(|it| it.release.is_some()).count() >= ROWS_MIN)
        .collect()
}

fn matrix(partition: &str, records: &[&Record], table: &Table) -> IsolationMatrix {
    let rows = ROWS.iter().map(|row| {
        let of_row = records.iter().filter(|record| record.profile == row.profile);
        isolation_row(row, &of_row.copied().collect::<Vec<_>>(), table)
    });
    IsolationMatrix {
        partition: partition.to_owned(),
        table: table.id.to_owned(),
        source: table.source(),
        rows: rows.collect(),
    }
}

fn isolation_row(row: &Row, records: &[&Record], table: &Table) -> IsolationRow {
    let mut release = Histogram::new();
    let mut wakeup = Histogram::new();
    let mut not_as_asked: Vec<String> = Vec::new();
    for record in records {
        release.merge(&record.release);
        wakeup.merge(record.wakeup.as_ref().unwrap_or(&record.release));
        let early = record.interrupted.then(|| "the run was ended early".to_owned());
        let elsewhere = load_elsewhere(row, record);
        let reasons = record.invalid_because.iter().chain(&record.degraded);
        let reasons = reasons.map(ToString::to_string).chain(early).chain(elsewhere);
        for reason in reasons {
            if !not_as_asked.contains(&reason) {
                not_as_asked.push(reason);
            }
        }
    }
    let woken = wakeup != release;
    IsolationRow {
        row: row.number,
        profile: row.profile.to_owned(),
        title: row.title.to_owned(),
        on_one_kernel: row.on_one_kernel().words(),
        same_as: row.same_as().map(|row| row.number),
        records: records.iter().map(|record| record.name.clone()).collect(),
        not_as_asked,
        wakeup: figures(&wakeup).filter(|_| woken),
        release: figures(&release),
        published: published(row, table),
    }
}

/// Returns a remark where a load that may run anywhere did not come to the partition's CPU: under
/// version 2 of cgroups nothing else can run on CPUs without load balancing.
fn load_elsewhere(row: &Row, record: &Record) -> Option<String> {
    let cpu = record.cpu.and_then(CpuId::new)?;
    let anywhere = row.on_one_kernel().load == Some(LoadAt::Anywhere);
    let mut cpus = record.conditions.loads.iter().map(|load| load.cpus);
    let elsewhere = cpus.find(|cpus| !cpus.contains(cpu)).filter(|_| anywhere)?;
    Some(format!(
        "the load had CPU {elsewhere} and not CPU {cpu}, as under version 2 of cgroups where \
         balancing is off"
    ))
}

fn figures(histogram: &Histogram) -> Option<IsolationFigures> {
    let count = histogram.count();
    Some(IsolationFigures {
        count,
        min_ns: histogram.min_ns(),
        mean_ns: histogram.mean_ns()?,
        sd_ns: histogram.standard_deviation_ns(),
        max_ns: histogram.max_ns(),
        exceedances: CYCLES_NS.map(|cycle_ns| exceedance(histogram, cycle_ns)).to_vec(),
    })
}

fn exceedance(histogram: &Histogram, cycle_ns: u64) -> Exceedance {
    let (limit_ns, of) = (cycle_ns / 10, histogram.count());
    let count = histogram.count_above(limit_ns);
    Exceedance {
        cycle_ns,
        limit_ns,
        count,
        surely: histogram.count_surely_above(limit_ns),
        share: count as f64 / of.max(1) as f64,
        bound_95: exceedance_bound(count, of),
    }
}

/// Returns the table's lines of a row, in its order.
pub(super) fn published(row: &Row, table: &Table) -> Vec<PublishedFigures> {
    let column = |figure| table.figure(figure);
    let (Some(title), Some(kernel)) = (table.column("configuration"), table.column("kernel"))
    else {
        return Vec::new();
    };
    let lines = table.rows.iter().filter(|line| line[title].0 == row.title);
    lines
        .filter_map(|line| {
            let number = |figure| line[column(figure)?].number();
            Some(PublishedFigures {
                kernel: line[kernel].0.clone(),
                min_us: number(Figure::Minimum)?,
                mean_us: number(Figure::Mean)?,
                sd_us: number(Figure::StandardDeviation)?,
                max_us: number(Figure::Maximum)?,
            })
        })
        .collect()
}
