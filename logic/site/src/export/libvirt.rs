//! Domains of libvirt: the guests of QEMU, with the CPUs, the scheduling, the memory and the share
//! of cache and bandwidth that the site file gives them.
//!
//! ```text
//! vcr.cpus            ► vcpupin, one to one        host.housekeeping ► emulatorpin
//! priority, policy    ► vcpusched                  vcr.memory        ► memory, locked
//! vcr.cache           ► cachetune, in bytes        vcr.memory_bandwidth ► memorytune
//! guest               ► os, disk, serial console, graphics, interface
//! ```
//!
//! A guest from its disk is the same there as under `quietcore up`. One with a program of the site
//! is not: its exchange, its time and its channels are kept by the partition's process, which
//! libvirt does not start. A Linux guest begins as a system without its program, which its comment
//! says; one of our own kernel can't begin, and is left out.

mod domain;
mod element;

use quietcore_units::{ByteSize, CpuSet};

use super::{ExportPaths, ExportedFile};
use crate::backend::Backend;
use crate::plan::cpu_words;
use crate::site::{GuestSystem, Partition, Site};

/// The facts about the machine that domains need beside the site file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportMachine {
    /// The CPUs that are online.
    pub online: CpuSet,
    /// The size of a way of the last-level cache; `None` where its ways can't be assigned.
    pub cache_way: Option<ByteSize>,
}

/// Why a site has no domain to be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDomain {
    /// There is no such partition.
    #[error("there is no partition `{name}`; name one of {known}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The partitions of the site.
        known: String,
    },
    /// The partition is no guest of QEMU.
    #[error(
        "partition `{name}` is of the backend `{backend}`; only guests of `qemu` are domains of \
         libvirt"
    )]
    OtherBackend {
        /// Name of the partition.
        name: String,
        /// Backend that realises it.
        backend: Backend,
    },
    /// Its guest is of our own kernel.
    #[error(
        "partition `{name}` is a guest of our own kernel, which takes its time and its program \
         from `quietcore up` and can't begin without; choose `system = \"disk\"` or \
         `system = \"linux\"` for a domain of libvirt"
    )]
    OwnKernel {
        /// Name of the partition.
        name: String,
    },
    /// Guests have the same CPUs because a campaign measures each alone.
    #[error(
        "not all guests of this site can run at the same time: {cpus} of `{partition}` belongs to \
         another guest too, as `campaign.alone` allows where each is measured alone; choose one \
         with `--partition`"
    )]
    InTurns {
        /// Name of the partition that has CPUs of an earlier one.
        partition: String,
        /// These CPUs, in words.
        cpus: String,
    },
    /// No partition is a guest that can be a domain.
    #[error(
        "site `{site}` has no guest that libvirt could start: a partition of the backend `qemu` \
         with `system = \"disk\"` or `system = \"linux\"`"
    )]
    None {
        /// Name of the site.
        site: String,
    },
}

/// Writes a domain for each partition that can be one, or for the one that is named.
pub(super) fn domains(
    site: &Site,
    partition: Option<&str>,
    paths: &ExportPaths,
) -> Result<Vec<ExportedFile>, NoDomain> {
    let chosen: Vec<&Partition> = match partition {
        Some(name) => vec![named(site, name)?],
        None => site.partitions().iter().filter(|it| check(it).is_ok()).collect(),
    };
    if chosen.is_empty() {
        return Err(NoDomain::None { site: site.name().to_owned() });
    }
    if let Some((partition, cpus)) = site.in_turns(chosen.iter().copied()).first() {
        let (partition, cpus) = (partition.name.clone(), cpu_words(cpus));
        return Err(NoDomain::InTurns { partition, cpus });
    }
    let file = |partition: &&Partition| ExportedFile {
        name: format!("{}.xml", domain::name(site, partition)),
        text: domain::domain(site, partition, paths).to_document(),
    };
    Ok(chosen.iter().map(file).collect())
}

fn named<'s>(site: &'s Site, name: &str) -> Result<&'s Partition, NoDomain> {
    let found = site.partitions().iter().find(|partition| partition.name == name);
    let found = found.ok_or_else(|| {
        let known = site.partitions().iter().map(|it| format!("`{}`", it.name));
        let known = known.collect::<Vec<_>>().join(", ");
        NoDomain::Unknown { name: name.to_owned(), known }
    })?;
    check(found).map(|()| found)
}

/// Checks that a partition can be a domain.
fn check(partition: &Partition) -> Result<(), NoDomain> {
    let name = partition.name.clone();
    match (partition.backend, &partition.system) {
        (Backend::Qemu, GuestSystem::Disk(_) | GuestSystem::Linux { .. }) => Ok(()),
        (Backend::Qemu, GuestSystem::Osek) => Err(NoDomain::OwnKernel { name }),
        (backend, _) => Err(NoDomain::OtherBackend { name, backend }),
    }
}
