//! `[[fieldbus.NAME.subdevice]]`: what stands on the line.

use crate::check::channel::fitting;
use crate::check::fieldbus::{Line, plant};
use crate::check::unique;
use crate::raw::{RawStartup, RawSubDevice};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{Device, DeviceIdentity, Startup, SubDevice};

/// Checks the SubDevices of a line. `None` where one is wrong and reported.
pub(super) fn check(line: &Line<'_>, collector: &mut Collector<'_, '_>) -> Option<Vec<SubDevice>> {
    let path = line.path.key("subdevice");
    let Some(raw) = &line.raw.subdevice else {
        if collector.has(&path) {
            return None;
        }
        if line.simulated == Some(true) {
            collector.remark(
                &line.path,
                "the simulated segment is empty; add a `[[fieldbus.NAME.subdevice]]` for each \
                 SubDevice of the line",
            );
        }
        return Some(Vec::new());
    };
    let named = raw.iter().enumerate().map(|(at, one)| (path.index(at), one.name.as_deref()));
    unique("SubDevice", named, collector);
    let found: Vec<_> = raw
        .iter()
        .enumerate()
        .map(|(index, raw)| subdevice(raw, line, &path.index(index), collector))
        .collect();
    plant::together(line, collector);
    found.into_iter().collect()
}

fn subdevice(
    raw: &RawSubDevice,
    line: &Line<'_>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<SubDevice> {
    let (device, plant) = (path.key("device"), path.key("plant"));
    if line.simulated == Some(true)
        && !collector.has(&device)
        && let Some((problem, remedy)) = line.unexplained(path, collector)
    {
        let problem = format!("the simulated segment must know what it is: {problem}");
        collector.refuse(&device, problem, remedy);
    }
    line.only_simulated(&plant, "a simulated plant needs the simulated segment", collector);
    pdos(raw, line, path, collector);
    let startup_path = path.key("startup");
    if raw.device == Some(Device::Coupler) && collector.has(&startup_path) {
        collector.refuse_key(
            &startup_path,
            "a `coupler` has no object dictionary",
            "take it out, or write it at the SubDevice that is meant",
        );
    }
    let written = raw.startup.as_deref().unwrap_or_default();
    let startup: Vec<_> = written
        .iter()
        .enumerate()
        .map(|(index, raw)| startup(raw, &startup_path.index(index), collector))
        .collect();
    let connect = plant::check(raw, line, path, collector);
    let identity = match &raw.identity {
        None if collector.has(&path.key("identity")) => return None,
        None => None,
        Some(raw) => {
            let revision = raw.revision;
            Some(DeviceIdentity { vendor: raw.vendor?, product: raw.product?, revision })
        }
    };
    Some(SubDevice {
        name: raw.name.clone()?,
        device: raw.device,
        identity,
        pdos: raw.pdos.clone(),
        startup: startup.into_iter().collect::<Option<_>>()?,
        plant: raw.plant,
        connect: connect?,
    })
}

/// Reports a choice of PDOs that no ESI file can explain.
fn pdos(raw: &RawSubDevice, line: &Line<'_>, path: &Path, collector: &mut Collector<'_, '_>) {
    let key = path.key("pdos");
    if !collector.has(&key) {
        return;
    }
    if let Some(device) = raw.device {
        let problem = format!("a `{device}` is built in and has the PDOs that it has");
        collector.refuse_key(&key, problem, "take it out, or the `device`");
    } else if line.simulated != Some(true)
        && let Some((problem, remedy)) = line.unexplained(path, collector)
    {
        // On a simulated segment the SubDevice itself is reported.
        collector.refuse_key(&key, format!("its PDOs are not known: {problem}"), remedy);
    }
}

fn startup(raw: &RawStartup, path: &Path, collector: &mut Collector<'_, '_>) -> Option<Startup> {
    let value = raw.value?;
    let value_type = raw.value_type?;
    let value = fitting(Some(value), value_type, &path.key("value"), collector)?;
    Some(Startup { index: raw.index?, sub: raw.sub.unwrap_or(0), value_type, value })
}
