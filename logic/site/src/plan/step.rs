//! One step of a plan, and how it is said in plain words.

use std::fmt;

use quietcore_units::{BitCount, BitRate, ByteSize, CpuSet, Nanos, ReleaseRule, Wake};
use quietcore_wording::plural;
use serde::{Serialize, Serializer};

use crate::backend::Backend;
use crate::reading::format::is_card;
use crate::site::{Control, Length, Load, LoadKind, NeighbourForm, ProbeName, Release, Scheduling};
use crate::words::{early_wake_words, exact, exact_bits, exact_rate, exact_size, policy};

/// One step of a plan. Its text says what is done; its fields say it to a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Step {
    /// Build the program of a partition with gcc; what is unchanged since the last build is kept.
    BuildProgram {
        /// The partition of the program.
        partition: String,
        /// The folder of generated C as written.
        model: String,
    },
    /// Hold `/dev/cpu_dma_latency` at 0, so that no CPU falls into a deep sleep.
    HoldCpusAwake,
    /// Change something of the machine, and read it back.
    Change {
        /// The control that is applied.
        control: Control,
        /// The CPUs that become quiet.
        #[serde(serialize_with = "as_text")]
        cpus: CpuSet,
    },
    /// Limit what an interface sends, and read it back.
    LimitTraffic {
        /// The partition that drives it.
        partition: String,
        /// Name of the network interface.
        interface: String,
        /// The sustained rate, in bit/s.
        rate: BitRate,
        /// Bits that may pass at once after a pause; `None` leaves it to us.
        burst: Option<BitCount>,
    },
    /// Take a network card away from the host's driver, so that a guest can have it.
    GiveCard {
        /// The partition whose guest drives it.
        partition: String,
        /// PCI address of the card, with the domain.
        address: String,
    },
    /// Give a partition its part of the last-level cache, limit what it takes of the memory's
    /// bandwidth, and read it back.
    ReserveShare {
        /// The partition that gets the share.
        partition: String,
        /// Ways of the last-level cache that nobody else has; `None` leaves it those of all others.
        ways: Option<u32>,
        /// The most of the memory's bandwidth, in percent; `None` without limit.
        bandwidth_percent: Option<u32>,
    },
    /// Put back what was changed of the machine.
    PutBack,
    /// Start load workers and wait until each of them works.
    StartLoad {
        /// The profile that asks for them.
        profile: String,
        /// The kind of load.
        kind: LoadKind,
        /// Number of workers of this load.
        workers: u32,
        /// Bytes that each of them touches or writes.
        size: Option<ByteSize>,
        /// CPUs on which they may run; `None` means on every CPU.
        #[serde(serialize_with = "as_optional_text")]
        cpus: Option<CpuSet>,
    },
    /// Start a neighbour, and wait until its loads work.
    StartNeighbour {
        /// The profile that asks for it.
        profile: String,
        /// Name of the neighbour.
        neighbour: String,
        /// The backend that realises it.
        backend: Backend,
        /// The kind of neighbour.
        #[serde(skip)]
        form: NeighbourForm,
        /// CPUs on which it may run.
        #[serde(serialize_with = "as_text")]
        cpus: CpuSet,
        /// Processors that it has; absent where it is no guest.
        #[serde(skip_serializing_if = "Option::is_none")]
        processors: Option<usize>,
        /// The loads that run in it.
        loads: Vec<Load>,
    },
    /// Create the shared-memory region of a partition.
    CreateExchange {
        /// The partition of the exchange.
        partition: String,
    },
    /// Create the shared memory of a channel.
    CreateChannel {
        /// Name of the channel.
        channel: String,
        /// The partition that sends, or `host`.
        from: String,
        /// The partition that receives, or `host`.
        to: String,
        /// Number of its signals and queues.
        signals: usize,
    },
    /// Compare the SubDevices of a fieldbus with the site file and bring them to OP.
    BringUpFieldbus {
        /// Name of the fieldbus.
        fieldbus: String,
        /// The partition that drives it.
        partition: String,
        /// The network interface; `None` means the simulated segment.
        interface: Option<String>,
        /// Number of SubDevices that are expected; 0 accepts any line.
        subdevices: usize,
        /// The time between two frames.
        cycle: Nanos,
    },
    /// Starts the process or guest of a partition.
    StartPartition {
        /// Name of the partition.
        partition: String,
        /// The backend that realises it.
        backend: Backend,
        /// The noun for a partition of it, with the system in its guest.
        #[serde(skip)]
        noun: &'static str,
        /// The CPUs it is pinned to; `None` means wherever the kernel puts it.
        #[serde(serialize_with = "as_optional_text")]
        cpus: Option<CpuSet>,
        /// The policy that this machine gives.
        scheduling: Scheduling,
        /// Memory to be had beforehand; `None` means as much as the program needs.
        memory: Option<ByteSize>,
        /// `true` if its memory is locked.
        locked: bool,
        /// The time between two releases.
        period: Nanos,
        /// The way in which it is woken.
        early_wake: Wake,
        /// The program that it runs, as written; `None` means the probe.
        model: Option<String>,
        /// The tasks of the program; empty for the probe.
        tasks: Vec<TaskStart>,
    },
    /// Warm up and measure all partitions at the same time.
    Measure {
        /// Name of the profile.
        profile: String,
        /// Time that is run before and not recorded.
        warm_up: Nanos,
        /// Length of the measurement of each partition.
        length: Length,
        /// Time that this takes, without the warm-up.
        expected: Nanos,
    },
    /// Measure with a probe on the CPU of a partition, which runs nothing else meanwhile.
    Probe {
        /// The kind of measurement.
        probe: ProbeName,
        /// The partition whose CPU is measured.
        partition: String,
        /// The CPU that is measured.
        #[serde(serialize_with = "as_text")]
        cpu: CpuSet,
        /// About how long that takes.
        expected: Nanos,
    },
    /// Stops the process or guest of a partition.
    StopPartition {
        /// Name of the partition.
        partition: String,
    },
    /// Stop all load workers and note what they achieved.
    StopLoads {
        /// The profile that asked for them.
        profile: String,
    },
    /// Stop all neighbours and note what their loads achieved.
    StopNeighbours {
        /// The profile that asked for them.
        profile: String,
    },
    /// Write the records of a profile into the evidence folder.
    WriteRecords {
        /// Name of the profile.
        profile: String,
    },
    /// Judge a record against a class.
    Judge {
        /// Under which profile it was measured.
        profile: String,
        /// Name of the partition.
        partition: String,
        /// Name of the class.
        class: String,
    },
    /// Let the CPUs sleep again.
    ReleaseCpus,
    /// Complete the evidence folder: report and checksums.
    WriteEvidence {
        /// The name of the site.
        site: String,
    },
}

