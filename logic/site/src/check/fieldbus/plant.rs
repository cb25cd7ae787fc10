//! Simulated plants: what can be behind a SubDevice, and which channel is which signal.

use std::collections::BTreeMap;

use quietcore_segment::SignalDirection;
use quietcore_segment::plant::Connections;

use crate::check::fieldbus::Line;
use crate::raw::RawSubDevice;
use crate::reading::collector::Collector;
use crate::reading::format::parsed_entry;
use crate::reading::place::Path;
use crate::site::{Device, Entry, PlantKind, Wire};
use crate::words::instead;

/// Checks the plant of one SubDevice and how it is connected. `None` where that is wrong and
/// reported.
pub(super) fn check(
    raw: &RawSubDevice,
    line: &Line<'_>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Vec<Wire>> {
    let (connect, plant) = (path.key("connect"), path.key("plant"));
    if line.simulated != Some(true) || collector.has(&plant) != raw.plant.is_some() {
        return raw.connect.is_none().then(Vec::new);
    }
    let Some(kind) = raw.plant else {
        if collector.has(&connect) {
            collector.refuse_key(
                &connect,
                "without a plant there is nothing to connect",
                "take it out, or write for example `plant = \"tank\"`",
            );
        }
        return Some(Vec::new());
    };
    let Some(device) = raw.device else {
        // A wrong device, or one that nothing describes, is reported.
        let is_reported =
            collector.has(&path.key("device")) || line.unexplained(path, collector).is_some();
        return if is_reported { None } else { of_file(raw, kind, path, collector) };
    };
    if !device.reaches(kind) {
        collector.refuse(
            &plant,
            format!("a `{kind}` can't be behind a `{device}`"),
            "put it behind terminals with digital or analogue inputs and outputs",
        );
        return None;
    }
    if !device.is_terminal() {
        if collector.has(&connect) {
            collector.refuse_key(
                &connect,
                format!("a `{device}` is connected to its axis by itself"),
                "take it out",
            );
        }
        return Some(Vec::new());
    }
    let written = raw.connect.as_ref().filter(|wires| !wires.is_empty());
    let Some(written) = written else {
        if collector.document.is_empty(&connect) {
            collector.refuse(
                &connect,
                "nothing says which channel is which signal of the plant",
                example(device, kind),
            );
        }
        return None;
    };
    wires(written, device, kind, &connect, collector)
}

