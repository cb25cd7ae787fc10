//! The scheduler: whether a control program is let in front of everything else.

use super::finding::{AS_ROOT, Draft, finding};
use super::{Area, Finding, View, kernel_parameter, sysctl};
use crate::attempts::Attempt;
use crate::facts::{CgroupArrangement, PreemptionModel};
use crate::reading::Reading;

/// Remedy by which an ordinary user gets real-time priorities.
const GRANT_PRIORITY: &str = "run as root, or `@realtime - rtprio 95` in \
                              /etc/security/limits.d/quietcore.conf, or LimitRTPRIO=95 and \
                              AmbientCapabilities=CAP_SYS_NICE in the systemd unit";
const GRANT_BUDGET: &str = "`echo 900000 > cpu.rt_runtime_us` in each group from the root group \
                            down to this one; permanent: `rt_group_sched=0` on the command line \
                            of kernels that know it, or a kernel without CONFIG_RT_GROUP_SCHED, \
                            such as Debian's";
pub(super) fn examine(view: &View<'_>, findings: &mut Vec<Finding>) {
    findings.push(preemption(view));
    findings.push(fifo(view));
    findings.push(control_priority(view));
    findings.push(fresh_cgroup(view));
    findings.push(group_scheduling(view));
    findings.push(throttling(view));
    findings.push(deadline(view));
    findings.push(cgroups(view));
}

fn preemption(view: &View<'_>) -> Finding {
    let preemption = &view.facts.kernel.preemption;
    let draft = finding("preemption-model", Area::Scheduler, "preemption model")
        .read(format!(
            "{}{} (from {})",
            preemption.model.name(),
            if preemption.dynamic { ", PREEMPT_DYNAMIC" } else { "" },
            preemption.because
        ))
        .right("PREEMPT_RT");
    let to_rt = "`apt install linux-image-rt-amd64` and reboot";
    let to_full = format!(
        "now: `mount -t debugfs none /sys/kernel/debug; echo full > \
         /sys/kernel/debug/sched/preempt`, or {}; better: {to_rt}",
        kernel_parameter("preempt=full")
    );
    match preemption.model {
        PreemptionModel::Realtime => draft.ok(),
        PreemptionModel::Full | PreemptionModel::Lazy => draft
            .effect(
                "spinlocks and interrupt handlers delay a release: typically below 100 µs, under \
                 load up to some milliseconds",
            )
            .fix(to_rt)
            .advice(),
        PreemptionModel::Voluntary | PreemptionModel::None => draft
            .effect(
                "a long system call of any program delays a release until it ends: milliseconds \
                 under load",
            )
            .fix(if preemption.dynamic { to_full } else { to_rt.to_owned() })
            .advice(),
        PreemptionModel::Unknown => draft
            .effect("whether a system call of another program delays a release is not known")
            .unknown(
                "as root: `mount -t debugfs none /sys/kernel/debug`, then \
                 /sys/kernel/debug/sched/preempt tells",
            ),
    }
}

fn judge(draft: Draft, attempt: &Attempt) -> Finding {
    let draft = draft.read(attempt.describe());
    match attempt {
        Attempt::Succeeded => draft.ok(),
        Attempt::Refused(_) => draft.conformance(),
        Attempt::NotTried(_) => draft.unknown(AS_ROOT),
    }
}

fn fifo(view: &View<'_>) -> Finding {
    let scheduler = &view.facts.scheduler;
    let group = scheduler.rt_group == Reading::Read(true);
    let draft = finding("realtime-policy", Area::Scheduler, "SCHED_FIFO")
        .right("granted to this user in this place")
        .effect(
            "without it a control program waits for every ordinary task: milliseconds under any \
             load, and no measurement of it is evidence",
        )
        .fix(if group && view.facts.limits.user == Reading::Read(0) {
            GRANT_BUDGET
        } else {
            GRANT_PRIORITY
        });
    judge(draft, &scheduler.fifo)
}

fn control_priority(view: &View<'_>) -> Finding {
    let attempt = &view.facts.scheduler.fifo_control;
    let draft = finding("control-priority", Area::Scheduler, "SCHED_FIFO at priority 90")
        .read(attempt.describe())
        .right("granted: above the kernel's threaded interrupts (50), below its watchdogs (99)")
        .effect("at a lower priority threaded interrupts of any device come first")
        .fix(GRANT_PRIORITY);
    match attempt {
        Attempt::Succeeded => draft.ok(),
        Attempt::Refused(_) => draft.advice(),
        Attempt::NotTried(_) => draft.unknown(AS_ROOT),
    }
}

fn fresh_cgroup(view: &View<'_>) -> Finding {
    let fresh = &view.facts.scheduler.fifo_fresh_cgroup;
    let budget = fresh
        .budget_us
        .get()
        .map_or_else(String::new, |budget| format!(" with a budget of {budget} µs"));
    let left = fresh
        .left_behind
        .as_ref()
        .map_or_else(String::new, |left| format!("; left behind: {left}"));
    let draft =
        finding("realtime-policy-in-container", Area::Scheduler, "SCHED_FIFO in a fresh cgroup")
            .right("granted in a group that was just made, as a container's is")
            .effect(
                "a control program in a container gets no real-time priority although the same \
                 one works outside",
            )
            .fix(GRANT_BUDGET);
    match (&fresh.as_made, &fresh.with_budget) {
        (Attempt::Succeeded, _) => draft.read(format!("granted{budget}{left}")).ok(),
        (Attempt::Refused(error), Attempt::Succeeded) => draft
            .read(format!("refused{budget}: {error}; granted once it had 10000 µs{left}"))
            .fix(format!("Quietcore gives its containers a budget; elsewhere: {GRANT_BUDGET}"))
            .advice(),
        (Attempt::Refused(error), with_budget) => draft
            .read(format!(
                "refused{budget}: {error}; with a budget: {}{left}",
                with_budget.describe()
            ))
            .fix(if view.facts.scheduler.rt_group == Reading::Read(true) {
                GRANT_BUDGET
            } else {
                GRANT_PRIORITY
            })
            .conformance(),
        (Attempt::NotTried(reason), _) => draft.read(format!("not tried: {reason}{left}")).unknown(
            "run as root, or in a cgroup that was delegated to this user (`systemd-run --user -p \
             Delegate=yes`)",
        ),
    }
}

