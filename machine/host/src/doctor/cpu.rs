//! Processors: enough of them, undisturbed by siblings and the kernel, with caches of their own.

use super::finding::{AS_ROOT, finding};
use super::{Area, Finding, View, kernel_parameter};
use crate::cpu_list::CpuList;
use crate::facts::{CacheDomain, CpuidAllocation};
use crate::reading::Reading;

pub(super) fn examine(view: &View<'_>, findings: &mut Vec<Finding>) {
    findings.push(count(view));
    findings.extend(group_cpus(view));
    findings.extend(partition_cpus(view));
    findings.push(smt(view));
    findings.push(core_types(view));
    findings.push(nodes(view));
    findings.push(isolation(view));
    findings.push(tickless(view));
    findings.push(callbacks(view));
    findings.push(cache_sharing(view));
    findings.push(allocation_by_cpuid(view));
    findings.push(allocation_by_kernel(view));
}

fn count(view: &View<'_>) -> Finding {
    let online = &view.facts.cpu.online;
    let draft = finding("cpu-count", Area::Cpu, "CPUs online")
        .read(online.describe(|list| format!("{} ({list})", list.0.len())))
        .right("at least 2: one for housekeeping, one for each partition")
        .effect(
            "a control program that shares its only CPU with everything else is late whenever the \
             kernel works",
        )
        .fix(view.on_host("give the machine more CPUs"));
    match view.facts.cpu.online_count() {
        0 => draft.unknown("mount /sys to read it"),
        1 => draft.conformance(),
        _ => draft.ok(),
    }
}

/// A control group that lacks CPUs of the machine, which no partition can have then.
fn group_cpus(view: &View<'_>) -> Option<Finding> {
    let granted = &view.facts.limits.grantable_cpus;
    let online = view.facts.cpu.online.get().filter(|_| !granted.is_absent())?;
    let usable = CpuList(view.facts.usable_cpus());
    let barred = CpuList(online.0.without(&usable.0));
    let draft = finding("group-cpus", Area::Cpu, "CPUs of the control group")
        .right("each CPU that a partition shall have")
        .effect("no thread of Quietcore can be bound to another CPU, whatever its rights are")
        .fix(OTHER_GROUP);
    Some(match granted.unreadable() {
        Some(_) => draft.without(granted),
        None if barred.0.is_empty() => draft.read(format!("all that are online ({online})")).ok(),
        None => draft.read(format!("{usable} of {online}")).advice(),
    })
}

const OTHER_GROUP: &str = "start Quietcore in a control group that has them: `AllowedCPUs=` of \
                           systemd, `--cpuset-cpus` of a container; by hand, `cpuset.cpus`";

/// Only with a partition: it must stand on CPUs that exist and that this process may use.
fn partition_cpus(view: &View<'_>) -> Option<Finding> {
    let wanted = view.partition?;
    let online = view.facts.cpu.online.get().copied().unwrap_or_default();
    let usable = CpuList(view.facts.usable_cpus());
    let missing = CpuList(wanted.0.without(&online.0));
    let forbidden = CpuList(wanted.0.intersection(&online.0).without(&usable.0));
    let draft = finding("partition-cpus", Area::Cpu, "CPUs of the partition")
        .read(format!("wanted {wanted}; online {online}; in this control group {usable}"))
        .right("each of them online and in the control group")
        .effect("the partition can't be placed");
    Some(if !missing.0.is_empty() {
        draft
            .fix(format!("take other CPUs in the site file, or bring {missing} online"))
            .conformance()
    } else if !forbidden.0.is_empty() {
        draft
            .fix(format!("take others than {forbidden} in the site file, or {OTHER_GROUP}"))
            .conformance()
    } else {
        draft.ok()
    })
}

