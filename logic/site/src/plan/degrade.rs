//! Degradations: means that can't be had and don't prevent a measurement, with their cost.

use quietcore_units::{ByteSize, CpuSet, Wake};

use crate::machine::Machine;
use crate::plan::step::cpu_words;
use crate::plan::{Changed, Degradation, granted};
use crate::site::{
    Accelerator, Cache, ChannelEnd, Control, Partition, Scheduling, Site, real_time_share,
};
use crate::words::{list, policy};

/// Memory that a process locks at least: its code, its stacks and the exchange.
const LOCKED_MIN: ByteSize = ByteSize::new(16 << 20);

/// Returns `true` if the memory of this partition can be locked here, or never needs to be: Xen
/// takes none from a domain.
pub(super) fn locks_memory(partition: &Partition, machine: &Machine) -> bool {
    if !partition.declaration().is_run_by_kernel() {
        return true;
    }
    let needed = partition.vcr.memory_max().unwrap_or_default().max(LOCKED_MIN);
    machine.memory_lock_limit.is_none_or(|limit| limit >= needed)
}

/// All degradations: those of the machine first, then those of each partition.
pub(super) fn all(site: &Site, machine: &Machine, changed: &Changed) -> Vec<Degradation> {
    let mut all = Vec::new();
    let mut add = |what: String, cost: &str, remedy: String| {
        all.push(Degradation { what, cost: cost.to_owned(), remedy });
    };
    if !machine.dma_latency {
        add(
            "/dev/cpu_dma_latency is not held".to_owned(),
            "idle CPUs may fall into deep sleep and wake some 100 µs late",
            "run as root, or grant write access to the device".to_owned(),
        );
    }
    if !changed.ever.is_empty() && !machine.root {
        let names = changed.ever.iter().map(|control| control.name());
        add(
            format!("the settings of controls {} stay as they are", list(names)),
            "what they would keep off the partitions' CPUs adds latency",
            "run as root".to_owned(),
        );
    }
    if !machine.fifo && site.partitions().iter().any(|one| one.monitor.sheds()) {
        add(
            "the monitor has no real-time priority".to_owned(),
            "load may be shed later than within one period",
            "run as root, or grant real-time priority (rtprio)".to_owned(),
        );
    }
    shared_cpus(site, machine, changed, &mut add);
    for partition in site.partitions() {
        scheduling(site, partition, machine, &mut add);
        spinning(site, partition, machine, &mut add);
        memory(partition, machine, &mut add);
        colours(partition, &mut add);
        emulation(partition, &mut add);
    }
    containers(site, machine, &mut add);
    without_program(site, &mut add);
    all
}

/// Lists the guests that start from their disks, which no campaign measures or starts.
pub(super) fn left_out(site: &Site) -> impl Iterator<Item = Degradation> + '_ {
    let from_disks = site.partitions().iter().filter(|partition| !partition.is_measured());
    from_disks.map(|partition| Degradation {
        what: format!(
            "a campaign leaves out partition `{}`, a guest from its disk",
            partition.name
        ),
        cost: "what it costs the others is not in the measurement".to_owned(),
        remedy: "`quietcore up` runs it".to_owned(),
    })
}

