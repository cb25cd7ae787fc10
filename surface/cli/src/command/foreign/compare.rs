//! `quietcore compare`

use std::path::Path;

use quietcore_evidence::Evidence;
use quietcore_record::compare::{self, RunComparison};
use quietcore_record::published;
use quietcore_report::comparison;
use serde::Serialize;

use super::tables;
use crate::arguments::Compare;
use crate::status::{Failure, Status};
use crate::{finish, terminal};

pub(in crate::command) fn run(request: &Compare) -> Result<Status, Failure> {
    match (&request.folder, &request.other, &request.with) {
        (Some(folder), Some(other), _) => two_runs(folder, other, request.json),
        (Some(folder), None, Some(table)) => with_table(folder, table, request.json),
        _ => tables::list(request.json),
    }
}

/// The document that `--json` prints of two runs: the two folders, and their comparison.
#[derive(Serialize)]
struct TwoRuns<'a> {
    a: String,
    b: String,
    #[serde(flatten)]
    compared: &'a RunComparison,
}

fn two_runs(a: &Path, b: &Path, json: bool) -> Result<Status, Failure> {
    no_table(a, b)?;
    let (name_a, name_b) = (a.display().to_string(), b.display().to_string());
    let (a, b) = (read(a)?, read(b)?);
    let compared = compare::compare_runs(&a.records, &b.records);
    if json {
        super::print_json(&TwoRuns { a: name_a, b: name_b, compared: &compared })?;
    } else {
        let folders = format!("A is {name_a}\nB is {name_b}\n\n");
        super::print(&(folders + &comparison::runs(&compared, terminal::width())))?;
    }
    Ok(trust(&[&a, &b]))
}

/// Refuses a published table in the place of a folder, and names `--with`.
fn no_table(folder: &Path, other: &Path) -> Result<(), Failure> {
    let table = other.to_str().and_then(|id| published::find(id).ok());
    let Some(table) = table.filter(|_| !other.exists()) else { return Ok(()) };
    Err(Failure::new(format!(
        "{}: this is a published table and no folder; put the run beside it with `quietcore \
         compare {} --with {}`",
        other.display(),
        folder.display(),
        table.id
    )))
}

fn with_table(folder: &Path, table: &str, json: bool) -> Result<Status, Failure> {
    let table = published::find(table)?;
    let evidence = read(folder)?;
    let beside = finish::beside(&evidence.records, table)?;
    if json {
        super::print_json(&beside)?;
    } else {
        super::print(&comparison::beside(&beside, terminal::width()))?;
    }
    Ok(trust(&[&evidence]))
}

/// Returns the status of a comparison. Damaged evidence is compared, but does not count as whole.
fn trust(compared: &[&Evidence]) -> Status {
    let whole = compared.iter().all(|evidence| evidence.damage.is_empty());
    if whole { Status::Done } else { Status::NotPassed }
}

/// Reads a folder. Damage is reported on standard error, and makes its records invalid.
fn read(folder: &Path) -> Result<Evidence, Failure> {
    let evidence = finish::read(folder)?;
    for damage in &evidence.damage {
        terminal::say(format_args!("damaged: {}: {damage}", folder.display()));
    }
    Ok(evidence)
}
