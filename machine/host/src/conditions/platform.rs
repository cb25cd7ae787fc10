//! The platform of a run, as records have it: the machine once, and what a partition got of it.
//!
//! ```text
//! Facts ──► Platform            once: kernel, firmware, cores, caches, hypervisor
//! /proc/irq ──► interrupts      while a partition runs: what may arrive on its CPUs
//! /proc/PID/cgroup ──► reservation   while it runs: quota, cpuset, memory of its process
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use quietcore_record::record::{
    Cache, Core, FirmwareVersions, InterruptPlacement, KernelBuild, Limit, Platform,
    ReservationInForce, Topology, Versions,
};
use quietcore_units::CpuSet;

use crate::attempts::CgroupVersion;
use crate::cpu_list::CpuList;
use crate::facts::{CgroupMount, Cgroups, Facts, Interrupt, Interrupts};
use crate::reading::Reading;
use crate::source::Source;

/// Version 1 of control groups writes a limit near 2⁶³ where there is none.
const UNLIMITED_BYTES: u64 = 1 << 62;

impl Facts {
    /// Returns what records have of the machine. Interrupts, reservation and program are those of a
    /// partition, and absent here.
    pub fn platform(&self) -> Platform {
        let text = |reading: &Reading<String>| reading.get().cloned();
        Platform {
            kernel: KernelBuild {
                release: text(&self.kernel.release),
                version: text(&self.kernel.version),
                command_line: text(&self.kernel.command_line.text),
            },
            firmware: FirmwareVersions {
                system_vendor: text(&self.firmware.system_vendor),
                product: text(&self.firmware.product),
                bios_version: text(&self.firmware.bios_version),
                bios_date: text(&self.firmware.bios_date),
                microcode: text(&self.firmware.microcode),
            },
            topology: Topology { cores: self.cores(), caches: self.caches_in_record() },
            versions: Versions {
                quietcore: env!("CARGO_PKG_VERSION").to_owned(),
                container_runtime: None,
                hypervisor: self.hypervisor(),
            },
            ..Platform::default()
        }
    }

    fn cores(&self) -> Vec<Core> {
        let online = self.cpu.online.get();
        let runs = |number: u32| online.is_none_or(|online| online.has(number));
        // A core is told by its smallest CPU.
        let mut cores: BTreeMap<u32, Core> = BTreeMap::new();
        for cpu in self.cpu.cpus.iter().filter(|cpu| runs(cpu.number)) {
            let alone = || quietcore_units::CpuId::new(cpu.number).into_iter().collect();
            let cpus: CpuSet = cpu.siblings.get().map_or_else(alone, |siblings| siblings.0);
            let first = cpus.iter().next().map_or(cpu.number, quietcore_units::CpuId::get);
            cores.entry(first).or_insert(Core { package: cpu.package.get().copied(), cpus });
        }
        cores.into_values().collect()
    }

    fn caches_in_record(&self) -> Vec<Cache> {
        let caches = self.caches.domains.iter().map(|cache| Cache {
            level: cache.level.get().copied(),
            kind: cache.kind.get().cloned(),
            size_bytes: cache.size_bytes.get().copied(),
            cpus: cache.shared.0,
        });
        caches.collect()
    }
}

/// Reads which device interrupts may arrive on these CPUs now; `None` where the kernel tells of no
/// interrupt where it goes.
pub fn interrupts_on(source: &Source, cpus: CpuSet) -> Option<Vec<InterruptPlacement>> {
    let all = Interrupts::read(source).list;
    let is_placed = |it: &Interrupt| it.effective.get().is_some() || it.affinity.get().is_some();
    if !all.iter().any(is_placed) {
        return None;
    }
    let reaching = all.into_iter().filter(|interrupt| interrupt.may_disturb(&CpuList(cpus)));
    let placed = reaching.map(|interrupt| {
        let effective = interrupt.effective.get().filter(|cpus| !cpus.0.is_empty());
        let cpus = effective.or(interrupt.affinity.get()).map(|cpus| cpus.0);
        InterruptPlacement {
            number: interrupt.number,
            name: interrupt.name,
            cpus: cpus.unwrap_or_default(),
        }
    });
    Some(placed.collect())
}

