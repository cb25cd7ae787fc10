//! The processors: which there are, how they hang together, which memory is near.

use serde::{Deserialize, Serialize};

use super::{CPUS, field};
use crate::attempts::Attempts;
use crate::cpu_list::CpuList;
use crate::reading::Reading;
use crate::source::Source;

/// The flags of `/proc/cpuinfo` that matter here; all others are left out.
const FLAGS: [&str; 19] = [
    "constant_tsc",
    "nonstop_tsc",
    "nonstop_tsc_s3",
    "tsc_known_freq",
    "tsc_reliable",
    "tsc_adjust",
    "tsc_deadline_timer",
    "rdtscp",
    "arat",
    "hypervisor",
    "vmx",
    "svm",
    "cat_l2",
    "cat_l3",
    "cdp_l3",
    "mba",
    "pdpe1gb",
    "waitpkg",
    "aperfmperf",
];

/// The processors and their memory nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// The maker's identification, such as `GenuineIntel`.
    pub vendor: Reading<String>,
    /// The model as the maker calls it.
    pub model_name: Reading<String>,
    /// Family, model and stepping numbers.
    pub signature: Reading<String>,
    /// Those flags of the first CPU that matter for real-time work.
    pub flags: Reading<Vec<String>>,
    /// CPUs that run now.
    pub online: Reading<CpuList>,
    /// CPUs that are plugged in.
    pub present: Reading<CpuList>,
    /// CPUs that could ever be plugged in.
    pub possible: Reading<CpuList>,
    /// CPUs that the scheduler leaves alone (`isolcpus`).
    pub isolated: Reading<CpuList>,
    /// CPUs whose tick stops while one task runs (`nohz_full`).
    pub nohz_full: Reading<CpuList>,
    /// `true` if several threads share a core now.
    pub smt_active: Reading<bool>,
    /// `on`, `off`, `forceoff`, `notsupported` or `notimplemented`.
    pub smt_control: Reading<String>,
    /// The processor says that it has cores of several types (CPUID leaf 7).
    pub hybrid: Reading<bool>,
    /// Performance cores of a hybrid processor.
    pub performance_cpus: Reading<CpuList>,
    /// Efficiency cores of a hybrid processor.
    pub efficiency_cpus: Reading<CpuList>,
    /// Each CPU that is present.
    pub cpus: Vec<LogicalCpu>,
    /// Memory nodes with their CPUs.
    pub nodes: Vec<Node>,
}

/// The kind of core on a hybrid processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CoreType {
    /// Fast, with a high clock.
    Performance,
    /// A small and slower core.
    Efficiency,
}

/// A logical CPU and its place in the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogicalCpu {
    /// The kernel's number of it.
    pub number: u32,
    /// Number of its socket.
    pub package: Reading<i64>,
    /// The die in the socket.
    pub die: Reading<i64>,
    /// The core in the die.
    pub core: Reading<i64>,
    /// All CPUs of the same core, this one included.
    pub siblings: Reading<CpuList>,
    /// Its speed beside the others, 1024 for the fastest.
    pub capacity: Reading<u64>,
    /// Its kind, from CPUID leaf 0x1a; absent on a uniform processor.
    pub core_type: Reading<CoreType>,
}

/// A memory node with its CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The kernel's number of it.
    pub number: u32,
    /// The CPUs for which it is near.
    pub cpus: Reading<CpuList>,
    /// Its memory in KiB.
    pub memory_kib: Reading<u64>,
    /// Distance to each node, 10 for itself.
    pub distances: Reading<Vec<String>>,
}

impl Cpu {
    /// The number of CPUs that run, or 0 where that is not known.
    pub fn online_count(&self) -> usize {
        self.online.get().map_or(0, |list| list.0.len())
    }

    /// The numbers of sockets, cores and threads a core, as far as known.
    pub fn topology(&self) -> (usize, usize, usize) {
        let count = |mut keys: Vec<(i64, i64, i64)>| {
            keys.sort_unstable();
            keys.dedup();
            keys.len()
        };
        let known = |reading: &Reading<i64>| reading.get().copied().unwrap_or(0);
        let online: Vec<&LogicalCpu> = self.cpus.iter().filter(|cpu| self.runs(cpu)).collect();
        let sockets = count(online.iter().map(|cpu| (known(&cpu.package), 0, 0)).collect());
        let cores = count(
            online
                .iter()
                .map(|cpu| (known(&cpu.package), known(&cpu.die), known(&cpu.core)))
                .collect(),
        );
        let threads = online.iter().filter_map(|cpu| cpu.siblings.get());
        let threads = threads.map(|siblings| siblings.0.len()).max().unwrap_or(1);
        (sockets, cores, threads)
    }

