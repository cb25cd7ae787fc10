//! Caches: who shares them, and whether they can be partitioned.
//!
//! Two voices tell about partitioning and are kept apart: CPUID says what the processor can do,
//! resctrl what this kernel lets do. Inside a virtual machine they often disagree.

use serde::{Deserialize, Serialize};

use super::CPUS;
use crate::attempts::Attempts;
use crate::cpu_list::CpuList;
use crate::reading::Reading;
use crate::source::Source;

const RESCTRL: &str = "/sys/fs/resctrl";

/// Caches and their partitioning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Caches {
    /// Each cache once, with the CPUs that share it.
    pub domains: Vec<CacheDomain>,
    /// Allocation of the third level as CPUID tells; absent where it can't be partitioned.
    pub cpuid_l3: Reading<CpuidAllocation>,
    /// Allocation of the second level as CPUID tells.
    pub cpuid_l2: Reading<CpuidAllocation>,
    /// `true` if CPUID tells of memory bandwidth allocation.
    pub cpuid_bandwidth: Reading<bool>,
    /// The kernel's means to divide them.
    pub resctrl: Resctrl,
}

/// A cache with the CPUs that share it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheDomain {
    /// 1 to 4, 1 the nearest.
    pub level: Reading<u32>,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: Reading<String>,
    /// Its size in bytes.
    pub size_bytes: Reading<u64>,
    /// Places for one address.
    pub ways: Reading<u32>,
    /// Sets of such places.
    pub sets: Reading<u64>,
    /// Bytes in a line.
    pub line_bytes: Reading<u32>,
    /// The number by which resctrl knows it.
    pub id: Reading<u32>,
    /// The CPUs that share it.
    pub shared: CpuList,
}

impl CacheDomain {
    /// The number of page colours: sets that one page reaches divide the cache into this many
    /// disjoint parts of 4 KiB pages.
    pub fn page_colours(&self) -> Option<u64> {
        let line_bytes = u64::from(*self.line_bytes.get()?);
        Some((self.sets.get()?.saturating_mul(line_bytes) / 4096).max(1))
    }
}

/// Cache allocation as CPUID leaf 0x10 tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuidAllocation {
    /// Bits in a capacity mask, which usually stand for ways.
    pub mask_bits: u32,
    /// Bits that hardware other than CPUs (graphics, devices) may use too: contention bits.
    pub shared_bits: u32,
    /// Classes of service that can be told apart.
    pub classes: u32,
    /// Code and data can have masks of their own.
    pub code_and_data: bool,
}

/// Cache allocation as the kernel offers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resctrl {
    /// `true` if the kernel knows the file system at all.
    pub known: Reading<bool>,
    /// `true` if it is mounted at `/sys/fs/resctrl`.
    pub mounted: bool,
    /// Resources that can be allocated, such as `L3`, `L2`, `L3CODE` or `MB`; empty when not
    /// mounted.
    pub levels: Vec<ResctrlLevel>,
    /// Groups that stand already.
    pub groups: Vec<String>,
    /// The largest limit of the memory's bandwidth in the default group; `None` without any.
    #[serde(default)]
    pub largest_limit: Option<u32>,
}

/// One thing that resctrl allocates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResctrlLevel {
    /// Name, such as `L3`.
    pub name: String,
    /// Number of classes of service.
    pub classes: Reading<u32>,
    /// The full capacity mask, hexadecimal; absent for bandwidth.
    pub mask: Reading<String>,
    /// The fewest bits of a mask.
    pub bits_least: Reading<u32>,
    /// Bits that other hardware may use too, hexadecimal: contention bits.
    pub shareable_bits: Reading<String>,
    /// The least limit of a bandwidth; absent for caches.
    #[serde(default)]
    pub limit_least: Reading<u32>,
}

pub(in crate::facts) fn read(source: &Source, attempts: &impl Attempts) -> Caches {
    let abilities = attempts.cpuid(None, 0x10, 0);
    let has = |bit: u32| abilities.is_some_and(|words| words.ebx & (1 << bit) != 0);
    Caches {
        domains: domains(source),
        cpuid_l3: allocation(attempts, has(1), 1),
        cpuid_l2: allocation(attempts, has(2), 2),
        cpuid_bandwidth: abilities.map_or(Reading::Absent, |_| Reading::Read(has(3))),
        resctrl: resctrl(source),
    }
}

/// CPUID leaf 0x10, subleaf 1 for L3 and 2 for L2 (Intel SDM volume 3B, 19.19.4).
fn allocation(attempts: &impl Attempts, has: bool, subleaf: u32) -> Reading<CpuidAllocation> {
    let words = attempts.cpuid(None, 0x10, subleaf);
    let Some(words) = words.filter(|_| has) else {
        return Reading::Absent;
    };
    Reading::Read(CpuidAllocation {
        mask_bits: (words.eax & 0x1f) + 1,
        shared_bits: words.ebx,
        classes: (words.edx & 0xffff) + 1,
        code_and_data: words.ecx & (1 << 2) != 0,
    })
}

