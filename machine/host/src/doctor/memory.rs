//! Memory: locked, not moved, not swapped.

use quietcore_units::ByteSize;

use super::finding::{AS_ROOT, finding};
use super::{Area, Finding, View, sys_file, sysctl};
use crate::facts::Limit;
use crate::reading::Reading;

const CAP_IPC_LOCK: u32 = 14;
/// Memory that a small control program with its stacks and tables locks.
const LOCKED_LEAST_BYTES: u64 = 64 << 20;

pub(super) fn examine(view: &View<'_>, findings: &mut Vec<Finding>) {
    findings.push(locking(view));
    findings.push(huge_pages(view));
    findings.push(transparent_huge_pages(view));
    findings.push(swap(view));
    findings.push(same_page_merging(view));
    findings.push(balancing(view));
}

fn locking(view: &View<'_>) -> Finding {
    let limits = &view.facts.limits;
    let text = |limit: &Limit| {
        limit.soft.map_or_else(|| "unlimited".to_owned(), |bytes| ByteSize::new(bytes).to_string())
    };
    let limit = limits.locked_memory_bytes.describe(text);
    let draft = finding("locked-memory", Area::Memory, "locked memory")
        .right(format!(
            "CAP_IPC_LOCK, or a limit of at least {} a partition",
            ByteSize::new(LOCKED_LEAST_BYTES)
        ))
        .effect("a page that is not in memory when a step touches it costs 1 µs to some 10 ms")
        .fix(
            "run as root, or `ulimit -l unlimited`; permanent: `@realtime - memlock unlimited` in \
             /etc/security/limits.d/quietcore.conf, or LimitMEMLOCK=infinity in the systemd unit",
        );
    if limits.capable(CAP_IPC_LOCK) == Some(true) {
        return draft.read(format!("CAP_IPC_LOCK is held; limit {limit}")).ok();
    }
    let draft = draft.read(format!("limit {limit}, without CAP_IPC_LOCK"));
    match limits.locked_memory_bytes.get() {
        None => draft.unknown("mount /proc to read it"),
        Some(limit) if limit.soft.is_none_or(|bytes| bytes >= LOCKED_LEAST_BYTES) => draft.ok(),
        Some(_) => draft.conformance(),
    }
}

fn huge_pages(view: &View<'_>) -> Finding {
    let pools = &view.facts.memory.huge_pages;
    let texts: Vec<String> = pools
        .iter()
        .map(|pool| {
            format!(
                "{}: {} of {} free",
                ByteSize::new(pool.size_kib << 10),
                pool.free.describe(ToString::to_string),
                pool.total.describe(ToString::to_string)
            )
        })
        .collect();
    let any = pools.iter().any(|pool| pool.free.get().is_some_and(|free| *free > 0));
    finding("huge-pages", Area::Memory, "huge pages")
        .read(if texts.is_empty() { "not offered".to_owned() } else { texts.join("; ") })
        .right("a pool for partitions with large memory, virtual machines above all")
        .effect(
            "with 4 KiB pages a walk through large data misses the address cache: some 10 to 100 \
             ns each, twice that in a virtual machine; small programs gain nothing",
        )
        .fix(sysctl("vm.nr_hugepages", "64"))
        .ok_if(any)
}

fn transparent_huge_pages(view: &View<'_>) -> Finding {
    let mode = &view.facts.memory.transparent_huge_pages;
    let draft = finding("transparent-huge-pages", Area::Memory, "transparent huge pages")
        .right("`madvise` or `never`")
        .effect(
            "the kernel joins pages behind a program's back; while it does, the program stalls \
             for up to some 100 µs at a touch, locked or not",
        )
        .fix(sys_file("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"));
    match mode {
        Reading::Read(mode) => draft.read(mode.clone()).ok_if(mode != "always"),
        other => draft.without(other),
    }
}

fn swap(view: &View<'_>) -> Finding {
    let memory = &view.facts.memory;
    let draft = finding("swap", Area::Memory, "swap space")
        .right("none in use; better none at all")
        .effect(
            "what is not locked (other programs, the desktop of a shared machine) waits for the \
             disk, and the disk's interrupts and kernel threads for everyone; locked control \
             programs are safe",
        )
        .fix("`swapoff -a`; permanent: remove the swap lines from /etc/fstab");
    match (&memory.swap_total_kib, &memory.swap_used_kib) {
        (Reading::Read(0), _) => draft.read("none").ok(),
        (Reading::Read(total), Reading::Read(used)) => draft
            .read(format!(
                "{} of {} in use, swappiness {}",
                ByteSize::new(used << 10),
                ByteSize::new(total << 10),
                memory.swappiness.describe(ToString::to_string)
            ))
            .advice(),
        (total, _) => draft.read(total.describe(ToString::to_string)).unknown(AS_ROOT),
    }
}

fn same_page_merging(view: &View<'_>) -> Finding {
    let run = &view.facts.memory.same_page_merging;
    let draft = finding("same-page-merging", Area::Memory, "merging of equal pages (KSM)")
        .right("off (0)")
        .effect(
            "a merged page is copied at its next write: a fault of 1 to 10 µs in the middle of a \
             step, and a kernel thread that reads all memory",
        )
        .fix(sys_file("echo 2 > /sys/kernel/mm/ksm/run"));
    match run {
        Reading::Read(run) => draft.read(run.to_string()).ok_if(*run == 0),
        other => draft.without(other),
    }
}

fn balancing(view: &View<'_>) -> Finding {
    let balancing = &view.facts.scheduler.numa_balancing;
    let several = view.facts.cpu.nodes.len() > 1;
    let draft = finding("numa-balancing", Area::Memory, "automatic NUMA balancing")
        .right("off (0) on machines with several memory nodes")
        .effect(
            "the kernel takes pages away to see who touches them: faults of 1 to 10 µs in the \
             middle of a step",
        )
        .fix(sysctl("kernel.numa_balancing", "0"));
    match balancing {
        Reading::Read(mode) => draft
            .read(format!("{mode}, with {} node(s)", view.facts.cpu.nodes.len()))
            .ok_if(*mode == 0 || !several),
        other => draft.without(other),
    }
}
