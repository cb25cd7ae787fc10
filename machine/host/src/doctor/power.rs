//! Findings on what saves power and costs time.

use super::finding::finding;
use super::{Area, Finding, View, kernel_parameter, sys_file};
use crate::facts::IdleState;
use crate::reading::Reading;

/// A wake-up time that real-time work does not notice, in µs.
const HARMLESS_LATENCY_US: u64 = 2;

pub(super) fn examine(view: &View<'_>, findings: &mut Vec<Finding>) {
    findings.push(idle_states(view));
    findings.push(latency_request(view));
    findings.push(latency_holders(view));
    findings.push(governor(view));
    findings.push(frequency_range(view));
    findings.push(turbo(view));
    findings.push(throttling(view));
}

fn enabled_on_control<'a>(view: &View<'a>) -> Vec<&'a IdleState> {
    let states = view.facts.power.idle_states.iter();
    states
        .filter(|state| state.disabled != Reading::Read(true))
        .filter(|state| !state.cpus.0.intersection(&view.control.0).is_empty())
        .collect()
}

fn idle_states(view: &View<'_>) -> Finding {
    let power = &view.facts.power;
    let driver = power.idle_driver.describe(Clone::clone);
    let draft = finding("idle-states", Area::Power, "idle states (C-states)")
        .right(format!("control CPUs stay in states that are left within {HARMLESS_LATENCY_US} µs"))
        .fix(format!(
            "Quietcore holds /dev/cpu_dma_latency while it measures or runs a partition; without \
             it: `cpupower idle-set -D {HARMLESS_LATENCY_US}`; permanent: {}",
            kernel_parameter("intel_idle.max_cstate=0 processor.max_cstate=1")
        ));
    let states = enabled_on_control(view);
    let deepest = states
        .iter()
        .filter_map(|state| Some((*state.latency_us.get()?, state.name.as_str())))
        .max();
    if view.facts.kernel.command_line.value("idle").as_deref() == Some("poll") {
        return draft.read("idle=poll: CPUs never sleep").ok();
    }
    match deepest {
        Some((latency, name)) => draft
            .read(format!("driver {driver}; deepest enabled `{name}`, left within {latency} µs"))
            .effect(format!(
                "a release that finds its CPU in `{name}` is up to {latency} µs late{}",
                if view.is_guest() {
                    ", and the host's own idle states come on top, unseen from here"
                } else {
                    ""
                }
            ))
            .ok_if(latency <= HARMLESS_LATENCY_US),
        None => draft
            .read(format!("driver {driver}; no state is described"))
            .effect(
                "idle CPUs halt; how long waking takes is decided below this kernel, or by the \
                 firmware",
            )
            .fix(view.on_host("switch off deep C-states in the BIOS, or hold /dev/cpu_dma_latency"))
            .ok_if(!view.is_guest()),
    }
}

fn latency_request(view: &View<'_>) -> Finding {
    let draft = finding("latency-request", Area::Power, "/dev/cpu_dma_latency")
        .right("can be opened for writing")
        .effect(
            "without it CPUs can't be kept out of deep idle states during a run, and release \
             latencies include waking up",
        )
        .fix(
            "run as root, or `setfacl -m u:USER:rw /dev/cpu_dma_latency`; permanent: a udev rule \
             `KERNEL==\"cpu_dma_latency\", GROUP=\"realtime\", MODE=\"0660\"`",
        );
    match &view.facts.power.latency_request {
        Reading::Read(()) => draft.read("can be opened").ok(),
        Reading::Absent => draft
            .read("not there")
            .fix("a kernel with CONFIG_CPU_IDLE, and /dev of the host in a container")
            .advice(),
        Reading::Unreadable(reason) => draft.read(reason.clone()).advice(),
    }
}

fn latency_holders(view: &View<'_>) -> Finding {
    let holders = &view.facts.activity.latency_holders;
    let draft = finding("latency-holders", Area::Power, "others that hold /dev/cpu_dma_latency")
        .right("none, or the same during a run and in production")
        .effect(
            "another program keeps CPUs awake now; a number measured so does not hold once it ends",
        )
        .fix("stop the program, or let it run in production as well");
    match holders {
        Reading::Read(list) if list.is_empty() => draft.read("none").ok(),
        Reading::Read(list) => draft.read(list.join(", ")).advice(),
        other => draft.without(other),
    }
}

