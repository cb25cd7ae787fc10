//! `quietcore compare`

use std::fmt::Write as _;
use std::path::Path;

use quietcore_evidence::Evidence;
use quietcore_record::{compare, published};
use quietcore_report::comparison;

use crate::arguments::Compare;
use crate::finish;
use crate::status::{Failure, Status};

pub(super) fn run(request: &Compare) -> Result<Status, Failure> {
    match (&request.folder, &request.other, &request.with) {
        (Some(folder), Some(other), _) => two_runs(folder, other, request.json)?,
        (Some(folder), None, Some(table)) => with_table(folder, table, request.json)?,
        _ => list_tables(request.json)?,
    }
    Ok(Status::Done)
}

fn two_runs(a: &Path, b: &Path, json: bool) -> Result<(), Failure> {
    let (a, b) = (read(a)?, read(b)?);
    let compared = compare::compare_runs(&a.records, &b.records);
    if json {
        return super::print_json(&compared);
    }
    super::print(&comparison::runs(&compared))
}

fn with_table(folder: &Path, table: &str, json: bool) -> Result<(), Failure> {
    let table = published::find(table)?;
    let evidence = read(folder)?;
    let beside = compare::with_table(&finish::as_slept(&evidence.records), table)?;
    if json {
        return super::print_json(&beside);
    }
    super::print(&comparison::beside(&beside))
}

fn list_tables(json: bool) -> Result<(), Failure> {
    if json {
        return super::print_json(&published::tables());
    }
    let mut text = String::new();
    for table in published::tables() {
        writeln!(text, "{:<14} {}", table.id, table.title)
            .expect("writing to a string cannot fail");
    }
    super::print(&text)
}

/// Reads a folder; damage is said, and makes its records invalid.
fn read(folder: &Path) -> Result<Evidence, Failure> {
    let evidence = finish::read(folder)?;
    for damage in &evidence.damage {
        crate::terminal::say(format_args!("damaged: {}: {damage}", folder.display()));
    }
    Ok(evidence)
}