fn smt(view: &View<'_>) -> Finding {
    let cpu = &view.facts.cpu;
    let draft = finding("smt-siblings", Area::Cpu, "SMT siblings")
        .right("no foreign thread on the core of a control CPU")
        .effect(
            "a sibling takes half of the core's execution units and shares its first two caches: \
             execution times vary by a factor of up to 2",
        )
        .fix(view.on_host(
            "`echo off > /sys/devices/system/cpu/smt/control`; permanent: `nosmt` on the kernel \
             command line, or switch it off in the BIOS",
        ));
    let shared: Vec<String> = cpu
        .cpus
        .iter()
        .filter(|cpu| view.control.has(cpu.number))
        .filter_map(|cpu| {
            let siblings = cpu.siblings.get()?;
            let foreign = if view.partition.is_some() {
                siblings.0.without(&view.control.0).len()
            } else {
                siblings.0.len() - 1
            };
            (foreign > 0).then(|| siblings.to_string())
        })
        .collect();
    match (&cpu.smt_active, shared.is_empty()) {
        (Reading::Unreadable(_), true) => draft.without(&cpu.smt_active),
        (_, true) => draft
            .read(format!(
                "no control CPU shares its core{}",
                if view.is_guest() {
                    "; whether virtual CPUs share one only the host knows"
                } else {
                    ""
                }
            ))
            .ok(),
        (_, false) => {
            let mut cores = shared;
            cores.dedup();
            draft.read(format!("shared cores: {}", cores.join("; "))).advice()
        }
    }
}

fn core_types(view: &View<'_>) -> Finding {
    let cpu = &view.facts.cpu;
    let draft = finding("core-types", Area::Cpu, "types of cores")
        .right("all CPUs of a partition of one type, the fast one")
        .effect(
            "the same program runs 1.5 to 2 times longer on an efficiency core, and those share \
             their second cache four by four",
        );
    let capacities: Vec<u64> = cpu
        .cpus
        .iter()
        .filter(|cpu| view.control.has(cpu.number))
        .filter_map(|cpu| cpu.capacity.get().copied())
        .collect();
    let (least, most) = (capacities.iter().min(), capacities.iter().max());
    let mixed = least != most;
    let is_hybrid = cpu.hybrid == Reading::Read(true)
        || cpu.efficiency_cpus.get().is_some_and(|list| !list.0.is_empty());
    let slow = cpu
        .efficiency_cpus
        .get()
        .is_some_and(|slow| !slow.0.intersection(&view.control.0).is_empty());
    let read = match (cpu.performance_cpus.get(), cpu.efficiency_cpus.get()) {
        (Some(fast), Some(slow)) => format!("performance {fast}, efficiency {slow}"),
        _ if mixed => "different capacities among the control CPUs".to_owned(),
        _ if is_hybrid => "several types; which CPU is which is not told".to_owned(),
        _ => "all alike".to_owned(),
    };
    let fast = cpu.performance_cpus.describe(ToString::to_string);
    draft
        .read(read)
        .fix(format!("take control CPUs from the performance cores only: {fast}"))
        .ok_if(!(mixed || slow))
}

fn nodes(view: &View<'_>) -> Finding {
    let nodes = &view.facts.cpu.nodes;
    let touched: Vec<String> = nodes
        .iter()
        .filter(|node| {
            let cpus = node.cpus.get();
            cpus.is_some_and(|cpus| !cpus.0.intersection(&view.control.0).is_empty())
        })
        .map(|node| node.number.to_string())
        .collect();
    let draft = finding("memory-nodes", Area::Cpu, "memory nodes (NUMA)")
        .read(format!(
            "{} node(s); control CPUs on node(s) {}",
            nodes.len(),
            if touched.is_empty() { "unknown".to_owned() } else { touched.join(", ") }
        ))
        .right("a partition within one node, its memory on the same")
        .effect(
            "memory of another node costs 1.5 to 2 times the time and shares a link with everyone",
        )
        .fix("choose the partition's CPUs from one node of `numactl --hardware`");
    draft.ok_if(nodes.len() <= 1 || view.partition.is_none() || touched.len() <= 1)
}