fn group_scheduling(view: &View<'_>) -> Finding {
    let scheduler = &view.facts.scheduler;
    let configured = view.facts.kernel.configured("CONFIG_RT_GROUP_SCHED");
    let draft = finding("realtime-group-scheduling", Area::Scheduler, "RT group scheduling")
        .right("off, or every group with real-time tasks has a budget")
        .effect(
            "real-time tasks of a group without budget can't start, and those that exhaust theirs \
             are stopped until the next period; under cgroup v2 the CPU controller can't be \
             switched on beside real-time tasks",
        )
        .fix(GRANT_BUDGET);
    if view.facts.kernel.command_line.value("rt_group_sched").as_deref() == Some("0") {
        return draft.read("off: rt_group_sched=0").ok();
    }
    let files = scheduler.rt_group.get().copied();
    match (files, configured) {
        (Some(true), _) => draft.read("on: groups have a cpu.rt_runtime_us").advice(),
        (Some(false), _) | (None, Some(false)) => draft.read("off").ok(),
        (None, Some(true)) => {
            draft.read("built in; no mounted hierarchy shows its budgets").advice()
        }
        (None, None) => draft.read("not known").unknown(
            "the kernel's configuration in /proc/config.gz or /boot tells; neither can be read",
        ),
    }
}

fn throttling(view: &View<'_>) -> Finding {
    let scheduler = &view.facts.scheduler;
    let draft = finding("realtime-throttling", Area::Scheduler, "RT throttling")
        .right("off (−1) on a machine whose control programs are known to sleep")
        .effect(
            "when real-time tasks of a CPU use up their share of a period they are stopped until \
             it ends: 50 ms of silence with the usual 950000 of 1000000 µs",
        )
        .fix(sysctl("kernel.sched_rt_runtime_us", "-1"));
    match (&scheduler.rt_runtime_us, &scheduler.rt_period_us) {
        (Reading::Read(0), _) => draft.read("0 µs: no real-time task may run at all").conformance(),
        (Reading::Read(runtime), _) if *runtime < 0 => draft.read("off").ok(),
        (Reading::Read(runtime), period) => {
            let period = period.describe(ToString::to_string);
            draft.read(format!("{runtime} of {period} µs")).advice()
        }
        (other, _) => draft.without(other),
    }
}

fn deadline(view: &View<'_>) -> Finding {
    let attempt = &view.facts.scheduler.deadline;
    let draft = finding("deadline-policy", Area::Scheduler, "SCHED_DEADLINE")
        .read(attempt.describe())
        .right("granted, for the probe's runs under this policy")
        .effect("runs with `--policy deadline` are not possible; SCHED_FIFO is not concerned")
        .fix(
            "run as root; it is also refused where the real-time budget is spent, or to a thread \
             that may not use all CPUs of its cpuset",
        );
    match attempt {
        Attempt::Succeeded => draft.ok(),
        Attempt::Refused(_) => draft.advice(),
        Attempt::NotTried(_) => draft.unknown(AS_ROOT),
    }
}

fn cgroups(view: &View<'_>) -> Finding {
    let cgroups = &view.facts.cgroups;
    let name = match cgroups.arrangement {
        CgroupArrangement::V2 => "version 2",
        CgroupArrangement::Hybrid => "hybrid: versions 1 and 2",
        CgroupArrangement::V1 => "version 1",
        CgroupArrangement::None => "none mounted",
    };
    let controllers = match cgroups.arrangement {
        CgroupArrangement::V2 => cgroups.unified_controllers.describe(|list| list.join(" ")),
        _ => {
            let mounts = cgroups.mounts.iter();
            let names = mounts.flat_map(|mount| mount.controllers.iter());
            names.map(String::as_str).collect::<Vec<_>>().join(" ")
        }
    };
    let may = match &cgroups.may_make_groups {
        Reading::Read(()) => "this user may make groups",
        _ => "this user may not make groups",
    };
    let has_cpuset = controllers.split(' ').any(|name| name == "cpuset");
    finding("cgroup-interface", Area::Scheduler, "control groups")
        .read(format!("{name}; controllers: {controllers}; {may}"))
        .right("version 2 with cpu, cpuset and memory, delegated to this user")
        .effect(
            "without them other programs can't be kept off control CPUs after boot, and container \
             partitions can't be reserved; version 1 does it with older files",
        )
        .fix(format!(
            "{}; without root: `systemd-run --user --scope -p Delegate=yes quietcore …`",
            kernel_parameter("systemd.unified_cgroup_hierarchy=1")
        ))
        .ok_if(has_cpuset && cgroups.may_make_groups.get().is_some())
}
