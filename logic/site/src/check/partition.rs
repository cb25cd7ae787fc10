//! `[[partition]]` and `[partition.vcr]`: class and reservation.

use quietcore_record::class::Class;
use quietcore_units::{CpuId, CpuSet};
use quietcore_wording::either;

use crate::backend::Backend;
use crate::check::class::Classes;
use crate::check::{guest, monitor, program, unique};
use crate::raw::{RawCache, RawGuest, RawPartition, RawProgram, RawVcr};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{Cache, Network, Partition, Program, Vcr};

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
    let program = program_of(raw, class, path, collector);
    let monitor = program.as_ref().map(|it| monitor::check(raw, it.period, path, collector));
    let backend = raw.backend.unwrap_or_default();
    let accelerator = raw.guest.as_ref().and_then(|guest| guest.accelerator);
    let nothing = RawGuest::default();
    let guest_path = path.key("guest");
    let system = guest::system(raw.guest.as_ref().unwrap_or(&nothing), &guest_path, collector);
    guest_of(raw, backend, &guest_path, collector);
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

/// Reports what a partition chooses of its guest and its backend does not leave to it.
fn guest_of(raw: &RawPartition, backend: Backend, path: &Path, collector: &mut Collector<'_, '_>) {
    let Some(guest) = &raw.guest else { return };
    let declaration = backend.declaration();
    if !declaration.has_guest_choice {
        let having = either(Backend::words_where(|it| it.has_guest_choice));
        collector.refuse(
            path,
            format!("a partition of the backend `{backend}` leaves no choice of its machine"),
            format!("leave it out, or choose the backend {having}"),
        );
        return;
    }
    if guest.accelerator.is_some() && !declaration.has_accelerator {
        let having = either(Backend::words_where(|it| it.has_accelerator));
        collector.refuse_key(
            &path.key("accelerator"),
            format!("the processor runs every guest of the backend `{backend}`"),
            format!("leave it out, or choose the backend {having}"),
        );
    }
    if guest::is_from_disk(raw) && !backend.starts_disks() {
        let having = Backend::ALL.into_iter().filter(|it| it.starts_disks());
        let having = either(having.map(Backend::name));
        collector.refuse(
            &path.key("system"),
            format!("a guest of the backend `{backend}` does not start from a disk"),
            format!("choose the backend {having}, or another system"),
        );
    }
}

/// Checks the program of a partition, or what stands for one in a guest that has none.
fn program_of(
    raw: &RawPartition,
    class: Option<&Class>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Program> {
    let budget = raw.vcr.as_ref().and_then(|vcr| vcr.budget);
    let key = path.key("program");
    let from_disk = raw.guest.as_ref().filter(|_| guest::is_from_disk(raw));
    let Some(from_disk) = from_disk else {
        let nothing = RawProgram::default();
        let written = raw.program.as_ref().unwrap_or(&nothing);
        return program::check(written, class, budget, &key, collector);
    };
    guest::no_program(path, collector);
    let has_cycle = class.is_some_and(|class| class.cycle_ns.is_some());
    let written = guest::in_place_of_program(from_disk, has_cycle);
    let mut program = program::check(&written, class, budget, &key, collector)?;
    guest::complete(&mut program, from_disk);
    Some(program)
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