fn isolation(view: &View<'_>) -> Finding {
    let isolated = &view.facts.cpu.isolated;
    let cpus = view.cpus_for_parameter();
    let draft = finding("cpu-isolation", Area::Cpu, "isolated CPUs")
        .right("the control CPUs isolated from the scheduler's balancing")
        .effect(
            "ordinary tasks and kernel work may be placed on a control CPU; each costs the next \
             release a switch and cold caches, some 5 to 50 µs",
        )
        .fix(kernel_parameter(&format!("isolcpus=managed_irq,domain,{cpus}")));
    match isolated {
        Reading::Read(list) => {
            let covered = !list.0.is_empty() && view.control.0.without(&list.0).is_empty();
            draft.read(list.to_string()).ok_if(covered)
        }
        Reading::Absent | Reading::Unreadable(_) => {
            draft.read(isolated.describe(ToString::to_string)).unknown(AS_ROOT)
        }
    }
}

fn tickless(view: &View<'_>) -> Finding {
    let kernel = &view.facts.kernel;
    let nohz_full = &view.facts.cpu.nohz_full;
    let cpus = view.cpus_for_parameter();
    let draft = finding("full-tickless", Area::Cpu, "tick on busy CPUs (nohz_full)")
        .right("no tick on control CPUs that spin or run long")
        .effect(
            "the tick interrupts a running step for 1 to 10 µs, 100 to 1000 times a second; a \
             program that mostly sleeps gains nothing",
        );
    if kernel.configured("CONFIG_NO_HZ_FULL") == Some(false) {
        return draft
            .read("this kernel is built without CONFIG_NO_HZ_FULL")
            .fix("take a kernel with it, such as Debian's linux-image-rt-amd64")
            .advice();
    }
    let draft = draft.fix(kernel_parameter(&format!("nohz_full={cpus}")));
    match nohz_full {
        Reading::Read(list) => {
            let covered = !list.0.is_empty() && view.control.0.without(&list.0).is_empty();
            draft.read(list.to_string()).ok_if(covered)
        }
        // The file is there only in kernels that can do it.
        Reading::Absent => draft.read("this kernel does not offer it").advice(),
        Reading::Unreadable(reason) => draft.read(reason.clone()).unknown(AS_ROOT),
    }
}

fn callbacks(view: &View<'_>) -> Finding {
    let kernel = &view.facts.kernel;
    let cpus = view.cpus_for_parameter();
    let given = kernel.command_line.value("rcu_nocbs");
    // `nohz_full` implies it for the same CPUs.
    let implied = view.facts.cpu.nohz_full.get().filter(|list| !list.0.is_empty());
    let draft = finding("rcu-callbacks", Area::Cpu, "RCU callbacks (rcu_nocbs)")
        .right("callbacks of control CPUs run on housekeeping CPUs")
        .effect(
            "the kernel frees memory in batches on the CPU that released it: up to some 100 µs at \
             once in soft interrupts",
        )
        .fix(kernel_parameter(&format!("rcu_nocbs={cpus}")));
    match (given, implied, &kernel.command_line.text) {
        (Some(list), _, _) => draft.read(format!("rcu_nocbs={list}")).ok(),
        (None, Some(list), _) => draft.read(format!("implied by nohz_full={list}")).ok(),
        (None, None, Reading::Read(_))
            if kernel.configured("CONFIG_RCU_NOCB_CPU") == Some(false) =>
        {
            draft
                .read("this kernel is built without CONFIG_RCU_NOCB_CPU")
                .fix("take a kernel with it, such as Debian's linux-image-rt-amd64")
                .advice()
        }
        (None, None, Reading::Read(_)) => draft.read("not set").advice(),
        (None, None, text) => draft.without(text),
    }
}

fn last_levels<'a>(view: &View<'a>) -> Vec<&'a CacheDomain> {
    let domains = &view.facts.caches.domains;
    let last = domains.iter().filter_map(|domain| domain.level.get()).max();
    domains
        .iter()
        .filter(|domain| domain.level.get() == last)
        .filter(|domain| !domain.shared.0.intersection(&view.control.0).is_empty())
        .collect()
}

