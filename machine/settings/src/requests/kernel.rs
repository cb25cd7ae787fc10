//! Interrupts, threads and work of the kernel, kept off CPUs; its pool of large pages.

use super::{Asked, Claim};
use crate::setting::{Form, Setting};
use crate::want::Want;
use quietcore_host::process::ThreadFacts;

/// Folder of the settings of work that is bound to no CPU.
const WORKQUEUES: &str = "/sys/devices/virtual/workqueue";
/// Number of pages of 2 MiB that the kernel sets aside.
const HUGE_PAGES: &str = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";

impl Claim<'_> {
    /// Each interrupt, and what new ones begin with. Interrupts that belong to one CPU, and those
    /// that the kernel spreads itself, refuse it.
    pub(super) fn interrupts(&self) -> Asked {
        let default = Setting::file("/proc/irq/default_smp_affinity", Form::CpuMask);
        let mut wanted = vec![(default, self.without())];
        wanted.extend(self.source.numbered("/proc/irq", "").into_iter().map(|number| {
            let path = format!("/proc/irq/{number}/smp_affinity_list");
            (Setting::file(path, Form::CpuList), self.without())
        }));
        wanted
    }

    /// Each thread of the kernel that is not bound to its CPUs. Threads of interrupts go where
    /// their interrupts do.
    pub(super) fn kernel_threads(&self) -> Asked {
        let threads = self.source.numbered("/proc", "").into_iter().filter_map(|thread| {
            let facts = ThreadFacts::read(self.source, thread)?;
            let is_of_interrupt = facts.name.starts_with("irq/");
            if !facts.is_of_kernel || facts.is_bound || is_of_interrupt {
                return None;
            }
            let ThreadFacts { name, began, .. } = facts;
            Some((Setting::Affinity { thread, began, name }, self.without()))
        });
        threads.collect()
    }

    /// The mask of all work that is bound to no CPU, and of each queue that has one of its own.
    pub(super) fn workqueues(&self) -> Asked {
        let folders = self.source.entries(WORKQUEUES);
        let own =
            folders.get().into_iter().flatten().map(|name| format!("{WORKQUEUES}/{name}/cpumask"));
        let all = std::iter::once(format!("{WORKQUEUES}/cpumask")).chain(own);
        let there = all.filter(|path| self.source.text(path).get().is_some());
        there.map(|path| (Setting::file(path, Form::CpuMask), self.without())).collect()
    }

    pub(super) fn watchdog(&self) -> Asked {
        const PATH: &str = "/proc/sys/kernel/watchdog_cpumask";
        let is_there = self.source.text(PATH).get().is_some();
        let setting = (Setting::file(PATH, Form::CpuList), self.without());
        if is_there { vec![setting] } else { Vec::new() }
    }

    /// As many more pages as the memory of the guests has.
    pub(super) fn huge_pages(&self) -> Asked {
        let count = self.wanted.huge_pages;
        if count == 0 || self.source.text(HUGE_PAGES).get().is_none() {
            return Vec::new();
        }
        vec![(Setting::file(HUGE_PAGES, Form::Text), Want::More(count))]
    }
}
