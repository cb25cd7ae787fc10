//! `[[fieldbus.NAME.map]]`: which variable is which entry of the process image.

use std::collections::BTreeMap;

use crate::check::fieldbus::Line;
use crate::raw::{RawMapping, RawSubDevice};
use crate::reading::collector::Collector;
use crate::reading::format::parsed_entry;
use crate::reading::place::Path;
use crate::site::{Device, Entry, Mapping};
use crate::words::instead;

/// Checks the mappings of a line. `None` where one is wrong and reported.
pub(super) fn check(line: &Line<'_>, collector: &mut Collector<'_, '_>) -> Option<Vec<Mapping>> {
    let path = line.path.key("map");
    let Some(raw) = &line.raw.map else {
        return if collector.has(&path) { None } else { Some(Vec::new()) };
    };
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut whole = true;
    let mut map = Vec::new();
    for (index, raw) in raw.iter().enumerate() {
        let path = path.index(index);
        if let (Some(variable), Some(entry)) = (&raw.variable, &raw.entry)
            && let Some(first) = seen.insert((variable, entry), index)
        {
            let first = collector.document.place(&line.path.key("map").index(first)).position.line;
            collector.refuse(
                &path.key("variable"),
                format!("`{variable}` is mapped to `{entry}` already, on line {first}"),
                "keep one of the two",
            );
        }
        match mapping(raw, line, &path, collector) {
            Some(mapping) => map.push((index, mapping)),
            None => whole = false,
        }
    }
    one_writer(&map, line, collector);
    whole.then(|| map.into_iter().map(|(_, mapping)| mapping).collect())
}

/// Reports outputs that two variables write, and variables that two inputs write.
fn one_writer(map: &[(usize, Mapping)], line: &Line<'_>, collector: &mut Collector<'_, '_>) {
    let path = line.path.key("map");
    let mut outputs: BTreeMap<(usize, u16, u8), usize> = BTreeMap::new();
    let mut inputs: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, mapping) in map {
        let Some((is_output, object)) = described(mapping, line) else { continue };
        let (first, path, problem) = if is_output {
            let first = outputs.insert((mapping.subdevice, object.0, object.1), *index);
            (first, path.index(*index).key("entry"), "this output has another variable already")
        } else {
            let first = inputs.insert(&mapping.variable, *index);
            (first, path.index(*index).key("variable"), "this variable has another input already")
        };
        // The same pair twice is reported by the caller.
        let first = first.filter(|first| {
            let (one, other) = (&line.raw.map.as_deref().unwrap_or_default()[*first], index);
            let other = &line.raw.map.as_deref().unwrap_or_default()[*other];
            (&one.variable, &one.entry) != (&other.variable, &other.entry)
        });
        if let Some(first) = first {
            let at = collector.document.place(&line.path.key("map").index(first)).position.line;
            collector.refuse(&path, format!("{problem}, on line {at}"), "keep one of the two");
        }
    }
}

/// Returns if the entry of a mapping is an output, and its object; `None` if no `device` says so.
fn described(mapping: &Mapping, line: &Line<'_>) -> Option<(bool, (u16, u8))> {
    let device = line.raw.subdevice.as_deref()?.get(mapping.subdevice)?.device?;
    let description = quietcore_segment::describe(device.name()).ok()?;
    let is_meant = |one: &&quietcore_segment::Entry| match &mapping.entry {
        Entry::Named(name) => one.name == *name,
        Entry::Object { index, sub } => (one.index, one.subindex) == (*index, *sub),
    };
    let output = description.outputs.iter().find(is_meant);
    let entry = output.or(description.inputs.iter().find(is_meant))?;
    Some((output.is_some(), (entry.index, entry.subindex)))
}

fn mapping(
    raw: &RawMapping,
    line: &Line<'_>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Mapping> {
    let scale = raw.scale.unwrap_or(1.0);
    if scale == 0.0 {
        collector.refuse(
            &path.key("scale"),
            "a scale of 0 loses the value",
            "write another number, or leave it out for 1",
        );
    }
    let entry = raw.entry.as_deref();
    let found = entry.and_then(|entry| self::entry(entry, line, &path.key("entry"), collector));
    let (subdevice, entry) = found?;
    Some(Mapping {
        variable: raw.variable.clone()?,
        subdevice,
        entry,
        scale,
        offset: raw.offset.unwrap_or(0.0),
    })
}

/// The SubDevice and the entry that a text such as `drive.torque` means.
fn entry(
    text: &str,
    line: &Line<'_>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<(usize, Entry)> {
    let (name, entry) = text.split_once('.')?;
    let position = position(name, line, path, collector)?;
    let entry = parsed_entry(entry)?;
    match line.raw.subdevice.as_deref()?.get(position)?.device {
        Some(Device::Coupler) => {
            collector.refuse(
                path,
                format!("`{name}` is a coupler and has no inputs or outputs"),
                "name an entry of another SubDevice",
            );
            return None;
        }
        Some(device) => known(&entry, device, path, collector)?,
        None => {
            let subdevice = line.path.key("subdevice").index(position);
            // A wrong interface or device is reported.
            if line.simulated.is_none() || collector.has(&subdevice.key("device")) {
                return None;
            }
            if let Some((problem, remedy)) = line.unexplained(&subdevice, collector) {
                // A simulated SubDevice and a choice of PDOs are reported for the same reason.
                if line.simulated == Some(false) && !collector.has(&subdevice.key("pdos")) {
                    let problem = format!("the entries of `{name}` are not known: {problem}");
                    collector.refuse(path, problem, remedy);
                }
                return None;
            }
        }
    }
    Some((position, entry))
}

/// Reports an entry that a built-in SubDevice does not have.
fn known(
    entry: &Entry,
    device: Device,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<()> {
    let description = quietcore_segment::describe(device.name()).ok()?;
    let all = || description.inputs.iter().chain(&description.outputs);
    let (found, remedy) = match entry {
        Entry::Named(name) => (
            all().any(|one| one.name == *name),
            instead(name, all().map(|one| &*one.name).collect::<Vec<_>>()),
        ),
        Entry::Object { index, sub } => (
            all().any(|one| (one.index, one.subindex) == (*index, *sub)),
            "write an object of its process data, or the name of the entry".to_owned(),
        ),
    };
    if !found {
        collector.refuse(path, format!("a `{device}` has no entry `{entry}`"), remedy);
        return None;
    }
    Some(())
}

/// The position of the SubDevice of this name; reports one that doesn't exist.
pub(super) fn position(
    name: &str,
    line: &Line<'_>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<usize> {
    let subdevices = line.raw.subdevice.as_deref();
    if subdevices.is_none() && collector.has(&line.path.key("subdevice")) {
        return None;
    }
    let subdevices: &[RawSubDevice] = subdevices.unwrap_or_default();
    let found = subdevices.iter().position(|one| one.name.as_deref() == Some(name));
    if found.is_none() {
        let known: Vec<_> = subdevices.iter().filter_map(|one| one.name.as_deref()).collect();
        let remedy = match known.as_slice() {
            [] => "add it as a `[[fieldbus.NAME.subdevice]]`".to_owned(),
            known => instead(name, known.iter().copied()),
        };
        collector.refuse(path, format!("there is no SubDevice `{name}` on this line"), remedy);
    }
    found
}
