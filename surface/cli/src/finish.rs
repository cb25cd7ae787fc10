//! The end of every run: the folder is read back, judged, reported and sealed.
//!
//! What is shown to a person is what was read back from the disk, not what was in memory.

use std::path::Path;

use quietcore_evidence::{Evidence, Origin, Writer};
use quietcore_record::compare::{self, BesideError, SideBySide};
use quietcore_record::document;
use quietcore_record::published::{self, BoxPlot, Quantity};
use quietcore_record::record::Record;
use quietcore_report::{Published, PublishedBox, html, junit};

use crate::status::Failure;

/// The name of the page in the folder.
pub(crate) const REPORT: &str = "report.html";

/// Seals the folder, reads it back, and adds summary, page and JUnit file.
pub(crate) fn finish(writer: &Writer) -> Result<Evidence, Failure> {
    writer.seal()?;
    let evidence = quietcore_evidence::read(writer.root())?;
    let document =
        document::of(&evidence.records, &evidence.judgements, evidence.manifest.exceedance);
    writer.evidence(&document)?;
    writer.file(REPORT, page(&evidence).as_bytes())?;
    writer.file("junit.xml", junit::render(&evidence).as_bytes())?;
    writer.seal()?;
    Ok(evidence)
}

/// The page of some evidence, with the published tables that fit beside it.
pub(crate) fn page(evidence: &Evidence) -> String {
    html::render(evidence, &published_beside(evidence))
}

/// The table whose baseline stands beside a campaign: general-purpose Linux on bare metal.
const BASELINE_TABLE: &str = "queiroz2023/table-3";
/// How the table names that system.
const BASELINE: &str = "Baseline";

/// The published box plots of the profiles that were measured; none beside imported data.
fn published_beside(evidence: &Evidence) -> Vec<Published> {
    if evidence.manifest.origin != Origin::Campaign {
        return Vec::new();
    }
    let Ok(table) = published::find(BASELINE_TABLE) else { return Vec::new() };
    let measured = |row: &BoxPlot| {
        row.label.contains(BASELINE)
            && evidence.records.iter().any(|record| Some(&record.profile) == row.profile.as_ref())
    };
    let rows: Vec<_> = table.box_plots().into_iter().filter(measured).map(published_box).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![Published {
        title: format!("{} ({})", table.title, table.id),
        source: table.source(),
        rows,
    }]
}

fn published_box(row: BoxPlot) -> PublishedBox {
    PublishedBox {
        label: row.label,
        lower_whisker_ns: row.lower_whisker_ns,
        q1_ns: row.q1_ns,
        median_ns: row.median_ns,
        mean_ns: row.mean_ns,
        q3_ns: row.q3_ns,
        upper_whisker_ns: row.upper_whisker_ns,
        max_ns: None,
    }
}

/// Reads a folder that a run has written.
pub(crate) fn read(folder: &Path) -> Result<Evidence, Failure> {
    Ok(quietcore_evidence::read(folder)?)
}

/// A run beside a published table, whose threads slept until their release.
pub(crate) fn beside(
    records: &[Record],
    table: &published::Table,
) -> Result<SideBySide, BesideError> {
    let mut beside = compare::with_table(&as_slept(records), table)?;
    let woke_early = records.iter().any(|record| record.of_wakeup().is_some());
    if woke_early && table.quantity == Quantity::ReleaseLatency {
        beside.remarks.push(WOKE_EARLY.to_owned());
    }
    Ok(beside)
}

/// Said beside a published table where a record holds both latencies.
const WOKE_EARLY: &str = "what is measured here woke before its release and spun to it; beside the \
                          paper's threads, which slept until theirs, stands its wake-up latency";

/// The records as tools see them that sleep until the release, such as cyclictest, and as the
/// papers measured: where a run woke early, its wake-up latency is the like.
pub(crate) fn as_slept(records: &[Record]) -> Vec<Record> {
    records.iter().map(|record| record.of_wakeup().unwrap_or_else(|| record.clone())).collect()
}
