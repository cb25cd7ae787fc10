//! `[[partition]]` and `[partition.vcr]`: class and reservation.

use quietcore_units::{CpuId, CpuSet};
use quietcore_wording::either;

use crate::backend::Backend;
use crate::check::class::Classes;
use crate::check::{monitor, program, unique};
use crate::raw::{GuestSystemWord, RawCache, RawGuest, RawPartition, RawProgram, RawVcr};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{Cache, GuestSystem, Network, Partition, Vcr};

/// The names of all partitions, right or wrong otherwise; reports those that are there twice.
pub(super) fn names(raw: &[RawPartition], collector: &mut Collector<'_, '_>) -> Vec<String> {
    let path = |index| Path::top().key("partition").index(index);
    let named = raw.iter().enumerate().map(|(index, one)| (path(index), one.name.as_deref()));
    unique("partition", named, collector);
    raw.iter().filter_map(|partition| partition.name.clone()).collect()
}

/// Checks each partition by itself and returns those that are right.
pub(super) fn check(
    raw: &[RawPartition],
    classes: &Classes,
    collector: &mut Collector<'_, '_>,
) -> Vec<Partition> {
    let mut partitions = Vec::new();
    for (index, raw) in raw.iter().enumerate() {
        let path = Path::top().key("partition").index(index);
        partitions.extend(partition(raw, classes, &path, collector));
    }
    partitions
}

fn partition(
    raw: &RawPartition,
    classes: &Classes,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Partition> {
    let class =
        raw.class.as_deref().and_then(|name| classes.find(name, &path.key("class"), collector));
    let vcr = raw.vcr.as_ref().and_then(|raw| vcr(raw, &path.key("vcr"), collector));
    let nothing = RawProgram::default();
    let program = raw.program.as_ref().unwrap_or(&nothing);
    let budget = raw.vcr.as_ref().and_then(|vcr| vcr.budget);
    let program = program::check(program, class, budget, &path.key("program"), collector);
    let monitor = program.as_ref().map(|it| monitor::check(raw, it.period, path, collector));
    let backend = raw.backend.unwrap_or_default();
    let accelerator = raw.guest.as_ref().and_then(|guest| guest.accelerator);
    let nothing = RawGuest::default();
    let guest_path = path.key("guest");
    let system = system(raw.guest.as_ref().unwrap_or(&nothing), &guest_path, collector);
    if raw.guest.is_some() && !backend.declaration().has_guest_choice {
        let having = either(Backend::words_where(|it| it.has_guest_choice));
        collector.refuse(
            &guest_path,
            format!("a partition of the backend `{backend}` leaves no choice of its machine"),
            format!("leave it out, or choose the backend {having}"),
        );
    }
    Some(Partition {
        name: raw.name.clone()?,
        class: class?.clone(),
        backend,
        criticality: raw.criticality.unwrap_or_default(),
        vcr: vcr?,
        accelerator: accelerator.unwrap_or_default(),
        system: system?,
        program: program?,
        monitor: monitor?,
    })
}

/// Reads the system in a guest: Linux has an image, and nothing else has one.
fn system(raw: &RawGuest, path: &Path, collector: &mut Collector<'_, '_>) -> Option<GuestSystem> {
    match (raw.system.unwrap_or_default(), &raw.image) {
        (GuestSystemWord::Osek, None) => Some(GuestSystem::Osek),
        (GuestSystemWord::Linux, Some(image)) => Some(GuestSystem::Linux { image: image.clone() }),
        (GuestSystemWord::Osek, Some(_)) => {
            collector.refuse(
                &path.key("image"),
                "only a Linux guest starts from an image",
                "write `system = \"linux\"` beside it, or leave it out",
            );
            None
        }
        (GuestSystemWord::Linux, None) => {
            collector.refuse(
                path,
                "a Linux guest starts from an image, and none is named",
                "write `image = \"FOLDER\"`; `quietcore guest build --out FOLDER` makes one",
            );
            None
        }
    }
}

fn vcr(raw: &RawVcr, path: &Path, collector: &mut Collector<'_, '_>) -> Option<Vcr> {
    let network = raw.network.as_ref();
    let cache_path = path.key("cache");
    let cache = raw.cache.as_ref().and_then(|raw| cache(raw, &cache_path, collector));
    Some(Vcr {
        cpus: raw.cpus?.0,
        budget_percent: raw.budget,
        memory: raw.memory,
        cache,
        memory_bandwidth_percent: raw.memory_bandwidth,
        network: network
            .and_then(|network| Some(Network { rate: network.rate?, burst: network.burst })),
    })
}

fn cache(raw: &RawCache, path: &Path, collector: &mut Collector<'_, '_>) -> Option<Cache> {
    let (ways, colours) = (path.key("ways"), path.key("colours"));
    match (collector.has(&ways), collector.has(&colours)) {
        (true, true) => collector.refuse(
            &colours,
            "ways and colours divide the same cache in two ways",
            "keep one of the two",
        ),
        (false, false) => {
            collector.refuse(
                path,
                "it is empty",
                "write `{ ways = 4 }` or `{ colours = \"0-5\" }`",
            );
        }
        _ => {}
    }
    if let Some(ways) = raw.ways {
        return Some(Cache::Ways(ways));
    }
    let list: CpuSet = raw.colours.as_ref()?.parse().ok()?;
    if list.is_empty() {
        collector.refuse(&colours, "no colour is written", "write for example `\"0-5\"`");
    }
    Some(Cache::Colours(list.iter().map(CpuId::get).collect()))
}
