//! Sets of CPUs with a scheduler's domain of their own: cpusets, of either version of cgroups.
//!
//! A setting's value is the set's CPUs, and no CPUs mean that there is no such set:
//!
//! ```text
//! ""      the group is not there
//! "2,3"   the group is there with these CPUs
//! ```
//!
//! Version 2 knows partitions, whose CPUs nobody else has; the kernel says in the group's own file
//! when one is not valid, and why. That is part of the value then, so that it never equals what was
//! asked for.

pub(super) mod programs;

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::setting::SettingError;
use quietcore_host::CpuList;

/// The group in an isolated one that processes enter: one that has groups below it can't hold any.
pub(super) const PROCESSES: &str = "processes";
/// Value of a group that is there and has no CPUs.
const NO_CPUS: &str = "no CPUs";
/// Tries to empty and remove a group, in which processes may begin meanwhile, and the time between.
const REMOVE_TRIES: u32 = 20;
const REMOVE_EVERY: Duration = Duration::from_millis(5);

/// The purpose of a cpuset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CpusetKind {
    /// Version 1: a domain in which the scheduler balances load.
    Domain,
    /// Version 1: CPUs for those who enter; it is no domain, but may be within one.
    Entered,
    /// Version 2: CPUs that no other group has, in a domain of their own.
    Exclusive,
    /// Version 2: CPUs that no other group has, in no domain at all.
    Isolated,
}

impl CpusetKind {
    /// The kind of partition under version 2.
    const fn partition(self) -> Option<&'static str> {
        match self {
            Self::Domain | Self::Entered => None,
            Self::Exclusive => Some("root"),
            Self::Isolated => Some("isolated"),
        }
    }
}

/// The CPUs of a group, with what is wrong with it.
pub(super) fn read(folder: &Path, kind: CpusetKind) -> Result<String, SettingError> {
    if !folder.parent().is_some_and(Path::is_dir) {
        return Err(SettingError::Gone);
    }
    let text = |name: &str| fs::read_to_string(folder.join(name));
    let cpus = match text("cpuset.cpus") {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        other => other?,
    };
    if cpus.trim().is_empty() {
        // Version 1 takes CPUs that go offline out of it.
        return Ok(NO_CPUS.to_owned());
    }
    let nonsense = |_| SettingError::Refused(format!("`{}` is no list of CPUs", cpus.trim()));
    let cpus = cpus.parse::<CpuList>().map_err(nonsense)?.0.to_string();
    if let Some(wanted) = kind.partition() {
        let partition = text("cpuset.cpus.partition")?;
        if partition.trim() != wanted {
            return Ok(format!("{cpus} ({})", partition.trim()));
        }
    }
    Ok(cpus)
}

/// Makes a group with these CPUs, gives one that is there other CPUs, or removes it.
pub(super) fn write(folder: &Path, kind: CpusetKind, cpus: &str) -> Result<(), SettingError> {
    if cpus.is_empty() {
        if kind.partition().is_some() && folder.is_dir() {
            // At once; a group that is removed gives its CPUs back a while later.
            put(folder, "cpuset.cpus.partition", "member")?;
        }
        return Ok(remove(folder)?);
    }
    let made = match fs::create_dir(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
        other => {
            other?;
            true
        }
    };
    let filled = fill(folder, kind, cpus);
    if filled.is_err() && made {
        remove(folder)?;
    }
    Ok(filled?)
}

fn fill(folder: &Path, kind: CpusetKind, cpus: &str) -> io::Result<()> {
    let put = |name: &str, value: &str| put(folder, name, value);
    match kind {
        CpusetKind::Domain => {
            let mems = fs::read_to_string(folder.join("../cpuset.mems"))?;
            put("cpuset.mems", mems.trim())?;
            put("cpuset.cpus", cpus)
        }
        CpusetKind::Entered => {
            put("cpuset.sched_load_balance", "0")?;
            fill(folder, CpusetKind::Domain, cpus)
        }
        CpusetKind::Exclusive | CpusetKind::Isolated => {
            put("cpuset.cpus", cpus)?;
            put("cpuset.cpus.partition", kind.partition().unwrap_or_default())?;
            match fs::create_dir(folder.join(PROCESSES)) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
                other => other,
            }
        }
    }
}

fn put(folder: &Path, name: &str, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(folder.join(name))?.write_all(value.as_bytes())
}

/// Removes a group with those below it; processes in it go to the one around it.
fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path())?;
        }
    }
    let mut tries = 1;
    loop {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == ErrorKind::ResourceBusy && tries < REMOVE_TRIES => {}
            other => return other,
        }
        tries += 1;
        let around = folder.join("../cgroup.procs");
        for process in fs::read_to_string(folder.join("cgroup.procs"))?.lines() {
            // One that has ended meanwhile can't be moved.
            let _ = OpenOptions::new().write(true).open(&around)?.write_all(process.as_bytes());
        }
        thread::sleep(REMOVE_EVERY);
    }
}
