//! Makes the facts that a plan needs from those of this machine.

pub mod boot;
pub mod cpu_use;
pub mod running_partitions;

use quietcore_site::{CacheWays, ContainerRuntime, Machine, Obstacle};
use quietcore_units::{ByteSize, CpuSet};

use crate::attempts::{Attempts as _, Live};
use crate::facts::{self, Facts};
use crate::reading::Reading;

/// Pages of 4 KiB that a partition shares with its domain: exchange, post, two slots for code.
const GRANTED_PAGES_LEAST: u64 = 4096;

impl Facts {
    /// Returns the facts that decide if a site file can be realised here. Unreadable facts count as
    /// not there: a plan promises nothing on a guess.
    pub fn machine(&self) -> Machine {
        let kib = |reading: &crate::Reading<u64>| reading.get().copied().unwrap_or_default();
        Machine {
            online: self.cpu.online.get().copied().unwrap_or_default().0,
            usable: self.usable_cpus(),
            own_group: self.cpus_of_own_group(),
            load_balance_moves: self.cgroups.mount_of("cpuset").is_none(),
            isolated: self.cpu.isolated.get().copied().unwrap_or_default().0,
            memory_available: ByteSize::new(kib(&self.memory.available_kib).saturating_mul(1024)),
            memory_lock_limit: self.memory_lock_limit(),
            cache_ways: self.assignable_ways(),
            memory_bandwidth: self.least_bandwidth(),
            page_colours: self.page_colours(),
            processes_left: None,
            root: self.limits.user.get() == Some(&0),
            fifo: self.scheduler.fifo.succeeded(),
            deadline: self.scheduler.deadline.succeeded(),
            throttles: self.scheduler.rt_runtime_us.get() != Some(&-1),
            dma_latency: self.power.latency_request.get().is_some(),
            real_time_ppm: self.real_time_ppm(),
            kvm: self.runs_guests(),
            qemu: self.has_qemu(),
            xen: self.has_xen(),
            cards: self.cards(),
            containers: ContainerRuntime::ALL
                .into_iter()
                .filter_map(|runtime| {
                    let is_root = self.limits.user.get() == Some(&0);
                    let usable = self.containers.usable(runtime, &self.cgroups, is_root)?;
                    Some((runtime, usable))
                })
                .collect(),
            container_real_time_us: self.container_real_time_us(),
        }
    }

    /// Returns the CPUs that a partition of this process can be pinned to. Those of running sites
    /// count, since they are free once these are down.
    pub(crate) fn usable_cpus(&self) -> CpuSet {
        let online = self.cpu.online.get().copied().unwrap_or_default().0;
        match self.limits.grantable_cpus.get() {
            Some(granted) => online.intersection(&granted.0.union(&self.cgroups.cpus_of_sites.0)),
            None => online,
        }
    }

    /// Returns the CPUs that a partition can have in a group that is made for it.
    fn cpus_of_own_group(&self) -> CpuSet {
        let root = self.cgroups.root_cpus.get().copied().unwrap_or_default().0;
        let online = self.cpu.online.get().copied().unwrap_or_default().0;
        self.usable_cpus().union(&root.intersection(&online))
    }

    /// Returns the network cards, and what stands in the way of giving each to a guest.
    fn cards(&self) -> Vec<(String, Result<(), Obstacle>)> {
        let passes = self.network.passes_devices;
        let cards = self.network.cards.iter();
        cards.map(|card| (card.address.clone(), card.can_be_given(passes))).collect()
    }

    /// Returns the share of a CPU that real-time threads may take before the kernel stops them, in
    /// millionths; the kernel's default where it does not say.
    fn real_time_ppm(&self) -> u32 {
        const DEFAULT_PPM: u32 = 950_000;
        let (runtime, period) =
            (self.scheduler.rt_runtime_us.get(), self.scheduler.rt_period_us.get());
        let (Some(runtime), Some(period)) = (runtime, period) else { return DEFAULT_PPM };
        let runtime = u64::try_from(*runtime).unwrap_or(*period).min(*period);
        let ppm = u128::from(runtime) * 1_000_000 / u128::from((*period).max(1));
        u32::try_from(ppm).unwrap_or(DEFAULT_PPM)
    }

    /// Returns why guests can't run here, or are not run by the processor, if so. That they are
    /// interpreted is known only where one was tried.
    fn runs_guests(&self) -> Result<(), Obstacle> {
        let obstacle = |what: String| {
            let remedy = "choose `process`, or see `quietcore doctor`".to_owned();
            Err(Obstacle { what, remedy })
        };
        if self.virtualization.kvm.opens.get().is_none() {
            return obstacle("/dev/kvm can't be opened here".to_owned());
        }
        match self.virtualization.why_guests_are_not_real(self) {
            Some(interpreted) => {
                obstacle(format!("KVM does not run its guests here: {interpreted}"))
            }
            None => Ok(()),
        }
    }

    /// Returns what stands in the way of guests of QEMU, beside what stands in that of all guests.
    fn has_qemu(&self) -> Result<(), Obstacle> {
        match self.virtualization.qemu {
            Reading::Read(_) => Ok(()),
            _ => Err(Obstacle {
                what: "`qemu-system-x86_64` is not installed".to_owned(),
                remedy:
                    "install it, such as Debian's package `qemu-system-x86`, or choose `process`"
                        .to_owned(),
            }),
        }
    }