/// Every CPU lists its caches; a shared one is taken from the first CPU that lists it.
pub(in crate::facts) fn domains(source: &Source) -> Vec<CacheDomain> {
    let mut domains: Vec<CacheDomain> = Vec::new();
    for cpu in source.numbered(CPUS, "cpu") {
        let folder = format!("{CPUS}/cpu{cpu}/cache");
        for index in source.numbered(&folder, "index") {
            let domain = domain(source, &format!("{folder}/index{index}"));
            let known = domains.iter().any(|other| {
                other.level == domain.level
                    && other.kind == domain.kind
                    && other.shared == domain.shared
            });
            if !known {
                domains.push(domain);
            }
        }
    }
    domains
}

fn domain(source: &Source, folder: &str) -> CacheDomain {
    let at = |name: &str| format!("{folder}/{name}");
    let shared = source.value(&at("shared_cpu_list"));
    CacheDomain {
        level: source.value(&at("level")),
        kind: source.text(&at("type")),
        size_bytes: source
            .text(&at("size"))
            .and_then(|text| size(&text).map_err(|error| format!("{folder}/size: {error}")).into()),
        ways: source.value(&at("ways_of_associativity")),
        sets: source.value(&at("number_of_sets")),
        line_bytes: source.value(&at("coherency_line_size")),
        id: source.value(&at("id")),
        shared: shared.get().copied().unwrap_or_default(),
    }
}

/// Reads `1024K` or `32M`.
fn size(text: &str) -> Result<u64, String> {
    let split = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let factor = match text.get(split.len()..) {
        Some("K") => 1 << 10,
        Some("M") => 1 << 20,
        Some("G") => 1 << 30,
        _ => return Err(format!("`{text}` has no unit K, M or G")),
    };
    let number: u64 = split.parse().map_err(|error| format!("`{text}`: {error}"))?;
    number.checked_mul(factor).ok_or_else(|| format!("`{text}` is too large"))
}

fn resctrl(source: &Source) -> Resctrl {
    let known = source
        .text("/proc/filesystems")
        .map(|text| text.split_whitespace().any(|word| word == "resctrl"));
    let mounted = source.exists(&format!("{RESCTRL}/schemata")) == Reading::Read(true);
    let names = source.entries(&format!("{RESCTRL}/info"));
    let levels = names
        .get()
        .into_iter()
        .flatten()
        .filter(|name| !name.ends_with("_MON") && *name != "last_cmd_status")
        .map(|name| {
            let at = |file: &str| format!("{RESCTRL}/info/{name}/{file}");
            ResctrlLevel {
                name: name.clone(),
                classes: source.value(&at("num_closids")),
                mask: source.text(&at("cbm_mask")),
                bits_least: source.value(&at("min_cbm_bits")),
                shareable_bits: source.text(&at("shareable_bits")),
                limit_least: source.value(&at("min_bandwidth")),
            }
        })
        .collect();
    let limits = source.text(&format!("{RESCTRL}/schemata"));
    let largest_limit = limits.get().and_then(|schemata| largest_limit(schemata));
    let own = ["info", "mon_data", "mon_groups"];
    let groups = source.entries(RESCTRL).get().cloned().unwrap_or_default();
    Resctrl {
        known,
        mounted,
        levels,
        largest_limit,
        groups: groups
            .into_iter()
            .filter(|name| !own.contains(&name.as_str()))
            .filter(|name| {
                source.exists(&format!("{RESCTRL}/{name}/schemata")) == Reading::Read(true)
            })
            .collect(),
    }
}

fn largest_limit(schemata: &str) -> Option<u32> {
    let limits = schemata.lines().find_map(|line| line.trim().strip_prefix("MB:"))?;
    let limit = |pair: &str| pair.split_once('=')?.1.trim().parse().ok();
    limits.split(';').filter_map(limit).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_of_caches_are_read_in_bytes() {
        assert_eq!(size("1024K"), Ok(1 << 20));
        assert_eq!(size("32M"), Ok(32 << 20));
        assert!(size("32").is_err());
        assert!(size("K").is_err());
    }

    #[test]
    fn the_largest_limit_is_that_of_any_domain() {
        assert_eq!(largest_limit("L3:0=fff\n    MB:0=90;1=100\n"), Some(100));
        assert_eq!(largest_limit("MB:0=2048"), Some(2048));
        assert_eq!(largest_limit("L3:0=fff;1=fff"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_size_or_an_error(text in "\\PC{0,30}") {
            let _ = size(&text);
            let _ = largest_limit(&format!("MB:{text}"));
        }
    }
}