/// A task as it is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskStart {
    /// The task's name in the site file.
    pub name: String,
    /// The event or clock that releases it.
    pub release: Release,
    /// The policy that this machine gives.
    pub scheduling: Scheduling,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuildProgram { partition, model } => {
                write!(f, "build program `{model}` of partition `{partition}` with gcc")
            }
            Self::HoldCpusAwake => f.write_str(
                "hold /dev/cpu_dma_latency at 0, so that no CPU falls into a deep sleep",
            ),
            Self::Change { control, cpus } => {
                write!(f, "{}, and read back that it holds", control.step(cpus))
            }
            Self::LimitTraffic { .. } => self.write_limit(f),
            Self::GiveCard { partition, address } => write!(
                f,
                "give the network card at {address} to the guest of `{partition}` (`vfio-pci`)"
            ),
            Self::ReserveShare { .. } => self.write_share(f),
            Self::PutBack => f.write_str("put the machine's settings back as they were"),
            Self::StartLoad { .. } => self.write_load(f),
            Self::StartNeighbour { .. } => self.write_neighbour(f),
            Self::CreateExchange { partition } => {
                write!(f, "create the exchange of partition `{partition}`")
            }
            Self::CreateChannel { channel, from, to, signals } => {
                let plural = if *signals == 1 { "signal" } else { "signals" };
                write!(
                    f,
                    "create channel `{channel}` from `{from}` to `{to}` with {signals} {plural}"
                )
            }
            Self::BringUpFieldbus { .. } => self.write_bring_up(f),
            Self::StartPartition { .. } => self.write_start(f),
            Self::Measure { profile, warm_up, length, expected } => {
                write!(
                    f,
                    "warm up for {}, then measure profile `{profile}` for {length}",
                    exact(*warm_up)
                )?;
                match length {
                    Length::Duration(_) => Ok(()),
                    Length::Cycles(_) => write!(f, ", which takes {expected}"),
                }
            }
            Self::Probe { probe, partition, cpu, expected } => write!(
                f,
                "measure with probe `{probe}` on CPU {cpu} of partition `{partition}`, which takes \
                 about {expected}"
            ),
            Self::StopPartition { partition } => write!(f, "stop partition `{partition}`"),
            Self::StopLoads { profile } => {
                write!(f, "stop the loads of profile `{profile}` and note what they achieved")
            }
            Self::StopNeighbours { profile } => write_stop_beside(f, profile),
            Self::WriteRecords { profile } => {
                write!(f, "write the records of profile `{profile}`")
            }
            Self::Judge { profile, partition, class } => {
                write!(f, "judge partition `{partition}` under `{profile}` against class `{class}`")
            }
            Self::ReleaseCpus => f.write_str("release /dev/cpu_dma_latency"),
            Self::WriteEvidence { site } => {
                write!(f, "write report and checksums into the evidence folder of `{site}`")
            }
        }
    }
}

fn write_stop_beside(f: &mut fmt::Formatter<'_>, profile: &str) -> fmt::Result {
    write!(f, "stop the neighbours of profile `{profile}` and note what their loads achieved")
}

