//! The settings of the scheduler, its real grants, and the limits of this process.

use quietcore_units::{Nanos, Scheduling};
use serde::{Deserialize, Serialize};

use super::Cgroups;
use crate::attempts::{Attempt, Attempts, FreshCgroup};
use crate::cpu_list::CpuList;
use crate::reading::Reading;
use crate::source::Source;

const KERNEL: &str = "/proc/sys/kernel";

/// The priority that control programs run at, below that the kernel's own threads need.
const CONTROL_PRIORITY: u8 = 90;
/// The reservation by which SCHED_DEADLINE is tried.
const TRIED_DEADLINE: Scheduling = Scheduling::Deadline {
    run_time: Nanos::from_millis(1),
    deadline: Nanos::from_millis(10),
    period: Nanos::from_millis(10),
};

/// The settings of the scheduler and its grants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scheduler {
    /// The time that real-time tasks may take of each period, in µs; −1 is unlimited.
    pub rt_runtime_us: Reading<i64>,
    /// That period, in µs.
    pub rt_period_us: Reading<u64>,
    /// Real-time time is given to cgroups (`CONFIG_RT_GROUP_SCHED`): a new one has none.
    pub rt_group: Reading<bool>,
    /// SCHED_FIFO at the lowest priority, for this user in this place.
    pub fifo: Attempt,
    /// SCHED_FIFO at priority 90, where control programs run.
    pub fifo_control: Attempt,
    /// SCHED_FIFO in a cgroup that was just made, as a container's is.
    pub fifo_fresh_cgroup: FreshCgroup,
    /// SCHED_DEADLINE with 1 ms in 10 ms.
    pub deadline: Attempt,
    /// Sessions are grouped for fairness.
    pub autogroup: Reading<bool>,
    /// The lockup detectors run.
    pub watchdog: Reading<bool>,
    /// The hard lockup detector runs; it interrupts each CPU without a mask.
    pub nmi_watchdog: Reading<bool>,
    /// The soft lockup detector runs.
    pub soft_watchdog: Reading<bool>,
    /// The CPUs that the detectors watch.
    pub watchdog_cpus: Reading<CpuList>,
    /// The CPUs on which the kernel's unbound work may run.
    pub workqueue_cpus: Reading<CpuList>,
    /// Pages are moved towards the CPUs that use them, by taking them away for a moment.
    pub numa_balancing: Reading<u32>,
}

/// A limit of this process; absent values stand for "unlimited".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// The limit that holds now.
    pub soft: Option<u64>,
    /// The limit up to which the process may raise it.
    pub hard: Option<u64>,
}

/// Rights and limits of this process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Number of the effective user.
    pub user: Reading<u32>,
    /// The highest real-time priority without a capability.
    pub realtime_priority: Reading<Limit>,
    /// The memory that may be locked without a capability, in bytes.
    pub locked_memory_bytes: Reading<Limit>,
    /// Effective capabilities as a bit mask.
    pub capabilities: Reading<u64>,
    /// The CPUs that this process may run on, by its affinity.
    pub allowed_cpus: Reading<CpuList>,
    /// The CPUs that its control groups leave to its threads.
    #[serde(default)]
    pub grantable_cpus: Reading<CpuList>,
    /// A seccomp filter is in place.
    pub seccomp: Reading<u32>,
}

impl Limits {
    /// Returns `true` if a capability, by its number, is effective; `None` if that is not known.
    pub fn capable(&self, capability: u32) -> Option<bool> {
        Some(self.capabilities.get()? & (1_u64 << capability.min(63)) != 0)
    }
}

pub(super) fn read(source: &Source, attempts: &impl Attempts, cgroups: &Cgroups) -> Scheduler {
    let at = |name: &str| format!("{KERNEL}/{name}");
    Scheduler {
        rt_runtime_us: source.value(&at("sched_rt_runtime_us")),
        rt_period_us: source.value(&at("sched_rt_period_us")),
        rt_group: rt_group(source, cgroups),
        fifo: attempts.schedule(Scheduling::fifo(1)),
        fifo_control: attempts.schedule(Scheduling::fifo(CONTROL_PRIORITY)),
        fifo_fresh_cgroup: match cgroups.place_for_attempt(source) {
            Ok(place) => attempts.schedule_in_fresh_cgroup(&place),
            Err(error) => FreshCgroup::not_tried(&error.to_string()),
        },
        deadline: attempts.schedule(TRIED_DEADLINE),
        autogroup: source.switch(&at("sched_autogroup_enabled")),
        watchdog: source.switch(&at("watchdog")),
        nmi_watchdog: source.switch(&at("nmi_watchdog")),
        soft_watchdog: source.switch(&at("soft_watchdog")),
        watchdog_cpus: source.value(&at("watchdog_cpumask")),
        workqueue_cpus: source.mask("/sys/devices/virtual/workqueue/cpumask"),
        numa_balancing: source.value(&at("numa_balancing")),
    }
}

/// The file of a group's budget exists only where the kernel was built with it.
fn rt_group(source: &Source, cgroups: &Cgroups) -> Reading<bool> {
    let Some(mount) = cgroups.mount_of("cpu") else {
        return Reading::Absent;
    };
    source.exists(&format!("{}/cpu.rt_runtime_us", mount.folder))
}

pub(super) fn read_limits(source: &Source, attempts: &impl Attempts) -> Limits {
    let status = source.text("/proc/self/status");
    let limits = source.text("/proc/self/limits");
    let of_status = |name: &str| super::field_of(&status, name);
    let limit = |name: &str| {
        limits.clone().and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.map_or(Reading::Absent, parse_limit)
        })
    };
    Limits {
        user: of_status("Uid").and_then(|users| {
            let effective = users.split_whitespace().nth(1).unwrap_or("");
            crate::source::parsed(effective, "/proc/self/status: Uid")
        }),
        realtime_priority: limit("Max realtime priority"),
        locked_memory_bytes: limit("Max locked memory"),
        capabilities: of_status("CapEff").and_then(|mask| {
            u64::from_str_radix(&mask, 16)
                .map_err(|error| format!("/proc/self/status: CapEff `{mask}`: {error}"))
                .into()
        }),
        allowed_cpus: of_status("Cpus_allowed_list")
            .and_then(|list| crate::source::parsed(&list, "/proc/self/status")),
        grantable_cpus: attempts.grantable_cpus(),
        seccomp: of_status("Seccomp")
            .and_then(|mode| crate::source::parsed(&mode, "/proc/self/status")),
    }
}

/// Reads the two values of a line of `/proc/self/limits`, behind its name.
fn parse_limit(text: &str) -> Reading<Limit> {
    let value = |word: Option<&str>| match word {
        Some("unlimited") => Ok(None),
        Some(number) => number
            .parse()
            .map(Some)
            .map_err(|error| format!("/proc/self/limits: `{number}`: {error}")),
        None => Err("/proc/self/limits: a value is missing".to_owned()),
    };
    let mut words = text.split_whitespace();
    let soft = value(words.next());
    let hard = value(words.next());
    soft.and_then(|soft| Ok(Limit { soft, hard: hard? })).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_numbers_or_unlimited() {
        assert_eq!(
            parse_limit("   8388608   unlimited   bytes"),
            Reading::Read(Limit { soft: Some(8_388_608), hard: None })
        );
        assert!(parse_limit("  many  0").unreadable().is_some());
        assert!(parse_limit("  1").unreadable().is_some());
    }
}
