//! `quietcore set`, `force` and `unforce`: a group of changes in one cycle. Beside them what
//! changes the program as a whole: `deploy`, `restart`, `pause` and `resume`.

pub(in crate::command) mod deploy;
pub(in crate::command) mod pause;
pub(in crate::command) mod restart;
mod undone;

use quietcore_record::verdict::thousands;
use quietcore_supervisor::client::Address;
use quietcore_supervisor::control::{Applied, Change, ChangeKind};
use quietcore_supervisor::monitor::Monitor;
use serde::Serialize;

use self::undone::Before;
use super::site;
use crate::arguments::{Assignment, Force, Of, Set, Unforce};
use crate::command;
use crate::status::{Failure, Status};
use crate::terminal;

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    partition: &'a str,
    cycle: u64,
    changes: &'a [Change],
}

/// Said after a release.
const RELEASED: &str = "; it is as it was before the force";

pub(in crate::command) fn set(request: &Set) -> Result<Status, Failure> {
    let changes = changes(ChangeKind::Set, &request.assignments, request.allow_nan);
    apply(&request.of, &changes, request.json, "set", "")
}

pub(in crate::command) fn force(request: &Force) -> Result<Status, Failure> {
    let changes = changes(ChangeKind::Force, &request.assignments, request.allow_nan);
    apply(&request.of, &changes, request.json, "forced", "")
}

pub(in crate::command) fn unforce(request: &Unforce) -> Result<Status, Failure> {
    if request.all {
        let (mut client, partition) = site::of_partition(&request.of)?;
        let applied = client.unforce_all(&partition)?;
        tell(&partition, &applied, &[], request.json, "all released", RELEASED)?;
        return Ok(Status::Done);
    }
    let release = |variable: &String| Change {
        kind: ChangeKind::Unforce,
        variable: variable.clone(),
        value: None,
        allow_nan: false,
    };
    let changes: Vec<Change> = request.variables.iter().map(release).collect();
    apply(&request.of, &changes, request.json, "released", RELEASED)
}

fn changes(kind: ChangeKind, assignments: &[Assignment], allow_nan: bool) -> Vec<Change> {
    let change = |assignment: &Assignment| Change {
        kind,
        variable: assignment.variable.clone(),
        value: Some(assignment.value.clone()),
        allow_nan,
    };
    assignments.iter().map(change).collect()
}

fn apply(
    of: &Of,
    changes: &[Change],
    json: bool,
    done: &str,
    after: &str,
) -> Result<Status, Failure> {
    let (mut client, partition) = site::of_partition(of)?;
    let monitor = Monitor::open(&mut client, &partition).ok();
    let forced = monitor.as_ref().map(|monitor| forced(monitor, changes)).unwrap_or_default();
    let before = monitor.as_ref().and_then(|monitor| Before::read(monitor, changes));
    let applied = client.write(&partition, changes)?;
    let undone = before.map(|before| before.undone(applied.cycle)).unwrap_or_default();
    let (mut effective, mut status) = (Vec::new(), Status::Done);
    for (index, change) in changes.iter().enumerate() {
        let forced = forced.get(index).copied();
        let by_fieldbus = applied.overwritten.contains(&change.variable);
        let why = match forced.and_then(|forced| without_effect(&of.partition, change, forced)) {
            Some(why) => Some(why),
            None if by_fieldbus => Some(self::by_fieldbus(&of.partition, change)),
            None if undone.contains(&change.variable) => Some(undone::told(&of.partition, change)),
            None => None,
        };
        match why {
            Some(why) => {
                terminal::say(format_args!("{partition}: {why}"));
                // What was not forced is let go all the same; a value that was wished is not there.
                if change.kind == ChangeKind::Set {
                    status = Status::NotPassed;
                }
            }
            None => effective.push(change.variable.as_str()),
        }
    }
    let what = match effective[..] {
        [] => format!("nothing {done}"),
        [only] => format!("{only} {done}"),
        _ => format!("{} variables {done}", effective.len()),
    };
    let after = if effective.is_empty() { "" } else { after };
    tell(&partition, &applied, changes, json, &what, after)?;
    Ok(status)
}

/// Which of the variables are forced; empty where that can't be seen.
fn forced(monitor: &Monitor, changes: &[Change]) -> Vec<bool> {
    let Ok(forces) = monitor.forces() else { return Vec::new() };
    let held = |change: &Change| {
        monitor.symbols().resolve(&change.variable).is_ok_and(|place| forces.holds(&place))
    };
    changes.iter().map(held).collect()
}

/// Why a change does nothing, if so, to a variable that is forced or not.
fn without_effect(address: &Address, change: &Change, forced: bool) -> Option<String> {
    let variable = &change.variable;
    match (change.kind, forced) {
        (ChangeKind::Set, true) => Some(format!(
            "{variable} is held by a force; release it with `quietcore unforce {address} \
             {variable}`"
        )),
        (ChangeKind::Unforce, false) => Some(format!("{variable} was not forced")),
        _ => None,
    }
}

/// Says that the fieldbus overwrites the variable that was set, and what to do.
fn by_fieldbus(address: &Address, change: &Change) -> String {
    let variable = &change.variable;
    let value = change.value.as_deref().unwrap_or("VALUE");
    format!(
        "{variable} is written by the fieldbus before each step, so that a value that is set does \
         not stay; hold it with `quietcore force {address} {variable}={value}`"
    )
}

fn tell(
    partition: &str,
    applied: &Applied,
    changes: &[Change],
    json: bool,
    what: &str,
    after: &str,
) -> Result<(), Failure> {
    let cycle = applied.cycle;
    if json {
        let schema = "quietcore.applied/1";
        command::print_json(&Document { schema, partition, cycle, changes })?;
    } else {
        command::print_lines(&format!(
            "{partition}: {what} in cycle {}{after}\n",
            thousands(cycle)
        ))?;
    }
    Ok(())
}