/// A guest whose processor is emulated.
fn emulation(partition: &Partition, add: &mut impl FnMut(String, &'static str, String)) {
    if partition.declaration().has_accelerator && partition.accelerator == Accelerator::Tcg {
        add(
            format!("QEMU emulates the processor of partition `{}`", partition.name),
            "its times are none, and no verdict passes",
            "leave out `guest.accelerator` on a machine with KVM".to_owned(),
        );
    }
}

/// Pinned partitions on CPUs that are not kept free of other tasks.
fn shared_cpus(
    site: &Site,
    machine: &Machine,
    changed: &Changed,
    add: &mut impl FnMut(String, &'static str, String),
) {
    let pinned = site.campaign().profiles.iter().any(|profile| profile.pinned);
    let shared: CpuSet = site.claimed_cpus().without(&machine.isolated);
    if pinned
        && !shared.is_empty()
        && let Some(cost) = what_else_runs(machine, changed)
    {
        add(
            match shared.len() {
                1 => format!("{} is not kept free of other tasks", cpu_words(&shared)),
                _ => format!("{} are not kept free of other tasks", cpu_words(&shared)),
            },
            cost,
            format!("boot the kernel with isolcpus=managed_irq,domain,{shared}"),
        );
    }
}

/// Describes what runs on the partitions' CPUs beside them, as far as no control keeps it off.
fn what_else_runs(machine: &Machine, changed: &Changed) -> Option<&'static str> {
    let runs = |control| !(machine.root && changed.always.contains(&control));
    let all = [Control::Programs, Control::KernelThreads, Control::Interrupts].map(runs);
    match all {
        [false, false, false] => None,
        [true, false, false] => Some("other programs run there as well and add latency"),
        [false, true, false] => Some("kernel threads run there as well and add latency"),
        [false, false, true] => Some("interrupts run there as well and add latency"),
        [true, true, false] => {
            Some("other programs and kernel threads run there as well and add latency")
        }
        [true, false, true] => {
            Some("other programs and interrupts run there as well and add latency")
        }
        [false, true, true] => {
            Some("kernel threads and interrupts run there as well and add latency")
        }
        [true, true, true] => {
            Some("other programs, kernel threads and interrupts run there as well and add latency")
        }
    }
}

/// Colours are those of the guest's own memory.
fn colours(partition: &Partition, add: &mut impl FnMut(String, &'static str, String)) {
    if let Some(Cache::Colours(_)) = partition.vcr.cache {
        add(
            format!(
                "the program and the exchange of partition `{}` are of all colours",
                partition.name
            ),
            "others may evict them, and they others; the guest's own memory keeps its part",
            "use cache `ways` where the machine has CAT; they cover all that a partition touches"
                .to_owned(),
        );
    }
}

fn scheduling(
    site: &Site,
    partition: &Partition,
    machine: &Machine,
    add: &mut impl FnMut(String, &'static str, String),
) {
    let asked = partition.program.scheduling;
    let lost = site
        .campaign()
        .profiles
        .iter()
        .any(|profile| granted(asked, partition.backend, profile.pinned, machine) != asked);
    if !lost {
        return;
    }
    let name = &partition.name;
    let wanted = policy(asked);
    let what = format!("partition `{name}` runs under SCHED_OTHER in place of {wanted}");
    let as_root = match (machine.root, asked) {
        (_, Scheduling::Deadline { .. }) if machine.deadline => {
            "the kernel pins no SCHED_DEADLINE thread while it throttles; name the control \
             `throttling` in `[host]` and in the `controls` of pinned profiles, or set \
             kernel.sched_rt_runtime_us to -1"
        }
        (true, _) if partition.declaration().has_control_group => {
            "no real-time run time is left for new control groups; take some from others \
             (cpu.rt_runtime_us), or boot with rt_group_sched=0"
        }
        (true, _) => "the group this runs in has no real-time share; raise its cpu.rt_runtime_us",
        (false, _) => "run as root, or grant CAP_SYS_NICE or an rtprio limit",
    };
    let cost = match partition.program.early_wake {
        Wake::Sleep => "every other program may delay it, so its latency is that of the load",
        Wake::Spin => "every other program may delay it while it spins",
        Wake::Early { .. } | Wake::Adaptive { .. } => {
            "every other program may delay it, and waking early helps only while the CPU is idle"
        }
    };
    add(what, cost, as_root.to_owned());
}

/// Real-time run time that the kernel gives to each group, where it divides it.
fn containers(site: &Site, machine: &Machine, add: &mut impl FnMut(String, &'static str, String)) {
    let count = site.containers();
    let Some(left) = machine.container_real_time_us.filter(|left| *left > 0) else { return };
    if count == 0 || !machine.root {
        return;
    }
    let percent = real_time_share(left, count) / 10_000;
    add(
        format!("real-time threads of each container have {percent} % of a CPU"),
        "the kernel divides real-time run time among control groups, and stops a program that \
         needs more until the second is over",
        "boot with rt_group_sched=0, or use the backend `process`".to_owned(),
    );
}

/// A real-time thread that never sleeps, where the kernel makes it.
fn spinning(
    site: &Site,
    partition: &Partition,
    machine: &Machine,
    add: &mut impl FnMut(String, &'static str, String),
) {
    let asked = partition.program.scheduling;
    let profiles = &site.campaign().profiles;
    let is_real_time = profiles
        .iter()
        .any(|it| granted(asked, partition.backend, it.pinned, machine) != Scheduling::Other);
    if machine.throttles && is_real_time && partition.program.early_wake == Wake::Spin {
        add(
            format!("partition `{}` never sleeps, and the kernel stops it", partition.name),
            "real-time threads that use up their share of a CPU stand still until its period ends, \
             usually 50 ms of each second",
            "set kernel.sched_rt_runtime_us to -1, or use `early_wake = \"adaptive\"`".to_owned(),
        );
    }
}

fn memory(
    partition: &Partition,
    machine: &Machine,
    add: &mut impl FnMut(String, &'static str, String),
) {
    if let Some(limit) = machine.memory_lock_limit
        && !locks_memory(partition, machine)
    {
        add(
            format!("the memory of partition `{}` is not locked", partition.name),
            "a page fault may delay it by microseconds, by milliseconds where it must be read back",
            format!("the limit is {limit}; run as root, or raise it with `ulimit -l`"),
        );
    }
}

/// Lists parts of the site that nothing uses, because the partition has no program.
fn without_program(site: &Site, add: &mut impl FnMut(String, &'static str, String)) {
    let named = |name: &str| site.partitions().iter().find(|one| one.name == name);
    let lacks = |name: &str| named(name).is_some_and(|one| one.program.model.is_none());
    let remedy = |name: &str| format!("name a `model` in the program of partition `{name}`");
    for channel in site.channels() {
        let ends = [&channel.from, &channel.to].into_iter().filter_map(ChannelEnd::partition);
        for end in ends.filter(|end| lacks(end)) {
            add(
                format!("channel `{}` is not used by partition `{end}`", channel.name),
                "the probe takes the place of its program, so that cost is not in the measurement",
                remedy(end),
            );
        }
    }
    for fieldbus in site.fieldbuses().iter().filter(|one| lacks(&one.partition)) {
        add(
            format!("fieldbus `{}` is not run", fieldbus.name),
            "the time of its frames is not in the measurement",
            remedy(&fieldbus.partition),
        );
    }
}
