//! Memory and what the kernel does with it behind a program's back.

use serde::{Deserialize, Serialize};

use super::field_of;
use crate::reading::Reading;
use crate::source::{Source, parsed};

const HUGE_PAGES: &str = "/sys/kernel/mm/hugepages";

/// Memory and its management.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// All memory that the kernel manages, in KiB.
    pub total_kib: Reading<u64>,
    /// Memory that a program could still get, in KiB.
    pub available_kib: Reading<u64>,
    /// Swap space, in KiB.
    pub swap_total_kib: Reading<u64>,
    /// Swap space in use, in KiB.
    pub swap_used_kib: Reading<u64>,
    /// The kernel's tendency to swap, 0 to 200.
    pub swappiness: Reading<u32>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Reading<String>,
    /// When the kernel stalls a program to make a huge page.
    pub transparent_defragmentation: Reading<String>,
    /// Merging of equal pages (KSM): 0 no, 1 yes, 2 being undone.
    pub same_page_merging: Reading<u32>,
    /// The effort to compact memory in the background, 0 to 100.
    pub compaction: Reading<u32>,
    /// Pools of huge pages.
    pub huge_pages: Vec<HugePages>,
}

/// The pool of one size of huge pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HugePages {
    /// The size of a page, in KiB.
    pub size_kib: u64,
    /// Pages in the pool.
    pub total: Reading<u64>,
    /// Pages that nobody uses.
    pub free: Reading<u64>,
}

pub(super) fn read(source: &Source) -> Memory {
    let info = source.text("/proc/meminfo");
    let kib = |name: &str| {
        field_of(&info, name)
            .and_then(|text| parsed(text.trim_end_matches("kB").trim(), "/proc/meminfo"))
    };
    let swap_total_kib: Reading<u64> = kib("SwapTotal");
    let swap_free_kib: Reading<u64> = kib("SwapFree");
    Memory {
        total_kib: kib("MemTotal"),
        available_kib: kib("MemAvailable"),
        swap_used_kib: swap_total_kib
            .clone()
            .and_then(|total| swap_free_kib.map(|free| total.saturating_sub(free))),
        swap_total_kib,
        swappiness: source.value("/proc/sys/vm/swappiness"),
        transparent_huge_pages: source.choice("/sys/kernel/mm/transparent_hugepage/enabled"),
        transparent_defragmentation: source.choice("/sys/kernel/mm/transparent_hugepage/defrag"),
        same_page_merging: source.value("/sys/kernel/mm/ksm/run"),
        compaction: source.value("/proc/sys/vm/compaction_proactiveness"),
        huge_pages: huge_pages(source),
    }
}

fn huge_pages(source: &Source) -> Vec<HugePages> {
    let names = source.entries(HUGE_PAGES);
    let mut pools: Vec<HugePages> = names
        .get()
        .into_iter()
        .flatten()
        .filter_map(|name| {
            let size = name.strip_prefix("hugepages-")?.strip_suffix("kB")?;
            Some(HugePages {
                size_kib: size.parse().ok()?,
                total: source.value(&format!("{HUGE_PAGES}/{name}/nr_hugepages")),
                free: source.value(&format!("{HUGE_PAGES}/{name}/free_hugepages")),
            })
        })
        .collect();
    pools.sort_by_key(|pool| pool.size_kib);
    pools
}
