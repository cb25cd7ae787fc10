//! `quietcore compare`

use std::fmt::Write as _;
use std::path::Path;

use quietcore_evidence::Evidence;
use quietcore_record::{compare, published};
use quietcore_report::comparison;

use crate::arguments::Compare;
use crate::finish;
use crate::status::{Failure, Status};

pub(in crate::command) fn run(request: &Compare) -> Result<Status, Failure> {
    match (&request.folder, &request.other, &request.with) {
        (Some(folder), Some(other), _) => two_runs(folder, other, request.json),
        (Some(folder), None, Some(table)) => with_table(folder, table, request.json),
        _ => list_tables(request.json),
    }
}

fn two_runs(a: &Path, b: &Path, json: bool) -> Result<Status, Failure> {
    let (a, b) = (read(a)?, read(b)?);
    let compared = compare::compare_runs(&a.records, &b.records);
    if json {
        super::print_json(&compared)?;
    } else {
        super::print(&comparison::runs(&compared))?;
    }
    Ok(trust(&[&a, &b]))
}

fn with_table(folder: &Path, table: &str, json: bool) -> Result<Status, Failure> {
    let table = published::find(table)?;
    let evidence = read(folder)?;
    let beside = compare::with_table(&finish::as_slept(&evidence.records), table)?;
    if json {
        super::print_json(&beside)?;
    } else {
        super::print(&comparison::beside(&beside))?;
    }
    Ok(trust(&[&evidence]))
}

fn list_tables(json: bool) -> Result<Status, Failure> {
    if json {
        super::print_json(&published::tables())?;
        return Ok(Status::Done);
    }
    let mut text = String::new();
    for table in published::tables() {
        writeln!(text, "{:<14} {}", table.id, table.title)
            .expect("writing to a string cannot fail");
    }
    super::print(&text)?;
    Ok(Status::Done)
}

/// Damaged evidence is compared, and not as if it were whole.
fn trust(compared: &[&Evidence]) -> Status {
    let whole = compared.iter().all(|evidence| evidence.damage.is_empty());
    if whole { Status::Done } else { Status::NotPassed }
}

/// Reads a folder; damage is said, and makes its records invalid.
fn read(folder: &Path) -> Result<Evidence, Failure> {
    let evidence = finish::read(folder)?;
    for damage in &evidence.damage {
        crate::terminal::say(format_args!("damaged: {}: {damage}", folder.display()));
    }
    Ok(evidence)
}
