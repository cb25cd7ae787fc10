//! Checks the reaction to a fault of a program, and the variables that it retains.

use quietcore_units::FaultReaction;

use crate::raw::{RawNumber, RawProgram, RawRestart};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{Literal, RESTART_LIMIT_DEFAULT, RESTART_WAIT_DEFAULT, Restart, Substitute};
use crate::words::quoted;

/// Keys that say something about the model and nothing about the probe.
const OF_A_MODEL: [&str; 13] = [
    "kind",
    "model_name",
    "oil",
    "mode",
    "watchdog",
    "sensitivity",
    "overrun",
    "on_fault",
    "substitute",
    "retain",
    "restart",
    "deadlines",
    "task",
];

/// Reports what has no effect where only the probe runs.
pub(super) fn needs_a_model(path: &Path, collector: &mut Collector<'_, '_>) {
    if collector.has(&path.key("model")) {
        return;
    }
    for key in OF_A_MODEL.map(|key| path.key(key)) {
        if collector.has(&key) {
            collector.refuse_key(
                &key,
                "it says how a program runs, and without a `model` only the probe does",
                "take it out, or name a `model`",
            );
        }
    }
}

/// Checks the reaction of the outputs to a fault, and the values that they take.
pub(super) fn on_fault(
    raw: &RawProgram,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<(FaultReaction, Vec<Substitute>)> {
    let (key, values) = (path.key("on_fault"), path.key("substitute"));
    if raw.on_fault.is_none() && collector.has(&key) {
        return None;
    }
    let on_fault = raw.on_fault.unwrap_or_default();
    if on_fault == FaultReaction::Substitute {
        return Some((on_fault, substitutes(raw, &values, collector)?));
    }
    if collector.has(&values) {
        collector.refuse_key(
            &values,
            "it has an effect under `on_fault = \"substitute\"` only",
            "take it out, or choose `substitute`",
        );
    }
    Some((on_fault, Vec::new()))
}

fn substitutes(
    raw: &RawProgram,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Vec<Substitute>> {
    let written = raw.substitute.iter().flatten();
    let substitutes: Vec<_> = written
        .map(|(variable, value)| Substitute {
            variable: variable.clone(),
            value: match *value {
                RawNumber::Truth(truth) => Literal::Truth(truth),
                RawNumber::Whole(whole) => Literal::Whole(whole),
                RawNumber::Real(real) => Literal::Real(real),
            },
        })
        .collect();
    // Where something is written and nothing is left of it, each mistake is reported already.
    if substitutes.is_empty() {
        if collector.document.is_empty(path) {
            collector.refuse(
                path,
                "no value is given",
                "write for example `substitute = { \"servo_Y.torque\" = 0.0 }`",
            );
        }
        return None;
    }
    Some(substitutes)
}

/// The variables that survive a restart.
pub(super) fn retain(
    raw: &RawProgram,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Vec<String>> {
    let path = path.key("retain");
    if raw.retain.is_none() && collector.has(&path) {
        return None;
    }
    let retain = raw.retain.clone().unwrap_or_default();
    for (index, variable) in retain.iter().enumerate() {
        if retain[..index].contains(variable) {
            collector.refuse(
                &path.index(index),
                format!("{} is named twice", quoted(variable)),
                "name it once",
            );
        }
    }
    Some(retain)
}

/// Returns the restarts of a program, or of a guest, as written or by default.
pub(in crate::check) fn restart(written: Option<&RawRestart>) -> Restart {
    Restart {
        limit: written.and_then(|restart| restart.limit).unwrap_or(RESTART_LIMIT_DEFAULT),
        wait: written.and_then(|restart| restart.wait).unwrap_or(RESTART_WAIT_DEFAULT),
    }
}