    /// Returns `true` if the processor has this flag; `None` if flags can't be read.
    pub fn has_flag(&self, flag: &str) -> Option<bool> {
        let flags = self.flags.get()?;
        Some(flags.iter().any(|other| other == flag))
    }

    fn runs(&self, cpu: &LogicalCpu) -> bool {
        self.online.get().is_none_or(|online| online.has(cpu.number))
    }
}

pub(in crate::facts) fn read(source: &Source, attempts: &impl Attempts) -> Cpu {
    let info = source.text("/proc/cpuinfo");
    let of_info = |name: &str| super::field_of(&info, name);
    let hybrid = match attempts.cpuid(None, 7, 0) {
        Some(words) => Reading::Read(words.edx & (1 << 15) != 0),
        None => Reading::Absent,
    };
    let is_hybrid = hybrid == Reading::Read(true);
    let at = |name: &str| format!("{CPUS}/{name}");
    Cpu {
        vendor: of_info("vendor_id"),
        model_name: of_info("model name"),
        signature: info.clone().map(|text| {
            let part = |name| field(&text, name).unwrap_or("?").to_owned();
            let (family, model) = (part("cpu family"), part("model"));
            format!("family {family} model {model} stepping {}", part("stepping"))
        }),
        flags: of_info("flags").map(|flags| {
            flags
                .split_whitespace()
                .filter(|flag| FLAGS.contains(flag))
                .map(str::to_owned)
                .collect()
        }),
        online: source.value(&at("online")),
        present: source.value(&at("present")),
        possible: source.value(&at("possible")),
        isolated: source.value(&at("isolated")),
        nohz_full: source.value(&at("nohz_full")),
        smt_active: source.switch(&at("smt/active")),
        smt_control: source.text(&at("smt/control")),
        hybrid,
        performance_cpus: source.value("/sys/devices/cpu_core/cpus"),
        efficiency_cpus: source.value("/sys/devices/cpu_atom/cpus"),
        cpus: source
            .numbered(CPUS, "cpu")
            .into_iter()
            .map(|number| logical_cpu(source, attempts, number, is_hybrid))
            .collect(),
        nodes: nodes(source),
    }
}

fn logical_cpu(
    source: &Source,
    attempts: &impl Attempts,
    number: u32,
    is_hybrid: bool,
) -> LogicalCpu {
    let at = |name: &str| format!("{CPUS}/cpu{number}/{name}");
    LogicalCpu {
        number,
        package: source.value(&at("topology/physical_package_id")),
        die: source.value(&at("topology/die_id")),
        core: source.value(&at("topology/core_id")),
        siblings: source
            .value(&at("topology/core_cpus_list"))
            .or_if_absent(|| source.value(&at("topology/thread_siblings_list"))),
        capacity: source.value(&at("cpu_capacity")),
        core_type: if is_hybrid { core_type(attempts, number) } else { Reading::Absent },
    }
}

/// CPUID leaf 0x1a answers for the core it runs on (Intel SDM volume 2A, CPUID).
fn core_type(attempts: &impl Attempts, number: u32) -> Reading<CoreType> {
    match attempts.cpuid(Some(number), 0x1a, 0) {
        Some(words) => match words.eax >> 24 {
            0x40 => Reading::Read(CoreType::Performance),
            0x20 => Reading::Read(CoreType::Efficiency),
            other => Reading::Unreadable(format!("CPUID leaf 0x1a: unknown core type {other:#x}")),
        },
        None => Reading::Unreadable(format!("CPUID can't be asked on CPU {number}")),
    }
}

fn nodes(source: &Source) -> Vec<Node> {
    const NODES: &str = "/sys/devices/system/node";
    let node = |number: u32| {
        let at = |name: &str| format!("{NODES}/node{number}/{name}");
        Node {
            number,
            cpus: source.value(&at("cpulist")),
            memory_kib: source.text(&at("meminfo")).and_then(|text| {
                let value = text.lines().find_map(|line| {
                    let (_, value) = line.split_once("MemTotal:")?;
                    value.trim().trim_end_matches("kB").trim().parse().ok()
                });
                value.map_or(Reading::Absent, Reading::Read)
            }),
            distances: source.words(&at("distance")),
        }
    };
    let numbers = source.numbered(NODES, "node");
    numbers.into_iter().map(node).collect()
}
