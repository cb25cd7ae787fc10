//! `[fieldbus.NAME]`: who drives it, what is on the line, and what is mapped.

mod fault;
mod mapping;
mod plant;
mod subdevice;

use std::collections::BTreeMap;

use quietcore_wording::either;

use crate::backend::Backend;
use crate::check::channel::exists;
use crate::raw::RawFieldbus;
use crate::reading::collector::Collector;
use crate::reading::format::is_card;
use crate::reading::place::Path;
use crate::site::{Fieldbus, Interface, Partition};
use crate::words::exact;

/// The interface that is the built-in simulated segment.
const SIMULATED: &str = "sim";
const LOST_DEFAULT: u32 = 3;
const SEED_DEFAULT: u64 = 1;

/// The fieldbus and its SubDevices, as all checks of one fieldbus need them.
struct Line<'l> {
    raw: &'l RawFieldbus,
    path: Path,
    /// `None` where the interface is missing or wrong.
    simulated: Option<bool>,
}

impl Line<'_> {
    /// Says why nothing explains the process data of a SubDevice without a `device`, and the
    /// remedy; `None` where an ESI file can.
    fn unexplained(
        &self,
        subdevice: &Path,
        collector: &Collector<'_, '_>,
    ) -> Option<(&'static str, &'static str)> {
        if !collector.has(&self.path.key("esi")) {
            Some((
                "it has no `device`, and the fieldbus no `esi`",
                "name the ESI file of its vendor in the fieldbus's `esi`, or add its `device`",
            ))
        } else if !collector.has(&subdevice.key("identity")) {
            Some((
                "it has no `identity` by which it is found in the ESI files",
                "add `identity = { vendor = …, product = … }`, as its ESI file has them",
            ))
        } else {
            None
        }
    }

    /// Reports a key that only a simulated segment can have.
    fn only_simulated(&self, path: &Path, what: &str, collector: &mut Collector<'_, '_>) {
        if self.simulated == Some(false) && collector.has(path) {
            collector.refuse_key(
                path,
                format!("{what}, and this is a network interface"),
                "take it out, or write `interface = \"sim\"`",
            );
        }
    }
}

/// Checks the fieldbus segments and returns those that are right. `names` are those of all
/// partitions, `partitions` those that are right themselves.
pub(super) fn check(
    raw: &BTreeMap<String, RawFieldbus>,
    names: &[String],
    partitions: &[Partition],
    collector: &mut Collector<'_, '_>,
) -> Vec<Fieldbus> {
    let mut users: BTreeMap<&str, &str> = BTreeMap::new();
    let mut fieldbuses = Vec::new();
    for (name, raw) in raw {
        let path = Path::top().key("fieldbus").key(name);
        exists(raw.partition.as_deref(), names, &path.key("partition"), collector);
        let interface = raw.interface.as_deref();
        if let Some(interface) = interface.filter(|interface| *interface != SIMULATED)
            && let Some(other) = users.insert(interface, name)
        {
            collector.refuse(
                &path.key("interface"),
                format!("`{interface}` is also the interface of fieldbus `{other}`"),
                "give each segment an interface of its own",
            );
        }
        let partition = partitions.iter().find(|one| raw.partition.as_ref() == Some(&one.name));
        if let Some(partition) = partition {
            driven(raw, partition, &path, collector);
        }
        let simulated = interface.map(|interface| interface == SIMULATED);
        let line = Line { raw, path, simulated };
        fieldbuses.extend(fieldbus(name, &line, collector));
    }
    fieldbuses
}

fn fieldbus(name: &str, line: &Line<'_>, collector: &mut Collector<'_, '_>) -> Option<Fieldbus> {
    let raw = line.raw;
    let subdevices = subdevice::check(line, collector);
    let map = mapping::check(line, collector);
    let faults = fault::check(line, collector);
    line.only_simulated(&line.path.key("seed"), "a seed is for simulated faults", collector);
    Some(Fieldbus {
        name: name.to_owned(),
        partition: raw.partition.clone()?,
        interface: match raw.interface.as_deref()? {
            SIMULATED => Interface::Simulated,
            card if is_card(card) => Interface::Card(card.to_owned()),
            network => Interface::Network(network.to_owned()),
        },
        cycle: raw.cycle?,
        distributed_clocks: raw.distributed_clocks.unwrap_or(true),
        lost_after: raw.lost.unwrap_or(LOST_DEFAULT),
        seed: raw.seed.unwrap_or(SEED_DEFAULT),
        esi: raw.esi.clone().unwrap_or_default(),
        subdevices: subdevices?,
        map: map?,
        faults: faults?,
    })
}

/// Reports what the partition can't serve: a cycle that none of its tasks has, and variables
/// without a program.
fn driven(
    raw: &RawFieldbus,
    partition: &Partition,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) {
    let program = &partition.program;
    let backend = partition.backend;
    if !partition.declaration().drives_fieldbus {
        let driving = either(Backend::words_where(|it| it.drives_fieldbus));
        collector.refuse(
            &path.key("partition"),
            format!("partition `{}` of the backend `{backend}` drives no fieldbus", partition.name),
            format!("choose the backend {driving} for it"),
        );
    }
    if raw.interface.as_deref().is_some_and(is_card) && !partition.declaration().drives_card {
        let driving = either(Backend::words_where(|it| it.drives_card));
        let noun = partition.declaration().noun;
        collector.refuse(
            &path.key("interface"),
            format!("partition `{}`, a {noun}, drives no network card itself", partition.name),
            format!("write the network interface of the card, or choose the backend {driving}"),
        );
    }
    let mut periods: Vec<_> =
        program.tasks.iter().filter_map(|task| task.release.rule.period()).collect();
    periods.sort_unstable();
    periods.dedup();
    if let Some(cycle) = raw.cycle.filter(|cycle| !periods.contains(cycle)) {
        let (name, cycle) = (&partition.name, exact(cycle));
        let listed: Vec<_> = periods.iter().map(|period| exact(*period)).collect();
        let remedy = match listed.as_slice() {
            [] => "give the partition a cyclic task of that period".to_owned(),
            [only] => format!("write `{only}`, its period"),
            several => format!("write one of its periods: {}", several.join(", ")),
        };
        collector.refuse(
            &path.key("cycle"),
            format!("no cyclic task of partition `{name}` is released every {cycle}"),
            remedy,
        );
    }
    let map = path.key("map");
    if program.model.is_none() && collector.has(&map) {
        collector.refuse_key(
            &map,
            format!("partition `{}` has no `model`, so it has no variables", partition.name),
            "name a `model` in its `[partition.program]`, or take the mappings out",
        );
    }
}