/// Reads the reservation of a process back from its control groups; `None` where nothing of it can
/// be read, or the process has ended.
pub fn reservation_of(source: &Source, process: u32) -> Option<ReservationInForce> {
    let groups = Cgroups::of_process(source, process);
    let hierarchy = |controller| groups.mount_of(controller).or_else(|| groups.unified());
    let cpu_time = hierarchy("cpu").and_then(|mount| {
        tightest(mount, |folder| cpu_time_of(source, mount.version, folder), CpuTime::share)
    });
    let memory = hierarchy("memory").and_then(|mount| {
        tightest(
            mount,
            |folder| memory_of(source, mount.version, folder),
            |limit| match limit {
                Limit::Unlimited => f64::INFINITY,
                Limit::At(bytes) => *bytes as f64,
            },
        )
    });
    let cpus = hierarchy("cpuset").and_then(|mount| {
        let name = match mount.version {
            CgroupVersion::V2 => "cpuset.cpus.effective",
            CgroupVersion::V1 => "cpuset.effective_cpus",
        };
        let cpus = source.value::<CpuList>(&format!("{}/{name}", mount.own_folder()));
        cpus.get().map(|cpus| cpus.0)
    });
    let read = ReservationInForce {
        cpu_quota_us: cpu_time.map(|time| time.quota_us),
        cpu_period_us: cpu_time.and_then(|time| time.period_us),
        cpus,
        memory_bytes: memory,
        ..ReservationInForce::default()
    };
    (read != ReservationInForce::default()).then_some(read)
}

/// The CPU time that a group may use.
#[derive(Clone, Copy)]
struct CpuTime {
    quota_us: Limit,
    /// `None` without a limit.
    period_us: Option<u64>,
}

impl CpuTime {
    /// Returns the CPUs that it may use wholly.
    fn share(&self) -> f64 {
        match (self.quota_us, self.period_us) {
            (Limit::At(quota), Some(period)) => quota as f64 / period as f64,
            _ => f64::INFINITY,
        }
    }
}

/// Returns the tightest limit of a process's group and those above it. A group that has no file for
/// it, as the topmost, limits nothing; `None` where none has.
fn tightest<L>(
    mount: &CgroupMount,
    read: impl Fn(&str) -> Option<L>,
    size: impl Fn(&L) -> f64,
) -> Option<L> {
    let groups = Path::new(&mount.own_group).ancestors();
    let folders = groups.map(|group| format!("{}{}", mount.folder, group.display()));
    let limits = folders.filter_map(|folder| read(folder.trim_end_matches('/')));
    limits.min_by(|one, other| size(one).total_cmp(&size(other)))
}

fn cpu_time_of(source: &Source, version: CgroupVersion, folder: &str) -> Option<CpuTime> {
    let unlimited = CpuTime { quota_us: Limit::Unlimited, period_us: None };
    let limited =
        |quota: u64, period| CpuTime { quota_us: Limit::At(quota), period_us: Some(period) };
    match version {
        CgroupVersion::V2 => {
            let words = source.words(&format!("{folder}/cpu.max"));
            let [quota, period] = words.get()?.as_slice() else { return None };
            match quota.as_str() {
                "max" => Some(unlimited),
                quota => Some(limited(quota.parse().ok()?, period.parse().ok()?)),
            }
        }
        CgroupVersion::V1 => {
            let value = |name| source.value::<i64>(&format!("{folder}/{name}")).get().copied();
            match value("cpu.cfs_quota_us")? {
                quota if quota < 0 => Some(unlimited),
                quota => {
                    let period = value("cpu.cfs_period_us")?;
                    Some(limited(quota.unsigned_abs(), period.unsigned_abs()))
                }
            }
        }
    }
}

fn memory_of(source: &Source, version: CgroupVersion, folder: &str) -> Option<Limit> {
    let name = match version {
        CgroupVersion::V2 => "memory.max",
        CgroupVersion::V1 => "memory.limit_in_bytes",
    };
    let words = source.words(&format!("{folder}/{name}"));
    match words.get()?.first()?.as_str() {
        "max" => Some(Limit::Unlimited),
        bytes => match bytes.parse().ok()? {
            bytes if bytes >= UNLIMITED_BYTES => Some(Limit::Unlimited),
            bytes => Some(Limit::At(bytes)),
        },
    }
}

#[cfg(test)]
mod tests {
    use quietcore_record::record::Core;

    use super::*;
    use crate::machines::Machine;

