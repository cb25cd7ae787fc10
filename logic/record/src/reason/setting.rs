//! Settings of the machine that were not taken, or did not stay: which one, and the values.
//!
//! | type | says |
//! |------|------|
//! | [`MachineSetting`] | which setting it is |
//! | [`Refusal`] | why a value was not given to it |
//! | [`SettingFailure`] | that it did not take its value |
//! | [`MachineDrift`] | that it, or a CPU, did not stay as it was given |
//! | [`ShareDrift`] | that a partition's share of the cache or the bandwidth did not stay |

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Stated;

/// A setting of the machine, by what people know it by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MachineSetting {
    /// A file of the kernel, or the folder of a cpuset.
    File {
        /// Its path, which begins with `/`.
        path: String,
    },
    /// The CPUs of programs under version 1 of cgroups.
    Programs {
        /// Folder of their cpuset, which begins with `/`.
        path: String,
    },
    /// The CPUs on which a thread may run.
    Affinity {
        /// Name of the thread.
        name: String,
        /// Number of the thread.
        thread: u32,
    },
    /// The limit of what a network interface sends.
    Sending {
        /// Name of the interface.
        interface: String,
    },
    /// The driver that has a device.
    Driver {
        /// PCI address of the device, with the domain.
        device: String,
    },
    /// The limit of what Open vSwitch takes from one of its ports.
    Switched {
        /// Name of the interface.
        interface: String,
    },
    /// The pool of Xen that has CPUs.
    Pool {
        /// The CPUs, a list.
        cpus: String,
    },
}

impl fmt::Display for MachineSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path } => f.write_str(path),
            Self::Programs { path } => write!(f, "programs in {path}"),
            Self::Affinity { name, thread } => write!(f, "affinity of `{name}` ({thread})"),
            Self::Sending { interface } => write!(f, "what `{interface}` may send"),
            Self::Driver { device } => write!(f, "driver of {device}"),
            Self::Switched { interface } => write!(f, "what Open vSwitch takes from `{interface}`"),
            Self::Pool { cpus } => write!(f, "Xen's pool of CPUs {cpus}"),
        }
    }
}

/// The reason why a setting was not given a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "because", rename_all = "snake_case")]
pub enum Refusal {
    /// The kernel, or a tool that asks it, did not read or write the setting.
    #[error("{error}")]
    Machine {
        /// The error in their own words, or the text that could not be understood.
        error: String,
    },
    /// No CPU would remain.
    #[error("no CPU would remain; leave one for housekeeping")]
    NoCpu,
    /// Another site wants another value.
    #[error(
        "another site holds it at `{value}`; bring that one down, or let both ask for the same"
    )]
    Held {
        /// The value that the other site wants.
        value: String,
    },
    /// The present value is of another kind than the change.
    #[error("it holds `{value}`, which can't be changed in this way")]
    Unfit {
        /// The value that it holds, which is no number or list of CPUs.
        value: String,
    },
}

/// A setting that did not take the value that was wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "failure", rename_all = "snake_case")]
pub enum SettingFailure {
    /// The value was not given to it.
    Refused {
        /// The setting that was to be changed.
        setting: MachineSetting,
        /// The reason of the refusal.
        refusal: Refusal,
    },
    /// The value was accepted, and another one is in force.
    Ignored {
        /// The setting that was written.
        setting: MachineSetting,
        /// The value that was written.
        wanted: String,
        /// The value that was read back.
        found: String,
    },
    /// The network interface that has the setting is not there.
    NoInterface {
        /// The setting that was to be changed.
        setting: MachineSetting,
    },
}

impl fmt::Display for SettingFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { setting, refusal } => write!(f, "{setting}: {refusal}"),
            Self::Ignored { setting, wanted, found } => {
                write!(f, "{setting}: wrote `{wanted}`, read back `{found}`")
            }
            Self::NoInterface { setting } => write!(f, "{setting}: there is no such interface"),
        }
    }
}

/// A change of the machine while partitions ran on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum MachineDrift {
    /// A CPU of the partitions was taken offline.
    CpuOffline {
        /// Number of the CPU.
        cpu: u32,
    },
    /// A CPU of the partitions is online again.
    CpuOnline {
        /// Number of the CPU.
        cpu: u32,
    },
    /// A setting holds another value than it was given.
    OtherValue {
        /// The setting that was given a value.
        setting: MachineSetting,
        /// The value that it was given.
        given: String,
        /// The value that it holds.
        found: String,
    },
    /// A setting can't be read any more.
    Unreadable {
        /// The setting that was given a value.
        setting: MachineSetting,
        /// The value that it was given.
        given: String,
        /// The error of reading it.
        error: String,
    },
    /// A network interface came up, and its driver had placed an interrupt where none may be; it
    /// was put back.
    PlacedByDriver {
        /// Name of the interface; absent where the kernel's message was lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interface: Option<String>,
        /// The CPUs of the interrupt.
        setting: MachineSetting,
        /// The value that it held.
        found: String,
        /// The value that it was given again.
        given: String,
    },
    /// The settings could not be compared with the journal.
    NotCompared {
        /// The error of opening the journal.
        error: String,
    },
    /// A change that an earlier version kept as a sentence.
    #[serde(untagged)]
    Stated(Stated),
}

impl fmt::Display for MachineDrift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CpuOffline { cpu } => write!(
                f,
                "CPU {cpu} was taken offline; partitions on it run elsewhere, as others do"
            ),
            Self::CpuOnline { cpu } => write!(
                f,
                "CPU {cpu} is online again; partitions may run elsewhere until pinned again"
            ),
            Self::OtherValue { setting, given, found } => {
                write!(f, "{setting}: given `{given}`, holds `{found}`")
            }
            Self::Unreadable { setting, given, error } => {
                write!(f, "{setting}: given `{given}`, can't be read: {error}")
            }
            Self::PlacedByDriver { interface, setting, found, given } => {
                match interface {
                    Some(name) => write!(f, "interface `{name}` came up")?,
                    None => f.write_str("an interface may have come up")?,
                }
                write!(f, ", and {setting} held `{found}`; it has `{given}` again")
            }
            Self::NotCompared { error } => f.write_str(error),
            Self::Stated(sentence) => sentence.fmt(f),
        }
    }
}

/// The way in which a partition lost its share of the last-level cache or of the memory bandwidth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ShareDrift {
    /// A file of resctrl holds another value than was written.
    #[error(
        "`{file}`: wrote `{written}`, read back `{found}`; the kernel or another program overrides \
         it"
    )]
    Overridden {
        /// Path of the file, which begins with `/`.
        file: String,
        /// The value that was written.
        written: String,
        /// The value that it holds.
        found: String,
    },
    /// Another group has come to ways of the cache that are reserved.
    #[error("group `{group}` has come since, and may fill {ways} of the partition's ways")]
    Filled {
        /// Name of the group that has come.
        group: String,
        /// Number of the ways that it may fill.
        ways: u32,
    },
    /// Files of resctrl can't be read any more.
    #[error("{error}")]
    Unreadable {
        /// The error of reading them, with its remedy.
        error: String,
    },
    /// A change that an earlier version kept as a sentence.
    #[error("{0}")]
    #[serde(untagged)]
    Stated(Stated),
}
