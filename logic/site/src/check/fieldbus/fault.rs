//! `[[fieldbus.NAME.fault]]`: what goes wrong on a simulated segment.

use quietcore_units::Nanos;

use crate::check::fieldbus::{Line, mapping};
use crate::raw::RawFault;
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{Fault, FaultEffect, FaultKind};

/// Time for which the power is off unless the site file says otherwise.
const POWER_OFF_DEFAULT: Nanos = Nanos::from_millis(500);
/// The AL status code of a drop to SAFE-OP: the watchdog of the outputs (ETG.1000.6, table 11).
const DROP_CODE_DEFAULT: u16 = 0x001b;
/// The error code of an emergency: a general error (ETG.1000.6, 5.6.4).
const EMERGENCY_CODE_DEFAULT: u16 = 0x1000;

/// Checks the faults of a line. `None` where one is wrong and reported.
pub(super) fn check(line: &Line<'_>, collector: &mut Collector<'_, '_>) -> Option<Vec<Fault>> {
    let path = line.path.key("fault");
    line.only_simulated(&path, "faults are made by the simulated segment", collector);
    let Some(raw) = &line.raw.fault else {
        return if collector.has(&path) { None } else { Some(Vec::new()) };
    };
    let found: Vec<_> = raw
        .iter()
        .enumerate()
        .map(|(index, raw)| fault(raw, line, &path.index(index), collector))
        .collect();
    found.into_iter().collect()
}

fn fault(
    raw: &RawFault,
    line: &Line<'_>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Fault> {
    let kind = raw.kind?;
    keys(kind, path, collector);
    let subdevice = subdevice(raw, kind, line, path, collector);
    let late = path.key("delay");
    if kind == FaultKind::LateFrame && !collector.has(&late) {
        collector.refuse(
            &late,
            "a `late-frame` needs the `delay`",
            "write for example `delay = \"2 ms\"`",
        );
    }
    let chance_path = path.key("chance");
    if kind.is_of_frames() && collector.has(&chance_path) && !collector.has(&path.key("duration")) {
        collector.refuse(
            &chance_path,
            "without a `duration` one frame is meant, and it is struck for certain",
            "write for example `duration = \"10 s\"`, or take it out",
        );
    }
    let parts_per_million = (raw.chance.unwrap_or(1.0) * 1e6).ceil() as u32;
    let what = match kind {
        FaultKind::LostFrame => FaultEffect::LostFrame { parts_per_million },
        FaultKind::CorruptFrame => FaultEffect::CorruptFrame { parts_per_million },
        FaultKind::LateFrame => FaultEffect::LateFrame { parts_per_million, delay: raw.delay? },
        FaultKind::DuplicateFrame => FaultEffect::DuplicateFrame { parts_per_million },
        FaultKind::Unplug => FaultEffect::Unplug { subdevice: subdevice? },
        FaultKind::PowerCycle => FaultEffect::PowerCycle { subdevice: subdevice? },
        FaultKind::StuckState => FaultEffect::StuckState { subdevice: subdevice? },
        FaultKind::StateDrop => FaultEffect::StateDrop {
            subdevice: subdevice?,
            code: raw.code.unwrap_or(DROP_CODE_DEFAULT),
        },
        FaultKind::Emergency => FaultEffect::Emergency {
            subdevice: subdevice?,
            code: raw.code.unwrap_or(EMERGENCY_CODE_DEFAULT),
        },
        FaultKind::MailboxSilent => FaultEffect::MailboxSilent { subdevice: subdevice? },
        FaultKind::WorkingCounter => FaultEffect::WorkingCounter {
            subdevice: subdevice?,
            change: change(raw, path, collector),
        },
    };
    let duration = match kind {
        FaultKind::PowerCycle => Some(raw.duration.unwrap_or(POWER_OFF_DEFAULT)),
        _ => raw.duration,
    };
    Some(Fault { at: raw.at?, duration, what })
}

/// Reports keys that this kind of fault does not have.
fn keys(kind: FaultKind, path: &Path, collector: &mut Collector<'_, '_>) {
    let has = [
        ("subdevice", !kind.is_of_frames()),
        ("duration", !kind.is_once()),
        ("chance", kind.is_of_frames()),
        ("delay", kind == FaultKind::LateFrame),
        ("change", kind == FaultKind::WorkingCounter),
        ("code", kind.is_once()),
    ];
    for (key, _) in has.into_iter().filter(|(_, has)| !has) {
        let path = path.key(key);
        if collector.has(&path) {
            collector.refuse_key(
                &path,
                format!("a fault of kind `{kind}` has no `{key}`"),
                "take it out, or choose another `kind`",
            );
        }
    }
}

/// The SubDevice where it strikes; reports one that is missing or doesn't exist.
fn subdevice(
    raw: &RawFault,
    kind: FaultKind,
    line: &Line<'_>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<usize> {
    if kind.is_of_frames() {
        return None;
    }
    let path = path.key("subdevice");
    match &raw.subdevice {
        Some(name) => mapping::position(name, line, &path, collector),
        None => {
            if !collector.has(&path) {
                collector.refuse(
                    &path,
                    format!("a fault of kind `{kind}` strikes one SubDevice"),
                    "write its name, for example `subdevice = \"drive\"`",
                );
            }
            None
        }
    }
}

fn change(raw: &RawFault, path: &Path, collector: &mut Collector<'_, '_>) -> i16 {
    let change = raw.change.unwrap_or(-1);
    if change == 0 {
        let remedy = "write another number, such as -1";
        collector.refuse(&path.key("change"), "a change of 0 changes nothing", remedy);
    }
    change
}
