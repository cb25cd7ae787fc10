//! Settings that were asked for and are not in force: applied is not effective.

use std::fmt;

use quietcore_units::{ByteSize, CpuSet, SchedulingPolicy, ThreadSetting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SettingFailure, Stated};

/// Something that was asked for and was not in force. A record with one proves nothing about a
/// site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum NotInForce {
    /// The kernel refused a setting.
    SettingRefused {
        /// The setting that was refused.
        setting: ThreadSetting,
        /// The kernel's error; absent where it is not kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// A thread under SCHED_DEADLINE can't have a CPU of its own outside of an exclusive cpuset.
    DeadlineNotPinned,
    /// The kernel granted a policy, and another one is in force.
    OtherPolicy {
        /// The one that was granted, without the priority of SCHED_DEADLINE.
        granted: SchedulingPolicyEntry,
        /// The one in force.
        in_force: SchedulingPolicyEntry,
    },
    /// The thread was pinned, and may run elsewhere.
    OtherCpus {
        /// The CPU it was pinned to.
        cpu: u32,
        /// The CPUs it may run on.
        #[schemars(with = "String")]
        may_run_on: CpuSet,
    },
    /// The memory was locked, and none of it is any more.
    Unlocked,
    /// The memory of an emulated guest is left unlocked on purpose.
    LeftUnlocked,
    /// Less is locked than is reserved.
    LessLocked {
        /// The memory that is reserved, in bytes.
        reserved_bytes: u64,
        /// The memory that is locked, in bytes.
        locked_bytes: u64,
    },
    /// Settings of a control were accepted and hold other values.
    ControlIgnored {
        /// Name of the control.
        control: String,
        /// The first of these settings.
        first: SettingFailure,
        /// Number of settings beyond it.
        more: usize,
    },
    /// Settings of a control were refused, and it does nothing without them.
    ControlRefused {
        /// Name of the control.
        control: String,
        /// The first of these settings.
        first: SettingFailure,
        /// Number of settings beyond it.
        more: usize,
    },
    /// Links can't be followed, so that interrupts of one that comes up may arrive on any CPU.
    LinksUnheard {
        /// The kernel's error, when it was asked to tell of links.
        error: String,
    },
    /// The switch behind an interface does not keep to the share of a partition.
    ShareBehind {
        /// The limit that the switch did not take.
        limit: SettingFailure,
    },
    /// A control does not do what it should, as an earlier version told it.
    Control {
        /// The sentence of that version.
        problem: Stated,
    },
    /// A control was not applied: that takes root.
    ControlTakesRoot {
        /// Name of the control.
        control: String,
    },
    /// The machine has nothing that a control could change.
    ControlAbsent {
        /// Name of the control.
        control: String,
    },
}

/// A scheduling policy in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SchedulingPolicyEntry(#[schemars(with = "serde_json::Value")] pub SchedulingPolicy);

impl NotInForce {
    /// Makes the reason of a setting that the kernel refused.
    pub fn refused(setting: ThreadSetting, error: impl fmt::Display) -> Self {
        Self::SettingRefused { setting, error: Some(error.to_string()) }
    }

    /// Compares the policy that was granted with the one in force.
    pub fn other_policy(granted: SchedulingPolicy, in_force: SchedulingPolicy) -> Option<Self> {
        let [granted, in_force] = [granted, in_force].map(SchedulingPolicyEntry);
        (granted != in_force).then_some(Self::OtherPolicy { granted, in_force })
    }
}

impl fmt::Display for NotInForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SettingRefused { setting, error } => {
                f.write_str(consequence(*setting))?;
                error.as_ref().map_or(Ok(()), |error| write!(f, " ({error})"))
            }
            Self::DeadlineNotPinned => {
                f.write_str("SCHED_DEADLINE threads can't be pinned outside an exclusive cpuset")
            }
            Self::OtherPolicy { granted, in_force } => {
                write!(f, "{} was granted and {} is in force", granted.0, in_force.0)
            }
            Self::OtherCpus { cpu, may_run_on } => {
                write!(f, "the thread was pinned to CPU {cpu} and may run on {may_run_on}")
            }
            Self::Unlocked => f.write_str("memory was locked and nothing of it is locked any more"),
            Self::LeftUnlocked => f.write_str(
                "memory was to be locked, and that of an emulated guest is left unlocked, since \
                 the emulator's translations would be locked with it; a page fault may be part of \
                 a value; under KVM it is locked",
            ),
            Self::LessLocked { reserved_bytes, locked_bytes } => {
                let [reserved, locked] = [*reserved_bytes, *locked_bytes].map(ByteSize::new);
                write!(f, "{reserved} of memory are reserved and {locked} are locked")
            }
            Self::ControlIgnored { control, first, more } => {
                write!(f, "control `{control}` is not in force everywhere: {first}")?;
                and_more(*more, f)
            }
            Self::ControlRefused { control, first, more } => {
                write!(f, "control `{control}` has no effect: {first}")?;
                and_more(*more, f)
            }
            Self::LinksUnheard { error } => {
                write!(f, "links that come up can't be heard of: {error}")
            }
            Self::ShareBehind { limit } => limit.fmt(f),
            Self::Control { problem } => problem.fmt(f),
            Self::ControlTakesRoot { control } => {
                write!(f, "control `{control}` was not applied: that takes root")
            }
            Self::ControlAbsent { control } => {
                write!(f, "control `{control}` has nothing to change on this machine")
            }
        }
    }
}

fn and_more(more: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if more > 0 { write!(f, ", and {more} more") } else { Ok(()) }
}

/// The consequence of a refused setting for the values, and the remedy.
const fn consequence(setting: ThreadSetting) -> &'static str {
    match setting {
        ThreadSetting::MemoryLock => {
            "memory is not locked, so a page fault may be part of a value; run as root, or raise \
             the memlock limit"
        }
        ThreadSetting::WorkingSetLock => "the working set is not locked; raise the memlock limit",
        ThreadSetting::TimerSlack => "timers have the kernel's default slack of 50 µs",
        ThreadSetting::Affinity => "the thread could not be pinned to its CPU",
        ThreadSetting::Policy => {
            "the kernel refused the real-time policy, so the thread ran as SCHED_OTHER; run as \
             root, or grant CAP_SYS_NICE or an rtprio limit"
        }
    }
}
