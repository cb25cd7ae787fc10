//! `quietcore compare`

use std::path::{Path, PathBuf};

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
    match (&request.folder, &request.others[..], &request.with) {
        (Some(folder), [], Some(table)) => with_table(folder, table, request.json),
        (Some(folder), [_, ..], _) => runs(folder, &request.others, request.json),
        _ => tables::list(request.json),
    }
}

/// The document that `--json` prints of two runs: the two folders, and their comparison.
#[derive(Serialize)]
struct TwoRuns<'a> {
    a: &'a str,
    b: &'a str,
    #[serde(flatten)]
    compared: &'a RunComparison,
}

/// The document that `--json` prints of more runs: each compared with the first, in their order.
#[derive(Serialize)]
struct ManyRuns<'a> {
    pairs: Vec<TwoRuns<'a>>,
}

/// Compares the run A with each of the others.
fn runs(folder: &Path, others: &[PathBuf], json: bool) -> Result<Status, Failure> {
    others.iter().try_for_each(|other| no_table(folder, other))?;
    let a = read(folder)?;
    let mut all = Vec::new();
    for other in others {
        let b = read(other)?;
        all.push((other.display().to_string(), compare::compare_runs(&a.records, &b.records), b));
    }
    let name = folder.display().to_string();
    if json {
        let two = all.iter().map(|(b, compared, _)| TwoRuns { a: &name, b, compared });
        let pairs: Vec<_> = two.collect();
        match &pairs[..] {
            [pair] => super::print_json(pair)?,
            _ => super::print_json(&ManyRuns { pairs })?,
        }
    } else {
        let text = |(b, compared, _): &(String, RunComparison, Evidence)| {
            let folders = format!("A is {name}\nB is {b}\n\n");
            folders + &comparison::runs(compared, terminal::width())
        };
        super::print(&all.iter().map(text).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(trust([&a].into_iter().chain(all.iter().map(|(.., b)| b))))
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
    Ok(trust([&evidence]))
}

/// Returns the status of a comparison. Damaged evidence is compared, but does not count as whole.
fn trust<'e>(compared: impl IntoIterator<Item = &'e Evidence>) -> Status {
    let whole = compared.into_iter().all(|evidence| evidence.damage.is_empty());
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