    /// Returns what stands in the way of domains of Xen that share memory with this kernel.
    fn has_xen(&self) -> Result<(), Obstacle> {
        let xen = &self.virtualization.xen;
        let obstacle = |what: &str, remedy: &str| {
            Err(Obstacle {
                what: what.to_owned(),
                remedy: format!("{remedy}, or choose `process`"),
            })
        };
        if xen.is_dom0.get() != Some(&true) {
            return obstacle(
                "this kernel is not dom0 of Xen, which starts other domains",
                "start the machine with Xen, such as Debian's package `xen-system-amd64`",
            );
        }
        if xen.xl.get().is_none() {
            let remedy = "install it, such as Debian's package `xen-utils-common`";
            return obstacle("`xl` is not installed", remedy);
        }
        if xen.store.get().is_none() {
            let remedy = "start `xenstored`, and then what Debian's `xencommons` starts after it";
            return obstacle("Xen's store does not answer, for which `xl` waits", remedy);
        }
        match xen.granted_pages_max.get() {
            Some(pages) if *pages >= GRANTED_PAGES_LEAST => Ok(()),
            Some(pages) => obstacle(
                &format!(
                    "programs may grant {pages} pages to domains, and a partition needs some \
                     {GRANTED_PAGES_LEAST}"
                ),
                "`echo 65536 >/sys/module/xen_gntalloc/parameters/limit`",
            ),
            None => obstacle(
                "programs can't grant pages to domains: the module `xen-gntalloc` is not loaded",
                "`modprobe xen-gntalloc`",
            ),
        }
    }

    /// Tries a guest, where facts were read without the attempts that take time.
    pub fn try_guests(&mut self) {
        self.virtualization.kvm.speed = Live.calibrate_kvm();
        self.clock.calibration = Live.calibrate_time();
    }

    /// Real-time run time for new groups. With version 2 of control groups a kernel that divides
    /// it among groups has no file to give any.
    fn container_real_time_us(&self) -> Option<i64> {
        if let Some(left) = self.containers.real_time_left_us.get() {
            return Some(*left);
        }
        let divides = self.kernel.configured("CONFIG_RT_GROUP_SCHED") == Some(true)
            && self.kernel.command_line.value("rt_group_sched").as_deref() != Some("0");
        let has_cpu = |all: &Vec<String>| all.iter().any(|one| one == "cpu");
        let unified = self.cgroups.unified_controllers.get().is_some_and(has_cpu);
        (divides && unified).then_some(0)
    }

    /// Why this machine's time can't be trusted, by calibration; `None` where it can.
    pub fn why_time_is_not_real(&self) -> Option<String> {
        facts::why_not_real(&self.clock.calibration.time)
    }

    /// As [`Self::why_time_is_not_real`], measured now, which takes some 100 ms.
    pub fn why_time_is_not_real_now() -> Option<String> {
        facts::why_not_real(&Live.calibrate_time().time)
    }

    /// Ways of the last-level cache that resctrl can assign; or why there are none.
    fn assignable_ways(&self) -> Result<CacheWays, Obstacle> {
        let last = |name: &str| name == "L3" || name == "L3CODE";
        let level = self.caches.resctrl.levels.iter().find(|level| last(&level.name));
        let ways = level.and_then(|level| {
            let mask = u64::from_str_radix(level.mask.get()?.trim(), 16).ok()?;
            let least = level.bits_least.get().copied().unwrap_or(1);
            Some(CacheWays { all: mask.count_ones(), least })
        });
        ways.ok_or_else(|| {
            self.no_resctrl("this machine can't assign cache ways (no CAT)", "cache")
        })
    }

    /// Why resctrl can't give what a key of a partition asks for: it is not mounted, or else this.
    fn no_resctrl(&self, otherwise: &str, key: &str) -> Obstacle {
        let resctrl = &self.caches.resctrl;
        let (what, remedy) = if resctrl.known.get() == Some(&true) && !resctrl.mounted {
            let mount = "`mount -t resctrl resctrl /sys/fs/resctrl` says what this machine divides";
            ("resctrl is not mounted", format!("{mount}; or take `{key}` out"))
        } else {
            (otherwise, format!("take `{key}` out"))
        };
        Obstacle { what: what.to_owned(), remedy }
    }

    /// The least limit of the memory's bandwidth, in percent; or why there is none.
    fn least_bandwidth(&self) -> Result<u32, Obstacle> {
        let resctrl = &self.caches.resctrl;
        let no_limit = || {
            let why = "this machine can't limit the memory's bandwidth (no MBA)";
            self.no_resctrl(why, "memory_bandwidth")
        };
        let level = resctrl.levels.iter().find(|level| level.name == "MB").ok_or_else(no_limit)?;
        match resctrl.largest_limit {
            Some(limit) if limit > 100 => {
                let why = "this machine limits the memory's bandwidth in other steps than percent";
                let remedy = "take `memory_bandwidth` out".to_owned();
                Err(Obstacle { what: format!("{why}: {limit} is no limit"), remedy })
            }
            _ => level.limit_least.get().copied().ok_or_else(no_limit),
        }
    }

    /// Returns the memory that may be locked; `None` without limit.
    fn memory_lock_limit(&self) -> Option<ByteSize> {
        let may_lock_all = self.limits.capabilities.get().is_some_and(|all| {
            const CAP_IPC_LOCK: u64 = 14;
            all & (1 << CAP_IPC_LOCK) != 0
        });
        if may_lock_all {
            return None;
        }
        let limit = self.limits.locked_memory_bytes.get();
        limit.map_or(Some(ByteSize::new(0)), |limit| limit.soft.map(ByteSize::new))
    }
}

#[cfg(test)]
mod tests;
