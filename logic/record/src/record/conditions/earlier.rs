//! Conditions as earlier versions have written them: in words.
//!
//! Records of schema `quietcore.record/1`, and the first ones of `/2`, say how a task was released
//! and scheduled, whether time was real and which part is included in sentences. All reading of
//! such words is here. Words become a value only where that value is written with the same words
//! and nothing in them is rounded; else they are kept as they are.

use std::collections::BTreeMap;

use quietcore_units::{CpuSet, SchedulingPolicy, Wake, WakeKind};
use serde::Deserialize;

use super::{
    AffinityInForce, Conditions, EarlierPart, Injection, LoadAchieved, NeighbourAchieved, Platform,
    PolicyInForce, ReleaseMode, Scheduled, TimeReality, TracedContext,
};

/// The fact about the machine that said whether its time is real.
pub(super) const TIME_IS_REAL: &str = "time_is_real";
/// The activity that said that an earlier part is included.
pub(super) const INCLUDES: &str = "includes";

/// The most CPUs a learned margin may spin, in per cent.
const SHARE_MAX: u32 = 100;

/// Conditions in a file of any version: a value where this version wrote it, words before.
#[derive(Deserialize)]
pub(super) struct Filed {
    started_at: String,
    duration_ns: u64,
    release_mode: Option<ReleaseMode>,
    #[serde(default)]
    mode: String,
    scheduling_policy: Option<PolicyInForce>,
    #[serde(default)]
    policy: String,
    scheduled: Option<Scheduled>,
    cpus_allowed: Option<AffinityInForce>,
    #[serde(default)]
    affinity: String,
    dma_latency_held: bool,
    time: Option<TimeReality>,
    machine: BTreeMap<String, String>,
    platform: Option<Box<Platform>>,
    loads: Vec<LoadAchieved>,
    #[serde(default)]
    neighbours: Vec<NeighbourAchieved>,
    activity: BTreeMap<String, String>,
    earlier_part: Option<EarlierPart>,
    site_sha256: String,
    quietcore_version: String,
    injected: Option<String>,
    injection: Option<Injection>,
}

impl From<Filed> for Conditions {
    fn from(filed: Filed) -> Self {
        let Filed { mut machine, mut activity, scheduled, .. } = filed;
        let stated = machine.remove(TIME_IS_REAL).as_deref().map(time);
        // A file that says both is believed where it says that its time is not real.
        let not_real = stated.clone().filter(|stated| stated.why_not_real().is_some());
        let time = not_real.or(filed.time).or(stated);
        let part = filed.earlier_part.or_else(|| {
            let part = earlier_part(activity.get(INCLUDES)?)?;
            activity.remove(INCLUDES);
            Some(part)
        });
        Self {
            started_at: filed.started_at,
            duration_ns: filed.duration_ns,
            mode: filed.release_mode.unwrap_or_else(|| mode(filed.mode, scheduled)),
            policy: filed.scheduling_policy.unwrap_or_else(|| policy(filed.policy, scheduled)),
            affinity: filed.cpus_allowed.unwrap_or_else(|| affinity(filed.affinity)),
            dma_latency_held: filed.dma_latency_held,
            time: time.unwrap_or_default(),
            machine,
            platform: filed.platform,
            loads: filed.loads,
            neighbours: filed.neighbours,
            activity,
            earlier_part: part,
            site_sha256: filed.site_sha256,
            quietcore_version: filed.quietcore_version,
            injection: filed.injection.or_else(|| filed.injected.map(Injection::Stated)),
        }
    }
}

impl Conditions {
    /// Returns `true` where the words of an earlier version don't contradict the figures that it
    /// kept beside them.
    pub(in crate::record) fn scheduling_is_consistent(&self) -> bool {
        let wakes_alike = match &self.mode {
            // A task without a timer may have any words.
            ReleaseMode::Stated { words, wake } => wake.is_none() || *wake == wake_of(words),
            _ => true,
        };
        let is_of_policy = match &self.policy {
            PolicyInForce::Stated { words, fifo_priority } => {
                *fifo_priority == policy_of(words).fifo_priority()
            }
            _ => true,
        };
        wakes_alike && is_of_policy
    }
}

