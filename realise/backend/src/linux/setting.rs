//! The setting of a partition in a Linux guest, from the site file to the partition's process.

use std::path::{Path, PathBuf};

use quietcore_linux_guest::image::{Image, ImageError};
use quietcore_record::record::GuestImage;
use quietcore_scan::process::job::ProgramJob;
use quietcore_site::{Accelerator, Backend, GuestSystem, MemoryForm, Partition};
use quietcore_units::{ByteSize, CpuId, CpuSet, Nanos, Scheduling};
use quietcore_xen::DomainId;
use serde::{Deserialize, Serialize};

use crate::fieldbus::{FieldbusJob, InterfaceJob};
use crate::job::Job;

/// Machine of a Linux guest, beside its job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinuxSetting {
    /// The image, as records name it.
    pub image: GuestImage,
    /// Path of its kernel.
    pub kernel: PathBuf,
    /// Path of the files that the kernel starts from.
    pub initramfs: PathBuf,
    /// The guest's own memory.
    pub memory: ByteSize,
    /// The hypervisor that runs it.
    pub hypervisor: Hypervisor,
    /// The host's CPU of each of its processors.
    pub cpus: Vec<u32>,
}

/// The hypervisor of a Linux guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hypervisor {
    /// QEMU, which the partition's process starts.
    Qemu {
        /// The way in which its instructions are run.
        accelerator: Accelerator,
    },
    /// Xen, whose domain is there before the partition's process.
    Xen {
        /// `true` if its processors are pinned.
        is_pinned: bool,
    },
}

/// Why a partition can't have its Linux guest.
#[derive(Debug, thiserror::Error)]
#[error("partition `{partition}` can't start from its image")]
pub struct LinuxSettingError {
    /// Name of the partition.
    pub partition: String,
    /// The error of the image.
    #[source]
    pub source: ImageError,
}

/// The job of a process that runs a partition in a Linux guest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinuxJob {
    pub(crate) setting: LinuxSetting,
    /// `true` if its processors are pinned.
    pub(crate) is_pinned: bool,
    /// The fieldbus behind an interface of the host, whose frames this process carries.
    pub(crate) network: Option<FieldbusJob>,
    /// The host's CPUs over which all of QEMU floats; `None` where it is not confined, or pinned.
    #[serde(default)]
    pub(crate) within: Option<CpuSet>,
    /// Number of the domain that it is, where Xen runs it.
    #[serde(default)]
    pub(super) domain: Option<u16>,
    /// The job of the process in the guest, by its processors' numbers.
    pub(super) inner: Box<Job>,
}

impl LinuxSetting {
    /// Returns the setting of a partition, whose image is named from `site_folder` on; `None` where
    /// its system is another one.
    ///
    /// # Errors
    /// [`LinuxSettingError`] when its image can't be used.
    pub(crate) fn of(
        partition: &Partition,
        site_folder: &Path,
    ) -> Result<Option<Self>, LinuxSettingError> {
        let GuestSystem::Linux { image } = &partition.system else { return Ok(None) };
        let folder = site_folder.join(image);
        let image = Image::open(&folder)
            .map_err(|source| LinuxSettingError { partition: partition.name.clone(), source })?;
        let default = match &partition.declaration().memory {
            MemoryForm::Own { default, .. } => *default,
            MemoryForm::Heap => ByteSize::new(0),
        };
        let hypervisor = match partition.backend {
            Backend::Xen => Hypervisor::Xen { is_pinned: true },
            _ => Hypervisor::Qemu { accelerator: partition.accelerator },
        };
        Ok(Some(Self {
            image: named(&folder, &image),
            kernel: image.kernel,
            initramfs: image.initramfs,
            memory: partition.vcr.memory.unwrap_or(default),
            hypervisor,
            cpus: partition.vcr.cpus.iter().map(CpuId::get).collect(),
        }))
    }

    /// Returns the number that one of the host's CPUs has in the guest.
    fn inside(&self, cpu: u32) -> u32 {
        let index = self.cpus.iter().position(|own| *own == cpu).unwrap_or(0);
        u32::try_from(index).unwrap_or(0)
    }
}

/// Reads the image in a folder, and returns how records name it.
///
/// # Errors
/// [`ImageError`].
pub fn image_in(folder: &Path) -> Result<GuestImage, ImageError> {
    Image::open(folder).map(|image| named(folder, &image))
}

/// Returns how records name the image in a folder.
pub(crate) fn named(folder: &Path, image: &Image) -> GuestImage {
    // It was read a moment ago.
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    GuestImage {
        folder: whole.display().to_string(),
        sha256: image.sha256.clone(),
        kernel: image.description.kernel.clone(),
    }
}

/// Takes out of the job for the guest what the host does of its fieldbus: the interface, if it is
/// one of the host's.
fn taken_out(inner: &mut FieldbusJob) -> Option<FieldbusJob> {
    let InterfaceJob::Network { .. } = &inner.interface else { return None };
    // The guest's first process puts its kernel's own name there. A limit is the host's matter.
    let own = InterfaceJob::Network { name: String::new(), limited: false };
    let bus = inner.bus.clone();
    Some(FieldbusJob { interface: std::mem::replace(&mut inner.interface, own), bus })
}

