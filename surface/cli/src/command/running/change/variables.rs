//! `quietcore set`, `force` and `unforce`: a group of changes in one cycle.

use quietcore_record::verdict::thousands;
use quietcore_supervisor::control::{Applied, Change, ChangeKind, Effect, Verb, WhyNoEffect};
use serde::Serialize;

use super::super::site::reached::Reached;
use crate::arguments::{Assignment, Force, Of, Set, Unforce};
use crate::command;
use crate::command::distance::Reach;
use crate::status::{Failure, Status};
use crate::terminal;

/// The largest number of changes whose values fit the summary line; more have a line each.
const IN_LINE_MAX: usize = 1;

/// The document that `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    partition: &'a str,
    cycle: u64,
    changes: Vec<Changed<'a>>,
}

/// A change and its outcome.
#[derive(Serialize)]
struct Changed<'a> {
    #[serde(flatten)]
    change: &'a Change,
    old: Option<&'a str>,
    new: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_effect: Option<WhyNoEffect>,
}

/// Words for a kind of change.
struct Words {
    done: &'static str,
    /// Text at the end of the first line.
    after: &'static str,
}

const SET: Words = Words { done: "set", after: "" };
const FORCED: Words = Words { done: "forced", after: "" };
const RELEASED: Words = Words { done: "released", after: "; it is as it was before the force" };

pub(in crate::command) fn set(reach: &Reach, request: &Set) -> Result<Status, Failure> {
    let changes = changes(ChangeKind::Set, &request.assignments, request.allow_nan)?;
    let verb = Verb::Write { changes, confirm: true };
    apply(Reached::of_partition(reach, &request.of)?, &request.of, verb, (request.json, &SET))
}

pub(in crate::command) fn force(reach: &Reach, request: &Force) -> Result<Status, Failure> {
    let changes = changes(ChangeKind::Force, &request.assignments, request.allow_nan)?;
    let verb = Verb::write(changes);
    apply(Reached::of_partition(reach, &request.of)?, &request.of, verb, (request.json, &FORCED))
}

pub(in crate::command) fn unforce(reach: &Reach, request: &Unforce) -> Result<Status, Failure> {
    let release = |variable: &String| Change {
        kind: ChangeKind::Unforce,
        variable: variable.clone(),
        value: None,
        allow_nan: false,
    };
    let changes: Vec<Change> = request.variables.iter().map(release).collect();
    let verb = if request.all { Verb::UnforceAll } else { Verb::write(changes) };
    apply(Reached::of_partition(reach, &request.of)?, &request.of, verb, (request.json, &RELEASED))
}

fn changes(
    kind: ChangeKind,
    assignments: &[Assignment],
    allow_nan: bool,
) -> Result<Vec<Change>, Failure> {
    refuse_twice(&assignments.iter().collect::<Vec<_>>())?;
    let change = |assignment: &Assignment| Change {
        kind,
        variable: assignment.variable.clone(),
        value: Some(assignment.value.clone()),
        allow_nan,
    };
    Ok(assignments.iter().map(change).collect())
}

/// Refuses two values for the same variable: one of the names is likely mistyped.
pub(in crate::command::running) fn refuse_twice(
    assignments: &[&Assignment],
) -> Result<(), Failure> {
    for (index, second) in assignments.iter().enumerate() {
        let first = assignments[..index].iter().find(|it| it.variable == second.variable);
        if let Some(first) = first {
            let Assignment { variable, value } = first;
            return Err(Failure::new(format_args!(
                "quietcore: `{variable}` is named twice, with `{value}` and with `{}`; give it one \
                 of them",
                second.value
            )));
        }
    }
    Ok(())
}

