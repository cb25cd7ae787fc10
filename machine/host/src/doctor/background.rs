//! Findings on what runs beside control programs: the kernel's own work, daemons, load, and the
//! command line.

use super::finding::finding;
use super::{Area, Finding, View, sys_file, sysctl};
use crate::reading::Reading;

/// Kernel parameters that decide real-time behaviour; shown as they were given.
const PARAMETERS: [&str; 26] = [
    "isolcpus",
    "nohz_full",
    "nohz",
    "rcu_nocbs",
    "rcu_nocb_poll",
    "idle",
    "tsc",
    "clocksource",
    "highres",
    "irqaffinity",
    "threadirqs",
    "mitigations",
    "skew_tick",
    "nosoftlockup",
    "nowatchdog",
    "nmi_watchdog",
    "processor.max_cstate",
    "intel_idle.max_cstate",
    "intel_pstate",
    "amd_pstate",
    "cpufreq.default_governor",
    "preempt",
    "nosmt",
    "transparent_hugepage",
    "rt_group_sched",
    "cgroup_disable",
];

pub(super) fn examine(view: &View<'_>, findings: &mut Vec<Finding>) {
    findings.push(command_line(view));
    findings.push(watchdogs(view));
    findings.push(workqueues(view));
    findings.push(tuners(view));
    findings.push(load(view));
    findings.extend(debugging(view));
}

fn watchdogs(view: &View<'_>) -> Finding {
    let scheduler = &view.facts.scheduler;
    let on = |name: &'static str, reading: &Reading<bool>| {
        (*reading == Reading::Read(true)).then_some(name)
    };
    let running: Vec<&str> = [
        on("soft lockup", &scheduler.soft_watchdog),
        on("hard lockup (NMI)", &scheduler.nmi_watchdog),
    ]
    .into_iter()
    .flatten()
    .collect();
    let watches_control = scheduler
        .watchdog_cpus
        .get()
        .is_none_or(|cpus| !cpus.0.intersection(&view.control.0).is_empty());
    let draft = finding("lockup-watchdogs", Area::Scheduler, "lockup detectors")
        .right("off on control CPUs")
        .effect(
            "a thread of the highest priority wakes on every CPU every 4 s for some 5 µs, and the \
             hard detector interrupts without a mask",
        )
        .fix(format!(
            "{}; or only for control CPUs: `sysctl -w kernel.watchdog_cpumask={}`",
            sysctl("kernel.watchdog", "0"),
            view.housekeeping()
        ));
    match &scheduler.watchdog {
        Reading::Read(true) if watches_control && !running.is_empty() => {
            draft.read(running.join(", ")).advice()
        }
        Reading::Read(_) => draft.read("off on control CPUs").ok(),
        other => draft.without(other),
    }
}

fn workqueues(view: &View<'_>) -> Finding {
    let cpus = &view.facts.scheduler.workqueue_cpus;
    let draft = finding("workqueue-affinity", Area::Scheduler, "kernel work queues")
        .right("kept off control CPUs")
        .effect(
            "unbound work of drivers and file systems runs on control CPUs between releases: cold \
             caches and, without PREEMPT_RT, delays of some 10 µs",
        )
        .fix(sys_file("echo MASK_OF_HOUSEKEEPING_CPUS > /sys/devices/virtual/workqueue/cpumask"));
    match cpus {
        Reading::Read(list) if view.control_is_a_part() => {
            draft.read(list.to_string()).ok_if(list.0.intersection(&view.control.0).is_empty())
        }
        Reading::Read(list) => {
            draft.read(format!("{list}; no control CPUs are set apart")).advice()
        }
        other => draft.without(other),
    }
}

fn tuners(view: &View<'_>) -> Finding {
    let interfering = &view.facts.activity.interfering;
    let draft = finding("tuning-daemons", Area::Scheduler, "programs that change settings")
        .right("none that undoes what a site file sets")
        .effect(
            "a daemon that moves interrupts or frequencies during a run makes the run's \
             conditions false; the drift is noticed and invalidates it",
        )
        .fix(
            "`systemctl disable --now NAME` for tuned, power-profiles-daemon, thermald, \
             auto-cpufreq",
        );
    match interfering {
        Reading::Read(names) => {
            // The clock daemons are wanted; irqbalance has a finding of its own.
            let tuners: Vec<&str> = names
                .iter()
                .map(String::as_str)
                .filter(|name| {
                    ["tuned", "power-profiles", "thermald", "auto-cpufreq"]
                        .iter()
                        .any(|other| name.starts_with(other))
                })
                .collect();
            let read = if tuners.is_empty() { "none".to_owned() } else { tuners.join(", ") };
            draft.read(read).ok_if(tuners.is_empty())
        }
        other => draft.without(other),
    }
}

fn load(view: &View<'_>) -> Finding {
    let draft = finding("load", Area::Scheduler, "load while this was read")
        .right("below one runnable task a CPU, unless the load is part of the profile")
        .effect(
            "numbers measured now are those of a busy machine, without the load being part of the \
             evidence",
        )
        .fix("stop what runs (`top`), or measure under a profile that says so");
    match &view.facts.activity.load {
        Reading::Read([one, five, fifteen]) => draft
            .read(format!("{one} {five} {fifteen} over 1, 5 and 15 min"))
            .ok_if(*one < view.facts.cpu.online_count().max(1) as f64),
        other => draft.without(other),
    }
}

/// Lists the parameters together; the meaning of each stands in the finding of its subject.
fn command_line(view: &View<'_>) -> Finding {
    let line = &view.facts.kernel.command_line;
    let given: Vec<String> = PARAMETERS
        .into_iter()
        .filter_map(|name| match line.value(name)?.as_str() {
            "" => Some(name.to_owned()),
            value => Some(format!("{name}={value}")),
        })
        .collect();
    let draft = finding("kernel-command-line", Area::Scheduler, "kernel command line")
        .right("the parameters that other findings name")
        .effect(
            "what is not set at boot can partly be set later, isolation (`isolcpus`, `nohz_full`) \
             not",
        );
    match &line.text {
        Reading::Read(_) if given.is_empty() => draft.read("nothing for real-time work").ok(),
        Reading::Read(_) => draft.read(given.join(" ")).ok(),
        Reading::Absent | Reading::Unreadable(_) => {
            draft.read(line.text.describe(Clone::clone)).unknown("mount /proc to read it")
        }
    }
}

/// Only where the configuration can be read: its absence says nothing.
fn debugging(view: &View<'_>) -> Option<Finding> {
    let symbols = ["CONFIG_PROVE_LOCKING", "CONFIG_DEBUG_PREEMPT"];
    let kernel = &view.facts.kernel;
    kernel.configuration.get()?;
    let on: Vec<&str> =
        symbols.into_iter().filter(|symbol| kernel.configured(symbol) == Some(true)).collect();
    let read = if on.is_empty() { "none".to_owned() } else { on.join(", ") };
    Some(
        finding("kernel-debugging", Area::Scheduler, "debugging built into the kernel")
            .read(read)
            .right("none")
            .effect("each lock and each switch of tasks costs several times its normal time")
            .fix("take the distribution's kernel instead of its debug variant")
            .ok_if(on.is_empty()),
    )
}