/// The wires of a device of an ESI file. Its entries, and which of them are outputs, are known when
/// the file is read.
fn of_file(
    raw: &RawSubDevice,
    kind: PlantKind,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Vec<Wire>> {
    let (connect, plant) = (path.key("connect"), path.key("plant"));
    if kind == PlantKind::ServoAxis {
        collector.refuse(
            &plant,
            "a `servo-axis` can't be behind a device of an ESI file: the drive and the terminals \
             that share its axis are built in",
            "give the SubDevice a `device`, such as `servo-drive`, or take the plant out",
        );
        return None;
    }
    let plant = quietcore_segment::plant::by_name(kind.name())?.connections();
    let signals = [plant.actuators, plant.sensors];
    let known: Vec<_> = signals.into_iter().flatten().map(|signal| signal.name).collect();
    let Some(written) = raw.connect.as_ref().filter(|wires| !wires.is_empty()) else {
        if collector.document.is_empty(&connect) {
            let signal = known.first().unwrap_or(&"");
            collector.refuse(
                &connect,
                "nothing says which entry is which signal of the plant",
                format!("write for example `connect = {{ \"Channel 1.Value\" = \"{signal}\" }}`"),
            );
        }
        return None;
    };
    let mut wires = Vec::new();
    for (channel, signal) in written {
        if known.contains(&signal.as_str()) {
            wires.push(Wire { channel: parsed_entry(channel)?, signal: signal.clone() });
        } else {
            let problem = format!("a `{kind}` has no signal `{signal}`");
            collector.refuse(&connect.key(channel), problem, instead(signal, known.clone()));
        }
    }
    (wires.len() == written.len()).then_some(wires)
}

/// A connection of this terminal with this plant, to be written.
fn example(device: Device, kind: PlantKind) -> String {
    let channel = quietcore_segment::describe(device.name())
        .ok()
        .and_then(|description| description.signals.first().cloned());
    let plant = quietcore_segment::plant::by_name(kind.name()).map(|plant| plant.connections());
    let Some((channel, plant)) = channel.zip(plant) else {
        return "name a channel and a signal of the plant".to_owned();
    };
    // A switch belongs to a terminal that switches.
    let is_switch = channel.unit.is_empty();
    let signals = match channel.direction {
        SignalDirection::Actuator => plant.actuators,
        SignalDirection::Sensor => plant.sensors,
    };
    let like = signals.iter().find(|signal| signal.unit.is_empty() == is_switch);
    match like.or_else(|| signals.first()) {
        Some(signal) => {
            let (channel, signal) = (channel.name, signal.name);
            format!("write for example `connect = {{ {channel} = \"{signal}\" }}`")
        }
        None => format!("put another device there: a `{kind}` has no signal for it"),
    }
}

fn wires(
    written: &BTreeMap<String, String>,
    device: Device,
    kind: PlantKind,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Vec<Wire>> {
    let description = quietcore_segment::describe(device.name()).ok()?;
    let plant = quietcore_segment::plant::by_name(kind.name())?.connections();
    let mut wires = Some(Vec::new());
    for (channel, signal) in written {
        let path = path.key(channel);
        let found = description.signals.iter().find(|one| one.name == **channel);
        let Some(found) = found else {
            let known: Vec<_> = description.signals.iter().map(|one| &*one.name).collect();
            let problem = format!("a `{device}` has no channel `{channel}`");
            collector.refuse_key(&path, problem, instead(channel, known));
            wires = None;
            continue;
        };
        let (what, known) = signals(&plant, found.direction);
        if !known.contains(&signal.as_str()) {
            let problem = format!("a `{kind}` has no {what} `{signal}`");
            collector.refuse(&path, problem, instead(signal, known));
            wires = None;
            continue;
        }
        let wire = Wire { channel: Entry::Named(channel.clone()), signal: signal.clone() };
        wires = wires.map(|mut wires| {
            wires.push(wire);
            wires
        });
    }
    wires
}

/// The signals of a plant that a channel of this direction can be connected to.
fn signals(plant: &Connections, direction: SignalDirection) -> (&'static str, Vec<&'static str>) {
    let (what, signals) = match direction {
        SignalDirection::Actuator => ("actuator", plant.actuators),
        SignalDirection::Sensor => ("sensor", plant.sensors),
    };
    (what, signals.iter().map(|signal| signal.name).collect())
}

/// Reports what one SubDevice can't know of the others: terminals of an axis without a drive before
/// them, and actuators with two outputs.
pub(super) fn together(line: &Line<'_>, collector: &mut Collector<'_, '_>) {
    let path = line.path.key("subdevice");
    let mut moved: BTreeMap<(PlantKind, &str), (usize, &str)> = BTreeMap::new();
    let mut drives = 0;
    for (index, raw) in line.raw.subdevice.iter().flatten().enumerate() {
        let path = path.index(index);
        let (Some(device), Some(kind)) = (raw.device, raw.plant) else { continue };
        if device == Device::ServoDrive {
            drives += 1;
            moved.retain(|(other, _), _| *other != kind);
        } else if kind == PlantKind::ServoAxis && drives == 0 && device.is_terminal() {
            collector.refuse(
                &path.key("plant"),
                "no drive with a `servo-axis` is before it on the line",
                "put it behind the drive whose axis it is connected to",
            );
        }
        let is_output = matches!(device, Device::DigitalOutput8 | Device::AnalogOutput4);
        for (channel, signal) in raw.connect.iter().flatten().filter(|_| is_output) {
            let Some((other, first)) = moved.insert((kind, signal), (index, channel)) else {
                continue;
            };
            let line =
                collector.document.place(&line.path.key("subdevice").index(other)).position.line;
            collector.refuse(
                &path.key("connect").key(channel),
                format!(
                    "the actuator `{signal}` is moved by `{first}` of the SubDevice on line {line}"
                ),
                "connect it once",
            );
        }
    }
}
