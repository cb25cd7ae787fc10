//! Checks the owner of each CPU: housekeeping and partitions.

use quietcore_units::CpuSet;

use crate::raw::{RawControl, RawPartition, RawSite};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::Control;

/// Checks that each CPU has one owner, or owners that share it by budget or are measured one after
/// the other. Returns the housekeeping CPUs as written.
pub(super) fn check(raw: &RawSite, collector: &mut Collector<'_, '_>) -> Option<CpuSet> {
    let housekeeping = raw.host.as_ref().and_then(|host| host.housekeeping);
    let housekeeping = housekeeping.map(|cpus| cpus.0);
    let partitions = raw.partition.as_deref().unwrap_or_default();
    let takes_turns = raw.campaign.as_ref().and_then(|it| it.alone).unwrap_or_default();
    for (index, partition) in partitions.iter().enumerate() {
        let Some(cpus) = cpus_of(partition) else {
            continue;
        };
        let path = Path::top().key("partition").index(index).key("vcr").key("cpus");
        if cpus.is_empty() {
            collector.refuse(&path, "the partition has no CPU", "write for example `cpus = [1]`");
        }
        let both = cpus.intersection(&housekeeping.unwrap_or_default());
        if !both.is_empty() {
            collector.refuse(
                &path,
                format!("CPU {both} is also a housekeeping CPU"),
                "take it out of one of the two; a CPU has one owner",
            );
        }
        if cpus.iter().any(|cpu| cpu.get() == 0) {
            collector.remark(
                &path,
                "CPU 0 does work of the kernel that no other CPU does, such as timekeeping; \
                 another CPU is usually quieter",
            );
        }
        if !takes_turns {
            shared_with(partitions, index, &cpus, &path, collector);
        }
    }
    if !takes_turns {
        overcommitted(partitions, collector);
    }
    if housekeeping.is_some_and(|cpus| cpus.is_empty()) {
        collector.remark(
            &Path::top().key("host").key("housekeeping"),
            "no CPU is kept for housekeeping: everything else on this machine runs beside the \
             partitions",
        );
    }
    housekeeping
}

/// The controls that the site names, each once.
pub(super) fn controls(raw: &RawSite) -> Vec<Control> {
    let named = raw.host.as_ref().and_then(|host| host.controls.as_deref());
    each_once(named.unwrap_or_default())
}

/// The controls of a list, each once and in the order in which they are applied.
pub(super) fn each_once(named: &[RawControl]) -> Vec<Control> {
    let named: Vec<Control> = named.iter().flat_map(|it| it.0.clone()).collect();
    Control::ALL.into_iter().filter(|control| named.contains(control)).collect()
}

fn cpus_of(partition: &RawPartition) -> Option<CpuSet> {
    Some(partition.vcr.as_ref()?.cpus?.0)
}

/// Reports the CPUs that earlier partitions claim, unless both share by budget: once, whoever has
/// them.
fn shared_with(
    partitions: &[RawPartition],
    index: usize,
    cpus: &CpuSet,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) {
    let budget_path = |index| Path::top().key("partition").index(index).key("vcr").key("budget");
    let lacks_budget = |index| !collector.has(&budget_path(index));
    let (mut shared, mut owners, mut without) = (CpuSet::EMPTY, Vec::new(), None);
    for (earlier, other) in partitions[..index].iter().enumerate() {
        let both = cpus.intersection(&cpus_of(other).unwrap_or_default());
        let lacking = [index, earlier].into_iter().find(|one| lacks_budget(*one));
        if both.is_empty() || lacking.is_none() {
            continue;
        }
        shared = shared.union(&both);
        owners.push(earlier);
        without = without.or(lacking);
    }
    let (Some((first, others)), Some(without)) = (owners.split_first(), without) else { return };
    let name = |index: usize| match &partitions[index].name {
        Some(name) => format!("`{name}`"),
        None => format!("number {}", index + 1),
    };
    let all = if others.is_empty() { "both" } else { "all" };
    let more = match others {
        [] => String::new(),
        [one] => format!(" and by {}", name(*one)),
        more => format!(" and by {} more", more.len()),
    };
    collector.refuse(
        path,
        format!("CPU {shared} is also claimed by partition {}{more}", name(*first)),
        format!(
            "a CPU has one owner; to share it give {all} a `budget` (partition {} has none)",
            name(without)
        ),
    );
}

/// Reports CPUs whose budgets add up to more than the whole.
fn overcommitted(partitions: &[RawPartition], collector: &mut Collector<'_, '_>) {
    let mut promised = [0_u32; quietcore_units::CPU_LIMIT as usize];
    for (index, partition) in partitions.iter().enumerate() {
        let budget = partition.vcr.as_ref().and_then(|vcr| vcr.budget);
        let (Some(cpus), Some(budget)) = (cpus_of(partition), budget) else {
            continue;
        };
        let mut first_beyond = None;
        for cpu in cpus.iter() {
            let promised = &mut promised[cpu.get() as usize];
            *promised += budget;
            if *promised > 100 && first_beyond.is_none() {
                first_beyond = Some((cpu, *promised));
            }
        }
        if let Some((cpu, sum)) = first_beyond {
            collector.refuse(
                &Path::top().key("partition").index(index).key("vcr").key("budget"),
                format!("the budgets of CPU {cpu} add up to {sum} %"),
                "let them add up to 100 % at most",
            );
        }
    }
}