fn cache_sharing(view: &View<'_>) -> Finding {
    let domains = last_levels(view);
    let draft = finding("cache-sharing", Area::Cpu, "last-level cache")
        .right("control CPUs have a cache domain or cache ways of their own")
        .effect(
            "a neighbour that streams through memory evicts a control program's data: execution \
             times grow by a factor of 1.5 to 5",
        )
        .fix(
            "choose control CPUs whose cache no other CPU shares, or partition it (`cache` in the \
             site file)",
        );
    if domains.is_empty() {
        return draft.read("no cache is described").unknown(
            "the kernel tells nothing about caches here; in a virtual machine the host must pass \
             them on",
        );
    }
    let texts = domains.iter().map(|domain| {
        format!(
            "L{} {} KiB, {} ways, shared by {}",
            domain.level.get().copied().unwrap_or(0),
            domain.size_bytes.get().copied().unwrap_or(0) / 1024,
            domain.ways.describe(ToString::to_string),
            domain.shared
        )
    });
    let read = texts.collect::<Vec<_>>().join("; ");
    let shared = domains.iter().any(|domain| {
        if view.control_is_a_part() {
            !domain.shared.0.without(&view.control.0).is_empty()
        } else {
            domain.shared.0.len() > 1
        }
    });
    draft.read(read).ok_if(!shared)
}

fn allocation_by_cpuid(view: &View<'_>) -> Finding {
    let caches = &view.facts.caches;
    let text = |name: &str, reading: &Reading<CpuidAllocation>| {
        reading.get().map(|level| {
            format!(
                "{name}: {} bits ({:#x} shared with other hardware), {} classes",
                level.mask_bits, level.shared_bits, level.classes
            )
        })
    };
    let levels: Vec<String> = [text("L3", &caches.cpuid_l3), text("L2", &caches.cpuid_l2)]
        .into_iter()
        .flatten()
        .collect();
    finding("cache-allocation-cpuid", Area::Cpu, "cache allocation, by CPUID")
        .read(if levels.is_empty() { "none".to_owned() } else { levels.join("; ") })
        .right("L3 or L2 allocation (Intel CAT, AMD QoS)")
        .effect(
            "without it cache ways can't be reserved by hardware; page colours remain (`cache = { \
             colours = … }`)",
        )
        .fix(view.on_host(
            "a server or real-time processor with CAT, and a hypervisor that passes it on",
        ))
        .ok_if(!levels.is_empty())
}

fn allocation_by_kernel(view: &View<'_>) -> Finding {
    let resctrl = &view.facts.caches.resctrl;
    let has_hardware =
        view.facts.caches.cpuid_l3.get().is_some() || view.facts.caches.cpuid_l2.get().is_some();
    let draft = finding("cache-allocation-kernel", Area::Cpu, "cache allocation, by resctrl")
        .right("resctrl mounted, with free classes and few contention bits")
        .effect("cache ways can't be reserved for a partition until it is there");
    if resctrl.mounted {
        let levels = resctrl.levels.iter().map(|level| {
            format!(
                "{}: mask {}, contention bits {}, {} classes",
                level.name,
                level.mask.describe(Clone::clone),
                level.shareable_bits.describe(Clone::clone),
                level.classes.describe(ToString::to_string)
            )
        });
        let levels = levels.collect::<Vec<_>>().join("; ");
        return draft.read(format!("{levels}; {} group(s) stand", resctrl.groups.len())).ok();
    }
    match &resctrl.known {
        Reading::Read(true) => draft
            .read("known to this kernel, not mounted")
            .fix("`mount -t resctrl resctrl /sys/fs/resctrl`; permanent: a line in /etc/fstab")
            .advice(),
        Reading::Read(false) => draft
            .read("not known to this kernel")
            .fix(if has_hardware {
                "a kernel with CONFIG_X86_CPU_RESCTRL"
            } else {
                "needs a processor with cache allocation first; see `cache-allocation-cpuid`"
            })
            .advice(),
        other => draft.without(other),
    }
}