    #[test]
    fn the_machine_is_told_by_its_cores_and_caches() {
        let mut machine = Machine::tuned();
        machine.write("sys/class/dmi/id/bios_version", "F.22");
        for cpu in 0..2 {
            let place = format!("sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list");
            machine.write(&place, "0-1");
        }
        let platform = machine.facts().platform();
        assert_eq!(platform.firmware.bios_version.as_deref(), Some("F.22"));
        assert!(platform.kernel.release.is_some() && platform.kernel.command_line.is_some());
        let cores: Vec<String> =
            platform.topology.cores.iter().map(|core| core.cpus.to_string()).collect();
        assert_eq!(cores, ["0,1", "2", "3"]);
        assert_eq!(platform.topology.cores[0].package, Some(0));
        assert_eq!(platform.topology.caches.len(), 2, "each is there once");
        assert_eq!(platform.topology.caches[0].size_bytes, Some(12 << 20));
        assert_eq!(platform.versions.hypervisor, None);
        assert_eq!((platform.node, platform.interrupts), (None, None));
        let under = Machine::guest().facts().platform();
        assert_eq!(under.versions.hypervisor.as_deref(), Some("KVM"));
        let nothing = Machine::empty().facts().platform();
        assert_eq!(nothing.kernel.version, None);
        assert_eq!(nothing.topology.cores, [] as [Core; 0]);
    }

    #[test]
    fn interrupts_are_those_that_arrive_on_the_cpus() {
        let machine = Machine::tuned();
        let on = |cpus: &str| interrupts_on(&machine.source(), cpus.parse().unwrap()).unwrap();
        let first: Vec<u32> = on("0").iter().map(|interrupt| interrupt.number).collect();
        assert!(first.contains(&24), "{first:?}");
        assert_eq!(on("0")[0].cpus, "0".parse().unwrap());
        assert!(on("3").iter().all(|interrupt| interrupt.number != 24));
        let unread = Machine::empty();
        assert_eq!(interrupts_on(&unread.source(), "0".parse().unwrap()), None, "and not none");
    }

    #[test]
    fn a_reservation_is_read_back_from_the_groups_of_the_process() {
        let mut machine = Machine::tuned();
        assert_eq!(reservation_of(&machine.source(), 77), None);
        machine.write("proc/77/cgroup", "0::/user.slice/axis\n");
        for (file, text) in [
            ("cpu.max", "950000 1000000\n"),
            ("cpuset.cpus.effective", "2-3\n"),
            ("memory.max", "67108864\n"),
        ] {
            machine.write(&format!("sys/fs/cgroup/user.slice/axis/{file}"), text);
        }
        let read = reservation_of(&machine.source(), 77).unwrap();
        let quota = Some(Limit::At(950_000));
        assert_eq!((read.cpu_quota_us, read.cpu_period_us), (quota, Some(1_000_000)));
        assert_eq!(
            read.to_string(),
            "950000 of 1000000 µs of CPU time, cpuset 2,3, 64.0 MiB of memory"
        );
        machine.write("sys/fs/cgroup/user.slice/axis/cpu.max", "max 100000\n");
        machine.write("sys/fs/cgroup/user.slice/axis/memory.max", "max\n");
        let free = reservation_of(&machine.source(), 77).unwrap();
        let unlimited = Some(Limit::Unlimited);
        assert_eq!((free.cpu_quota_us, free.memory_bytes), (unlimited, unlimited));
        assert_eq!(
            free.to_string(),
            "CPU time without a limit, cpuset 2,3, memory without a limit"
        );
        // A group above it may be tighter.
        machine.write("sys/fs/cgroup/user.slice/cpu.max", "20000 100000\n");
        let below = reservation_of(&machine.source(), 77).unwrap();
        assert_eq!(below.cpu_quota_us, Some(Limit::At(20_000)));
    }

    #[test]
    fn what_could_not_be_read_is_not_without_a_limit() {
        let mut machine = Machine::tuned();
        machine.write("proc/78/cgroup", "0::/axis\n");
        machine.write("sys/fs/cgroup/axis/cpuset.cpus.effective", "2-3\n");
        let read = reservation_of(&machine.source(), 78).unwrap();
        assert_eq!(read.to_string(), "CPU time not read back, cpuset 2,3, memory not read back");
    }
}