/// Reads how releases were made; figures beside the words count before them.
fn mode(words: String, scheduled: Option<Scheduled>) -> ReleaseMode {
    let known = mode_of(&words).filter(|mode| mode.to_string() == words);
    match (known, scheduled) {
        (Some(mode), None) => mode,
        (Some(mode), Some(figures)) if mode.wake() == figures.wake => mode,
        (None, None) => ReleaseMode::Stated { wake: wake_of(&words), words },
        (_, Some(figures)) => ReleaseMode::Stated { wake: figures.wake, words },
    }
}

fn mode_of(words: &str) -> Option<ReleaseMode> {
    let (wait, in_guest) = match words.strip_suffix(", in a guest") {
        Some(wait) => (wait, true),
        None => (words, false),
    };
    let timer = |wait| Some(ReleaseMode::Timer { wait, in_guest });
    let traced = |context| Some(ReleaseMode::Traced { context });
    match wait {
        "" => Some(ReleaseMode::Unknown),
        "sleep" => timer(Wake::Sleep),
        "spin: it never sleeps" => timer(Wake::Spin),
        "released by the program's kernel" => Some(ReleaseMode::Kernel),
        "interrupt" => traced(TracedContext::Interrupt),
        "kernel thread" => traced(TracedContext::KernelThread),
        "user thread" => traced(TracedContext::UserThread),
        "noise" => traced(TracedContext::Noise),
        // A fixed margin was rounded for people, and is no figure any more.
        _ => {
            let share = wait.strip_prefix("early wake, learned margin, at most ")?;
            let share_percent = share.strip_suffix(" % of the core")?.parse().ok()?;
            let wait = Wake::Adaptive { share_percent };
            (share_percent <= SHARE_MAX).then(|| timer(wait))?
        }
    }
}

/// Reads how the task waited from the beginning of the words.
fn wake_of(words: &str) -> Option<WakeKind> {
    let begins =
        [("early wake", WakeKind::Early), ("sleep", WakeKind::Sleep), ("spin", WakeKind::Spin)];
    begins.into_iter().find(|(begin, _)| words.starts_with(begin)).map(|(_, kind)| kind)
}

/// Reads a policy; figures beside the words count before them.
fn policy(words: String, scheduled: Option<Scheduled>) -> PolicyInForce {
    let known = policy_of(&words);
    let fifo_priority = scheduled.map_or(known.fifo_priority(), |figures| figures.fifo_priority);
    if known.fifo_priority() == fifo_priority && known.to_string() == words {
        return known;
    }
    PolicyInForce::Stated { words, fifo_priority }
}

fn policy_of(words: &str) -> PolicyInForce {
    let number = |begin| words.strip_prefix(begin)?.parse::<u32>().ok();
    let policy = match words {
        "" => return PolicyInForce::Unknown,
        "not read back" => return PolicyInForce::NotReadBack,
        "SCHED_OTHER" => SchedulingPolicy::Other,
        "SCHED_BATCH" => SchedulingPolicy::Batch,
        "SCHED_IDLE" => SchedulingPolicy::Idle,
        "SCHED_DEADLINE" => SchedulingPolicy::Deadline,
        _ => {
            if let Some(priority) = number("SCHED_FIFO ") {
                SchedulingPolicy::Fifo { priority }
            } else if let Some(priority) = number("SCHED_RR ") {
                SchedulingPolicy::RoundRobin { priority }
            } else if let Some(number) = number("policy ") {
                SchedulingPolicy::Unknown { number }
            } else {
                let priority = words.strip_prefix("priority ").and_then(|it| it.parse().ok());
                let stated =
                    || PolicyInForce::Stated { words: words.to_owned(), fifo_priority: None };
                return priority.map_or_else(stated, PolicyInForce::Priority);
            }
        }
    };
    PolicyInForce::ReadBack(policy)
}

fn affinity(words: String) -> AffinityInForce {
    let cpus = || words.parse::<CpuSet>().ok().filter(|cpus| cpus.to_string() == words);
    match words.as_str() {
        "" => AffinityInForce::Unknown,
        "not read back" => AffinityInForce::NotReadBack,
        _ => cpus().map_or(AffinityInForce::Stated(words), AffinityInForce::ReadBack),
    }
}