fn apply(
    (mut site, partition): (Reached, String),
    of: &Of,
    verb: Verb,
    (json, words): (bool, &Words),
) -> Result<Status, Failure> {
    let is_all = verb == Verb::UnforceAll;
    let applied: Applied = site.ask(&partition, verb)?;
    for why in applied.effects.iter().filter_map(|effect| effect.told(&of.partition)) {
        terminal::say(format_args!("{partition}: {why}"));
    }
    if json {
        command::print_json(&document(&partition, &applied))?;
    } else {
        command::print_lines(&text(&partition, &applied, words, is_all))?;
    }
    // An `unforce` of a free variable has what it asked for; a `set` without effect has not.
    let is_missed =
        |effect: &Effect| effect.change.kind == ChangeKind::Set && effect.without_effect.is_some();
    let missed = applied.effects.iter().any(is_missed);
    Ok(if missed { Status::NotPassed } else { Status::Done })
}

fn document<'a>(partition: &'a str, applied: &'a Applied) -> Document<'a> {
    let changed = |effect: &'a Effect| Changed {
        change: &effect.change,
        old: effect.old.as_deref(),
        new: effect.new.as_deref(),
        without_effect: effect.without_effect,
    };
    let changes = applied.effects.iter().map(changed).collect();
    Document { schema: "quietcore.applied/1", partition, cycle: applied.cycle, changes }
}

fn text(partition: &str, applied: &Applied, words: &Words, is_all: bool) -> String {
    let Words { done, after } = words;
    let effective: Vec<&Effect> =
        applied.effects.iter().filter(|effect| effect.without_effect.is_none()).collect();
    let in_line = effective.len() <= IN_LINE_MAX && !is_all;
    let what = match effective[..] {
        _ if is_all => format!("all {done}"),
        [] => format!("nothing {done}"),
        [only] => format!("{} {done}{}", only.change.variable, values(only)),
        _ => format!("{} variables {done}", effective.len()),
    };
    let after = if effective.is_empty() && !is_all { "" } else { after };
    let cycle = thousands(applied.cycle);
    let mut text = format!("{partition}: {what} in cycle {cycle}{after}\n");
    for effect in effective.iter().filter(|_| !in_line) {
        text.push_str(&format!("  {}{}\n", effect.change.variable, values(effect)));
    }
    text
}

/// Returns the value before and after, as far as they are known.
fn values(effect: &Effect) -> String {
    match (&effect.old, &effect.new) {
        (Some(old), Some(new)) => format!(" from {old} to {new}"),
        (None, Some(new)) => format!(" to {new}"),
        (Some(old), None) => format!(" from {old}"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(variable: &str, old: Option<&str>, without_effect: Option<WhyNoEffect>) -> Effect {
        let change = Change {
            kind: ChangeKind::Set,
            variable: variable.to_owned(),
            value: Some("3.5".to_owned()),
            allow_nan: false,
        };
        let (old, new) = (old.map(str::to_owned), Some("3.5".to_owned()));
        Effect { change, old, new, without_effect }
    }

    #[test]
    fn the_value_before_and_after_stand_with_what_was_done() {
        let told = |effects| text("axis", &Applied { cycle: 1001, effects }, &SET, false);
        let kp = || effect("P.Kp", Some("2.0"), None);
        assert_eq!(told(vec![kp()]), "axis: P.Kp set from 2.0 to 3.5 in cycle 1\u{202f}001\n");
        assert_eq!(
            told(vec![kp(), effect("P.Ki", None, None)]),
            "axis: 2 variables set in cycle 1\u{202f}001\n  P.Kp from 2.0 to 3.5\n  P.Ki to 3.5\n"
        );
        let held = effect("P.Kd", Some("1.0"), Some(WhyNoEffect::HeldByForce));
        assert_eq!(told(vec![held]), "axis: nothing set in cycle 1\u{202f}001\n");
        let all = text("axis", &Applied { cycle: 7, effects: vec![kp()] }, &RELEASED, true);
        assert_eq!(
            all,
            "axis: all released in cycle 7; it is as it was before the force\n  P.Kp from 2.0 to \
             3.5\n"
        );
    }
}
