//! The verdicts as JUnit XML, for continuous integration.
//!
//! A suite is a partition, a test case a class under a profile (the worst of its tasks), and one
//! more case per declared class for its overall verdict. JUnit knows passed, failed, error and
//! skipped; a verdict becomes:
//!
//! | verdict | declared class | other classes | profile for comparison |
//! |---|---|---|---|
//! | PASS | passed | passed | passed |
//! | FAIL | failure `FAIL` | skipped, with the reason | skipped, with the reason |
//! | NOT PROVEN | error `NOT PROVEN` | skipped, with the reason | skipped, with the reason |
//!
//! NOT PROVEN for a declared class must never look like a pass: nobody reads what a green run has
//! skipped. Other classes are skipped where they don't pass, since nobody asked for them. Anything
//! that was asked for and not measured, a damaged folder, and evidence without any record are
//! errors.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use quietcore_evidence::Evidence;
use quietcore_record::verdict::Verdict;

use crate::summary::{Cell, Column, Declared, NoticeKind, PartitionSummary, Summary};

/// Renders the report as JUnit XML.
pub fn render(evidence: &Evidence) -> String {
    let summary = Summary::of(evidence);
    let mut report = Report::new(format!("quietcore {}", evidence.manifest.name));
    let folder = folder_suite(&summary);
    if !folder.test_cases.is_empty() {
        report.add_test_suite(folder);
    }
    for partition in &summary.partitions {
        report.add_test_suite(suite(partition, &summary));
    }
    report.to_string().expect("XML in memory can be written; the library keeps text valid")
}

/// Makes the suite about the evidence as a whole; empty where nothing is wrong with it.
fn folder_suite(summary: &Summary<'_>) -> TestSuite {
    let mut suite = TestSuite::new("evidence");
    for notice in &summary.notices {
        let name = match notice.kind {
            NoticeKind::Damaged => "the evidence folder is undamaged",
            NoticeKind::Contradicted => "the evidence does not contradict itself",
            NoticeKind::Emulated => "time is real",
            _ => continue,
        };
        suite.add_test_case(TestCase::new(name, error(&notice.what)));
    }
    if summary.all_records().next().is_none() {
        let name = "something was measured";
        suite.add_test_case(TestCase::new(name, error("there is no record")));
    }
    suite
}

fn suite(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> TestSuite {
    let mut suite = TestSuite::new(partition.name);
    if let Some(declared) = &partition.declared {
        suite.add_test_case(overall(declared, partition));
    }
    for row in &partition.rows {
        let is_declared =
            partition.declared.as_ref().is_some_and(|declared| declared.name == row.class.name);
        for (cell, column) in row.cells.iter().zip(&partition.columns) {
            let name = format!("{} under {}", row.class.name, column.profile);
            let label = summary.records[cell.record].label();
            let status = status(cell, column, is_declared, &label);
            let mut case = TestCase::new(name, status);
            case.set_classname(format!("{}.{}", partition.name, column.profile));
            suite.add_test_case(case);
        }
    }
    for missing in summary.evidence.missing() {
        if missing.partition == partition.name {
            let name = format!("{} was measured", missing.profile);
            let status = if missing.reserved {
                error(&missing.because)
            } else {
                skipped(&format!("not measured, for comparison: {}", missing.because))
            };
            let mut case = TestCase::new(name, status);
            case.set_classname(format!("{}.{}", partition.name, missing.profile));
            suite.add_test_case(case);
        }
    }
    suite
}

fn overall(declared: &Declared<'_>, partition: &PartitionSummary<'_>) -> TestCase {
    let because = &declared.overall.because;
    let status = match declared.overall.verdict {
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::Fail => failure(because),
        Verdict::NotProven => error(because),
    };
    let mut case = TestCase::new(format!("{} overall", declared.name), status);
    case.set_classname(format!("{}.overall", partition.name));
    case
}

fn status(cell: &Cell, column: &Column<'_>, is_declared: bool, label: &str) -> TestCaseStatus {
    let because = format!("{label}: {}", cell.because);
    match cell.verdict {
        Verdict::Pass => TestCaseStatus::success(),
        verdict if !column.reserved => skipped(&format!("{verdict}, for comparison: {because}")),
        verdict if !is_declared => skipped(&format!("{verdict}, not declared: {because}")),
        Verdict::Fail => failure(&because),
        Verdict::NotProven => error(&because),
    }
}

fn failure(because: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type("FAIL").set_message(because);
    status
}

fn error(because: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type("NOT PROVEN").set_message(because);
    status
}

fn skipped(because: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(because);
    status
}