impl Step {
    fn write_load(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::StartLoad { kind, workers, size, cpus, .. } = self else {
            return Ok(());
        };
        let plural = if *workers == 1 { "worker" } else { "workers" };
        write!(f, "start {workers} load {plural} `{kind}`")?;
        if let Some(size) = size {
            write!(f, " of {} each", exact_size(*size))?;
        }
        match cpus {
            Some(cpus) => write!(f, " on {}", cpu_words(cpus)),
            None => f.write_str(" on any CPU"),
        }
    }

    fn write_neighbour(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::StartNeighbour { neighbour, form, cpus, processors, loads, .. } = self else {
            return Ok(());
        };
        write!(f, "start {neighbour} as a {form}")?;
        if let Some(count) = processors {
            write!(f, " with {count} processor{}", plural(*count as u64))?;
        }
        let loads = loads.iter().map(|load| {
            let size = load.size.map(|size| format!(" of {} each", exact_size(size)));
            format!("{} × `{}`{}", load.workers, load.kind, size.unwrap_or_default())
        });
        let loads: Vec<String> = loads.collect();
        write!(f, " on {}, with the loads {}", cpu_words(cpus), loads.join(" and "))
    }

    fn write_share(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::ReserveShare { partition, ways, bandwidth_percent } = self else {
            return Ok(());
        };
        let ways = ways.map(|ways| {
            let plural = if ways == 1 { "way" } else { "ways" };
            format!("{ways} {plural} of the last-level cache for itself")
        });
        let limit = bandwidth_percent
            .map(|percent| format!("{percent} % of the memory's bandwidth at most"));
        let words: Vec<String> = ways.into_iter().chain(limit).collect();
        let words = words.join(" and ");
        write!(f, "give partition `{partition}` {words}, and read back that it holds")
    }

    fn write_limit(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::LimitTraffic { partition, interface, rate, burst } = self else {
            return Ok(());
        };
        let rate = exact_rate(*rate);
        write!(f, "limit what `{partition}` sends on `{interface}` to {rate}")?;
        if let Some(burst) = burst {
            write!(f, ", {} at once", exact_bits(*burst))?;
        }
        f.write_str(", and read back that it holds")
    }

    fn write_bring_up(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::BringUpFieldbus { fieldbus, partition, interface, subdevices, cycle } = self
        else {
            return Ok(());
        };
        let plural = if *subdevices == 1 { "SubDevice" } else { "SubDevices" };
        match subdevices {
            0 => f.write_str("bring whatever SubDevices are found")?,
            count => write!(f, "bring {count} {plural}")?,
        }
        write!(f, " of fieldbus `{fieldbus}` to OP for partition `{partition}`, on ")?;
        match interface {
            Some(card) if is_card(card) => write!(f, "the network card at {card}")?,
            Some(interface) => write!(f, "interface `{interface}`")?,
            None => f.write_str("the simulated segment")?,
        }
        write!(f, ", a frame every {}", exact(*cycle))
    }

    fn write_start(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::StartPartition {
            partition,
            noun,
            cpus,
            scheduling,
            memory,
            locked,
            period,
            early_wake,
            model,
            tasks,
            ..
        } = self
        else {
            return Ok(());
        };
        let cpus = cpus.map_or("any CPU".to_owned(), |cpus| cpu_words(&cpus));
        let what = noun;
        write!(
            f,
            "start partition `{partition}` as a {what} on {cpus}, {}, ",
            policy(*scheduling)
        )?;
        match memory {
            Some(memory) => write!(f, "{} of memory ", exact_size(*memory))?,
            None => f.write_str("memory ")?,
        }
        let locked = if *locked { "locked" } else { "not locked" };
        write!(
            f,
            "{locked}, released every {}, {}",
            exact(*period),
            early_wake_words(*early_wake)
        )?;
        if let Some(model) = model {
            write!(f, ", running `{model}`")?;
        }
        // A single cyclic task says what the partition says already.
        if let [only] = &tasks[..]
            && let ReleaseRule::Cyclic { offset: Nanos::ZERO, .. } = only.release.rule
        {
            return Ok(());
        }
        for TaskStart { name, release, scheduling } in tasks {
            write!(f, "; task `{name}` {release}, {}", policy(*scheduling))?;
        }
        Ok(())
    }
}

/// `CPU 1` or `CPUs 1-3`.
pub(crate) fn cpu_words(cpus: &CpuSet) -> String {
    match cpus.len() {
        1 => format!("CPU {cpus}"),
        _ => format!("CPUs {cpus}"),
    }
}

/// Writes a set of CPUs in list notation.
pub(super) fn as_text<S: Serializer>(cpus: &CpuSet, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(cpus)
}

fn as_optional_text<S: Serializer>(cpus: &Option<CpuSet>, to: S) -> Result<S::Ok, S::Error> {
    match cpus {
        Some(cpus) => as_text(cpus, to),
        None => to.serialize_none(),
    }
}
