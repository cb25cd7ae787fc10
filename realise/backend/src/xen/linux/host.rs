//! The surroundings of a partition in a domain that runs Linux.

use std::borrow::Cow;

use quietcore_units::{CpuId, CpuSet};
use quietcore_xen::DomainId;

use super::super::XenError;
use super::super::domain::{Image, Machine};
use super::super::host::{Guest, Host};
use crate::job::Job;
use crate::linux::{LinuxJob, LinuxSetting};
use crate::process::{PartitionError, Room};
use crate::surroundings::{Start, Surroundings};

/// Words to the kernel: it writes to its console what is critical, since in each such domain it
/// finds errors in the tables of ACPI that mean nothing; it does not wait after a panic, which ends
/// the domain. It has no use for IPv6. What follows `--` is for the first process.
const KERNEL_WORDS: &str =
    "console=hvc0 quiet loglevel=3 panic=-1 ipv6.disable=1 rdinit=/init -- guest";

/// A domain that runs Linux.
#[derive(Debug)]
struct Linux {
    setting: LinuxSetting,
    is_pinned: bool,
}

/// Returns the surroundings of a process that is to be started in a room.
pub(crate) fn surround(
    setting: LinuxSetting,
    is_pinned: bool,
    room: &Room,
) -> Box<dyn Surroundings> {
    Host::around(Linux { setting, is_pinned }, room)
}

/// Returns the CPUs that each processor of such a domain may run on; `None` where those are any.
pub(super) fn processors(setting: &LinuxSetting, is_pinned: bool) -> Vec<Option<CpuSet>> {
    let own =
        |cpu: &u32| CpuId::new(*cpu).filter(|_| is_pinned).map(|cpu| [cpu].into_iter().collect());
    setting.cpus.iter().map(own).collect()
}

impl Linux {
    fn machine(&self) -> Machine {
        let LinuxSetting { kernel, initramfs, memory, .. } = self.setting.clone();
        let start = Image::Linux { kernel, initramfs, words: KERNEL_WORDS };
        Machine { memory, processors: processors(&self.setting, self.is_pinned), start }
    }
}

impl Guest for Linux {
    fn machine(&self, _: &Job) -> Result<Machine, XenError> {
        Ok(self.machine())
    }

    fn enter(
        &self,
        domain: DomainId,
        _: &mut Start<'_>,
        job: &mut Cow<'_, Job>,
    ) -> Result<(), PartitionError> {
        let inside = LinuxJob::new(self.setting.clone(), job.as_ref().clone()).in_domain(domain);
        *job = Cow::Owned(Job::Linux(Box::new(inside)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use quietcore_record::record::GuestImage;
    use quietcore_units::ByteSize;

    use super::*;
    use crate::linux::Hypervisor;

    #[test]
    fn each_processor_of_a_pinned_domain_has_a_cpu_of_its_own() {
        let image = GuestImage {
            folder: "/i".to_owned(),
            sha256: "1a".to_owned(),
            kernel: "6.1".to_owned(),
        };
        let setting = LinuxSetting {
            image,
            kernel: "/i/vmlinuz".into(),
            initramfs: "/i/initramfs".into(),
            memory: ByteSize::new(1 << 28),
            hypervisor: Hypervisor::Xen { is_pinned: true },
            cpus: vec![3, 5],
        };
        let cpus: Vec<Option<CpuSet>> = vec!["3".parse().ok(), "5".parse().ok()];
        assert_eq!(processors(&setting, true), cpus);
        assert_eq!(processors(&setting, false), [None, None]);
        let machine = Linux { setting, is_pinned: true }.machine();
        assert_eq!((machine.memory, machine.processors), (ByteSize::new(1 << 28), cpus));
        assert!(matches!(machine.start, Image::Linux { words, .. } if words.ends_with("-- guest")));
    }
}