fn governor(view: &View<'_>) -> Finding {
    let policies = &view.facts.power.frequencies;
    let draft = finding("frequency-governor", Area::Power, "frequency governor")
        .right("`performance` on control CPUs")
        .effect(
            "a CPU that was idle begins its step at the lowest clock: execution times grow by the \
             ratio of the clocks, and each change costs 10 to 100 µs",
        )
        .fix(sys_file("cpupower frequency-set -g performance"));
    if policies.is_empty() {
        return draft
            .read("no frequency policy is offered")
            .effect(if view.is_guest() {
                "the host decides about the clock, unseen from here"
            } else {
                "the clock is fixed or decided by the firmware"
            })
            .ok();
    }
    let governors = policies.iter().filter(|policy| {
        let cpus = policy.cpus.get();
        cpus.is_none_or(|cpus| !cpus.0.intersection(&view.control.0).is_empty())
    });
    let mut names: Vec<String> =
        governors.map(|policy| policy.governor.describe(Clone::clone)).collect();
    names.sort();
    names.dedup();
    if names.is_empty() {
        return draft
            .read("no frequency policy covers the control CPUs")
            .unknown("bring the control CPUs online first");
    }
    draft.read(names.join(", ")).ok_if(names.iter().all(|name| name == "performance"))
}

fn frequency_range(view: &View<'_>) -> Finding {
    let policies = &view.facts.power.frequencies;
    let draft = finding("frequency-range", Area::Power, "clock frequencies")
        .right("one fixed frequency on control CPUs")
        .effect("execution times vary as the clock does; the worst case is that of the lowest")
        .fix(sys_file("cpupower frequency-set -d FREQUENCY -u FREQUENCY"));
    let wide: Vec<String> = policies
        .iter()
        .filter_map(|policy| {
            let (least, most) = (*policy.minimum_khz.get()?, *policy.maximum_khz.get()?);
            (least < most).then(|| format!("{} to {} MHz", least / 1000, most / 1000))
        })
        .collect();
    match wide.first() {
        Some(range) => draft.read(range.clone()).advice(),
        None if policies.is_empty() => draft.read("not told").ok(),
        None => draft.read("fixed").ok(),
    }
}

fn turbo(view: &View<'_>) -> Finding {
    let turbo = &view.facts.power.turbo;
    let draft = finding("turbo", Area::Power, "clock above nominal (turbo, boost)")
        .right("off, for steady execution times; on, for short ones")
        .effect(
            "the clock depends on how many cores are busy and how warm they are: a neighbour's \
             load slows a control program by 10 to 40 %",
        )
        .fix(view.on_host(&sys_file(
            "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo (Intel) or echo 0 > \
             /sys/devices/system/cpu/cpufreq/boost",
        )));
    match turbo {
        Reading::Read(on) => draft.read(if *on { "on" } else { "off" }).ok_if(!on),
        other => draft.without(other),
    }
}

fn throttling(view: &View<'_>) -> Finding {
    let counts = &view.facts.power.throttling;
    let sum: u64 = counts
        .iter()
        .flat_map(|counts| [&counts.core, &counts.package])
        .filter_map(Reading::get)
        .sum();
    let draft = finding("thermal-throttling", Area::Power, "slow-downs for heat")
        .right("none since boot")
        .effect(
            "a hot CPU stops its clock for some milliseconds at a time: missed cycles that no \
             software setting prevents",
        )
        .fix("better cooling, a lower clock limit, or a higher thermal limit in the BIOS");
    if counts.is_empty() {
        return if view.is_guest() {
            draft
                .read("not told to a virtual machine")
                .unknown(&view.on_host("read thermal_throttle below /sys/devices/system/cpu/cpu0"))
        } else {
            draft
                .read("this processor does not count them")
                .unknown("no permission helps; `sensors` shows the temperature instead")
        };
    }
    draft.read(format!("{sum} since boot")).ok_if(sum == 0)
}
