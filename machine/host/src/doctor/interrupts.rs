//! Interrupts: away from control CPUs, and none that the kernel does not know of.

use super::finding::finding;
use super::{Area, Finding, View, kernel_parameter};
use crate::reading::Reading;

/// Interrupts named in one finding; the rest is counted.
const NAMED: usize = 6;

pub(super) fn examine(view: &View<'_>, findings: &mut Vec<Finding>) {
    findings.push(affinity(view));
    findings.push(default_affinity(view));
    findings.push(balancer(view));
    findings.push(management(view));
}

fn affinity(view: &View<'_>) -> Finding {
    let interrupts = &view.facts.interrupts;
    let disturbing: Vec<String> = interrupts
        .list
        .iter()
        .filter(|interrupt| interrupt.count > 0 && interrupt.may_disturb(&view.control))
        .map(|interrupt| format!("{} {}", interrupt.number, interrupt.name))
        .collect();
    let draft = finding("interrupt-affinity", Area::Interrupts, "device interrupts")
        .right("those in use fire on housekeeping CPUs only")
        .effect(
            "each one that fires on a control CPU stops it for 2 to 20 µs, its deferred work for \
             longer; a storm stops it altogether",
        )
        .fix(format!(
            "`echo {} > /proc/irq/NUMBER/smp_affinity_list` for each; permanent: {}",
            view.housekeeping(),
            kernel_parameter(&format!("irqaffinity={}", view.housekeeping()))
        ));
    if interrupts.list.is_empty() {
        return draft.read("none is listed").unknown("mount /proc to read it");
    }
    if disturbing.is_empty() {
        return draft.read(format!("none of {} fires on control CPUs", interrupts.list.len())).ok();
    }
    let rest = disturbing.len().saturating_sub(NAMED);
    let mut read = disturbing[..disturbing.len() - rest].join("; ");
    if rest > 0 {
        read.push_str(&format!("; and {rest} more"));
    }
    draft.read(read).advice()
}

fn default_affinity(view: &View<'_>) -> Finding {
    let default = &view.facts.interrupts.default_affinity;
    let draft =
        finding("default-interrupt-affinity", Area::Interrupts, "affinity of new interrupts")
            .right("housekeeping CPUs only")
            .effect(
                "a device that is plugged in or restarted brings its interrupts to control CPUs",
            )
            .fix(kernel_parameter(&format!("irqaffinity={}", view.housekeeping())));
    match default {
        Reading::Read(cpus) => draft
            .read(cpus.to_string())
            .ok_if(view.control_is_a_part() && cpus.0.intersection(&view.control.0).is_empty()),
        other => draft.without(other),
    }
}

fn balancer(view: &View<'_>) -> Finding {
    let draft = finding("irqbalance", Area::Interrupts, "irqbalance")
        .right("not running, or told to leave control CPUs alone")
        .effect(
            "it moves interrupts every 10 s, also to control CPUs, and undoes what a site file \
             sets",
        )
        .fix(
            "`systemctl disable --now irqbalance`, or IRQBALANCE_BANNED_CPULIST in \
             /etc/default/irqbalance",
        );
    match &view.facts.activity.interfering {
        Reading::Read(names) => {
            let running = names.iter().any(|name| name == "irqbalance");
            draft.read(if running { "running" } else { "not running" }).ok_if(!running)
        }
        other => draft.without(other),
    }
}

fn management(view: &View<'_>) -> Finding {
    let count = &view.facts.firmware.smi_count;
    let draft = finding("management-interrupts", Area::Interrupts, "system management interrupts")
        .right("none during a run")
        .effect("the firmware stops all CPUs for 10 µs to some milliseconds, unseen by the kernel")
        .fix(view.on_host(
            "switch off USB legacy support, power capping and error scrubbing in the BIOS; some \
             makers have a low-latency setting",
        ));
    match count {
        Reading::Read(count) => {
            draft.read(format!("{count} since reset; a run counts those that happen in it")).ok()
        }
        Reading::Absent if view.is_guest() => draft
            .read("hidden from a virtual machine")
            .unknown("only the host can count them: `turbostat --show SMI` there"),
        Reading::Absent => draft.read("no counter here").unknown(
            "the counter needs an Intel processor and the module msr (`modprobe msr`); the hwlat \
             tracer sees them everywhere",
        ),
        Reading::Unreadable(reason) => draft
            .read(reason.clone())
            .unknown("run as root, with the module msr loaded (`modprobe msr`)"),
    }
}