/// Reads the fact about time: `yes`, `unknown` or `no`, with the reason behind it.
pub(super) fn time(words: &str) -> TimeReality {
    if words == TimeReality::Native.to_string() {
        return TimeReality::Native;
    }
    if let Some(cause) = words.strip_prefix("no, timing not valid: ") {
        return TimeReality::Emulated(cause.to_owned());
    }
    match words.strip_prefix("unknown: ") {
        Some(cause) => TimeReality::Unknown(cause.to_owned()),
        None => TimeReality::Stated(words.to_owned()),
    }
}

/// Reads out of other words about time why it is not real.
pub(super) fn why_time_is_not_real(words: &str) -> Option<&str> {
    let cause = words.strip_prefix("no, ");
    cause.or_else(|| (words == "no" || words.starts_with("no,")).then_some(words))
}

fn earlier_part(words: &str) -> Option<EarlierPart> {
    let (cycles, started_at) = words.split_once(" cycles of an earlier, interrupted part from ")?;
    Some(EarlierPart { cycles: cycles.parse().ok()?, started_at: started_at.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conditions of an earlier version with these words and figures.
    fn filed(mode: &str, policy: &str, scheduled: Option<Scheduled>) -> Conditions {
        let (mode, policy) = (super::mode(mode.to_owned(), scheduled), policy.to_owned());
        Conditions { mode, policy: super::policy(policy, scheduled), ..Conditions::default() }
    }

    #[test]
    fn a_record_of_earlier_days_is_read_from_its_words() {
        for (mode, policy, wake, fifo_priority) in [
            ("sleep", "SCHED_FIFO 90", Some(WakeKind::Sleep), Some(90)),
            (
                "early wake, adaptive, at most 25 % of the core",
                "SCHED_RR 90",
                Some(WakeKind::Early),
                None,
            ),
            ("early wake, 100 µs before the release", "policy 4", Some(WakeKind::Early), None),
            ("spin: it never sleeps, in a guest", "SCHED_OTHER", Some(WakeKind::Spin), None),
            ("released by the program's kernel", "not read back", None, None),
            ("interrupt", "priority 80", None, None),
            ("", "", None, None),
        ] {
            let held = filed(mode, policy, None);
            assert_eq!(held.mode.wake(), wake, "{mode}");
            assert_eq!(held.policy.fifo_priority(), fifo_priority, "{policy}");
            assert_eq!((&*held.mode.to_string(), &*held.policy.to_string()), (mode, policy));
            assert!(held.scheduling_is_consistent());
        }
    }

    #[test]
    fn words_that_say_all_become_values() {
        let (mode, policy) = ("early wake, learned margin, at most 25 % of the core", "SCHED_RR 9");
        let held = filed(mode, policy, None);
        let wait = Wake::Adaptive { share_percent: 25 };
        assert_eq!(held.mode, ReleaseMode::timer(wait));
        let policy = SchedulingPolicy::RoundRobin { priority: 9 };
        assert_eq!(held.policy, PolicyInForce::ReadBack(policy));
        assert!(matches!(affinity("0-2,5".to_owned()), AffinityInForce::ReadBack(_)));
        let other = affinity("0-1".to_owned());
        assert_eq!(other, AffinityInForce::Stated("0-1".to_owned()), "we write 0,1");
    }

    #[test]
    fn figures_go_before_words_and_must_not_contradict_them() {
        let figures = Scheduled { wake: Some(WakeKind::Early), fifo_priority: Some(80) };
        let held = filed("as it comes", "some policy", Some(figures));
        assert_eq!(held.scheduled(), Some(figures));
        assert!(!held.scheduling_is_consistent());
        let early = "early wake, 100 µs before the release";
        let held = filed(early, "SCHED_FIFO 90", Some(figures));
        assert!(!held.scheduling_is_consistent(), "the priority is another one");
        assert_eq!(held.policy.to_string(), "SCHED_FIFO 90");
        assert!(filed(early, "SCHED_FIFO 80", Some(figures)).scheduling_is_consistent());
        assert!(!filed("sleep", "SCHED_FIFO 80", Some(figures)).scheduling_is_consistent());
    }
}