impl LinuxJob {
    /// Makes the job of a process from the job that it would do on the host. What only the host's
    /// kernel can give is taken out: memory reserved for a process, a snare in the host's trace.
    pub(crate) fn new(setting: LinuxSetting, mut job: Job) -> Self {
        let (mut is_pinned, mut network, mut within) = (false, None, None);
        match &mut job {
            Job::Program { program, fieldbus, .. } => {
                network = fieldbus.as_mut().and_then(taken_out);
                is_pinned = program.cpu.is_some();
                program.cpu = program.cpu.map(|cpu| setting.inside(cpu));
                (program.memory, program.snare) = (None, None);
            }
            Job::Latency(latency) => {
                is_pinned = latency.cpus.iter().any(Option::is_some);
                for cpu in latency.cpus.iter_mut().flatten() {
                    *cpu = setting.inside(*cpu);
                }
                (latency.memory, latency.snare) = (None, None);
            }
            // In the guest they have all processors.
            Job::Neighbour(neighbour) => within = neighbour.cpus.take(),
            Job::Memory(_) | Job::Measurement { .. } | Job::Linux(_) | Job::Disk(_) => {}
        }
        Self { setting, is_pinned, network, within, domain: None, inner: Box::new(job) }
    }

    /// Returns the same for a domain of Xen.
    pub(crate) fn in_domain(self, domain: DomainId) -> Self {
        Self { domain: Some(domain.0), ..self }
    }

    /// Returns the domain that it is, where Xen runs it.
    pub(super) fn domain(&self) -> Option<DomainId> {
        self.domain.map(DomainId)
    }

    /// Returns the program that it runs; `None` for a probe.
    pub(crate) fn program(&self) -> Option<&ProgramJob> {
        match &*self.inner {
            Job::Program { program, .. } => Some(program),
            _ => None,
        }
    }

    /// Returns the policy of the leading task, which its processors' threads get.
    pub(crate) fn policy(&self) -> Scheduling {
        match &*self.inner {
            Job::Program { program, .. } => {
                program.tasks.first().map_or(Scheduling::Other, |leading| leading.policy)
            }
            Job::Latency(latency) => latency.policy,
            _ => Scheduling::Other,
        }
    }

    /// Returns the time between two releases of the leading task.
    pub(crate) fn period(&self) -> Nanos {
        match &*self.inner {
            Job::Program { program, .. } => {
                program.tasks.first().map_or(Nanos::ZERO, |leading| leading.release.interval())
            }
            Job::Latency(latency) => latency.period,
            _ => Nanos::ZERO,
        }
    }

    /// Gives the files that it names other numbers, each once.
    pub(crate) fn renumber(&mut self, new: &mut dyn FnMut(i32) -> i32) {
        self.inner.renumber(new);
    }
}

#[cfg(test)]
mod tests {
    use quietcore_fieldbus::BusJob;
    use quietcore_probe::job::LatencyJob;
    use quietcore_units::Wake;

    use super::*;
    use crate::neighbour::NeighbourJob;

    #[test]
    fn the_job_in_the_guest_is_of_its_processors() {
        let setting = LinuxSetting {
            image: GuestImage {
                folder: "/i".to_owned(),
                sha256: "1a".to_owned(),
                kernel: "6.1".to_owned(),
            },
            kernel: "k".into(),
            initramfs: "i".into(),
            memory: ByteSize::new(1 << 28),
            hypervisor: Hypervisor::Qemu { accelerator: Accelerator::Kvm },
            cpus: vec![3, 5],
        };
        let job = |cpus| {
            Job::Latency(LatencyJob {
                cpus,
                period: Nanos::from_millis(1),
                cycles: 10,
                warm_up_cycles: 0,
                policy: Scheduling::fifo(80),
                wake: Wake::Sleep,
                injection: None,
                memory: Some(ByteSize::new(1 << 20)),
                snare: None,
            })
        };
        let pinned = LinuxJob::new(setting.clone(), job(vec![Some(3), Some(5)]));
        let Job::Latency(inner) = &*pinned.inner else { panic!("{pinned:?}") };
        assert_eq!((&inner.cpus, inner.memory), (&vec![Some(0), Some(1)], None));
        assert!(pinned.is_pinned && pinned.policy() == Scheduling::fifo(80));
        assert_eq!(pinned.period(), Nanos::from_millis(1));
        assert_eq!(pinned.domain(), None);
        let in_xen = pinned.in_domain(DomainId(7));
        assert_eq!(in_xen.domain(), Some(DomainId(7)));
        let free = LinuxJob::new(setting.clone(), job(vec![None, None]));
        assert!(!free.is_pinned && free.program().is_none());
        let cpus: CpuSet = "3,5".parse().unwrap();
        let loads = NeighbourJob { loads: Vec::new(), cpus: Some(cpus) };
        let neighbour = LinuxJob::new(setting, Job::Neighbour(loads));
        assert_eq!((neighbour.within, neighbour.is_pinned), (Some(cpus), false));
        let Job::Neighbour(inner) = &*neighbour.inner else { panic!("{neighbour:?}") };
        assert_eq!(inner.cpus, None, "the guest's processors have other numbers");
    }

    /// Goal: frames for an interface of the host pass this process, whatever name the guest's
    /// kernel has for its own; a simulated segment is in the guest.
    #[test]
    fn a_fieldbus_behind_an_interface_is_carried_by_the_host() {
        let network = InterfaceJob::Network { name: "eth0".to_owned(), limited: true };
        let simulated = InterfaceJob::Simulated {
            devices: Vec::new(),
            plants: Vec::new(),
            faults: Vec::new(),
            seed: 7,
        };
        let split = |interface: &InterfaceJob| {
            let bus = BusJob { cycle: Nanos::new(1), lost_after: 1, subdevices: Vec::new() };
            let mut job = FieldbusJob { interface: interface.clone(), bus };
            (taken_out(&mut job).map(|it| it.interface), job.interface)
        };
        let nameless = InterfaceJob::Network { name: String::new(), limited: false };
        assert_eq!(split(&network), (Some(network.clone()), nameless));
        assert_eq!(split(&simulated), (None, simulated.clone()));
    }
}
