//! `quietcore set`, `force` and `unforce`: a group of changes in one cycle. Beside them what
//! changes the program as a whole: `deploy` and `restart`.

pub(in crate::command) mod deploy;
pub(in crate::command) mod restart;

use quietcore_supervisor::control::{Applied, Change, ChangeKind};
use serde::Serialize;

use super::site;
use crate::arguments::{Assignment, Force, Of, Set, Unforce};
use crate::command;
use crate::status::{Failure, Status};

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    partition: &'a str,
    cycle: u64,
    changes: &'a [Change],
}

pub(in crate::command) fn set(request: &Set) -> Result<Status, Failure> {
    let changes = changes(ChangeKind::Set, &request.assignments);
    apply(&request.of, &changes, request.json, "set")
}

pub(in crate::command) fn force(request: &Force) -> Result<Status, Failure> {
    let changes = changes(ChangeKind::Force, &request.assignments);
    apply(&request.of, &changes, request.json, "forced")
}

pub(in crate::command) fn unforce(request: &Unforce) -> Result<Status, Failure> {
    if request.all {
        let (mut client, partition) = site::of_partition(&request.of)?;
        let applied = client.unforce_all(&partition)?;
        return tell(&partition, applied, &[], request.json, "all released");
    }
    let release = |variable: &String| Change {
        kind: ChangeKind::Unforce,
        variable: variable.clone(),
        value: None,
    };
    let changes: Vec<Change> = request.variables.iter().map(release).collect();
    apply(&request.of, &changes, request.json, "released")
}

fn changes(kind: ChangeKind, assignments: &[Assignment]) -> Vec<Change> {
    let change = |assignment: &Assignment| Change {
        kind,
        variable: assignment.variable.clone(),
        value: Some(assignment.value.clone()),
    };
    assignments.iter().map(change).collect()
}

fn apply(of: &Of, changes: &[Change], json: bool, done: &str) -> Result<Status, Failure> {
    let (mut client, partition) = site::of_partition(of)?;
    let applied = client.write(&partition, changes)?;
    let what = match changes {
        [only] => format!("{} {done}", only.variable),
        several => format!("{} variables {done}", several.len()),
    };
    tell(&partition, applied, changes, json, &what)
}

fn tell(
    partition: &str,
    applied: Applied,
    changes: &[Change],
    json: bool,
    what: &str,
) -> Result<Status, Failure> {
    let cycle = applied.cycle;
    if json {
        let schema = "quietcore.applied/1";
        command::print_json(&Document { schema, partition, cycle, changes })?;
    } else {
        command::print(&format!("{partition}: {what} in cycle {cycle}\n"))?;
    }
    Ok(Status::Done)
}
