//! The backend `container`: a partition's process in a container of its own, run by `runc` or
//! `crun`.
//!
//! ```text
//! quietcore ──► quietcore-runtime container ──► runc run --detach ──► quietcore-runtime partition
//!   │  pipe, exchange, channels: handed on as open files ────────────────────────► │
//!   │                    shim: waits for the container, then has what is left of it removed
//!   └─ folder of the container: bundle, state of the container runtime
//! ```
//!
//! The process is the one of the backend `process`, with the same files: it shares memory with its
//! host and nothing else. It sees the libraries that it needs and the folder of its builds, both
//! read-only, a `/proc` and a `/dev` of its own, and no network unless its fieldbus uses an
//! interface. Its exchange is at `/exchange` for any other process in the container.
//!
//! Whichever process ends, the container ends with it. When the host's pipe closes, the container's
//! process ends and the shim removes the rest. When the shim is killed, that process is killed too,
//! and the rest is removed by the host, or by the next call of [`clear`].

mod bundle;
mod contained;
mod containers;
mod files;
mod leftovers;
mod runtime;
mod shim;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use command_fds::{CommandFdExt as _, FdMapping, FdMappingCollision};
use quietcore_host::Source;
use quietcore_host::process::ProcessName;
use quietcore_process::setting;
use quietcore_site::{Obstacle, Partition};
use quietcore_units::{ByteSize, CpuSet};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::fieldbus::{FieldbusJob, InterfaceJob};
use crate::setting::ProbeNeeds;
pub use containers::Containers;
pub use leftovers::clear;
use runtime::{RuntimeProgram, words};
pub use shim::main as shim;

/// Longest time that a container may take to start.
const START_MAX: Duration = Duration::from_secs(10);
/// The first descriptor number after the standard streams.
const FIRST_FILE: i32 = 3;

/// Requirements of a partition on its container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerWish {
    /// CPUs that it may use; `None` means all.
    pub cpus: Option<CpuSet>,
    /// Limit of its memory; `None` means no limit.
    pub memory: Option<ByteSize>,
    /// Folders of the host that it sees read-only, under the same paths.
    pub reads: Vec<PathBuf>,
    /// `true` for the host's network interfaces, `false` for none at all.
    pub host_network: bool,
    /// `true` if any of its threads is a real-time one.
    pub real_time: bool,
}

impl ContainerWish {
    /// Returns the requirements of a partition; it sees `builds`, the folder of its builds.
    pub(crate) fn of(
        partition: &Partition,
        fieldbus: Option<&FieldbusJob>,
        builds: Option<&Path>,
    ) -> Self {
        let frames = |bus: &FieldbusJob| matches!(bus.interface, InterfaceJob::Network { .. });
        Self {
            reads: builds.map(Path::to_owned).into_iter().collect(),
            host_network: fieldbus.is_some_and(frames),
            ..Self::of_probe(ProbeNeeds::of(partition))
        }
    }

    /// Returns what a probe asks for.
    pub(crate) fn of_probe(needs: ProbeNeeds) -> Self {
        let ProbeNeeds { cpus, memory, is_real_time, uses_network } = needs;
        Self {
            cpus,
            memory,
            reads: Vec::new(),
            host_network: uses_network,
            real_time: is_real_time,
        }
    }
}

/// A container that is yet to be made.
#[derive(Clone, Debug)]
pub struct ContainerSetting {
    common: Containers,
    name: String,
    wish: ContainerWish,
}

/// The error of a container that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// No container runtime can run it here.
    #[error("{}; {}", .0.what, .0.remedy)]
    Runtime(Obstacle),
    /// A file or folder of the container can't be used.
    #[error("`{}` can't be {action}", path.display())]
    Folder {
        /// Path of the file or folder.
        path: PathBuf,
        /// The attempt that failed, as a participle: `made`, `written`, `locked`, `cleared` or
        /// `removed`.
        action: &'static str,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Its OCI description can't be built.
    #[error("the container can't be described")]
    Description(#[from] oci_spec::OciSpecError),
    /// The libraries that its program needs can't be listed.
    #[error("the libraries that `{}` needs can't be found out", program.display())]
    Libraries {
        /// Path of the program.
        program: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The runtime ended without having started it.
    #[error("{runtime} did not start the container{}", super::process::last_words(remarks))]
    NotStarted {
        /// Name of the container runtime.
        runtime: String,
        /// Messages of the runtime; empty if there were none.
        remarks: String,
    },
    /// It did not start within 10 s.
    #[error("{runtime} has not started the container within {} s", START_MAX.as_secs())]
    TooSlow {
        /// Name of the container runtime.
        runtime: String,
    },
    /// Its process, or the pipe that tells of its start, can't be watched.
    #[error("the container's process can't be watched")]
    Process(#[source] io::Error),
}

impl ContainerError {
    fn folder<'a>(path: &'a Path, action: &'static str) -> impl Fn(io::Error) -> Self + 'a {
        move |source| Self::Folder { path: path.to_owned(), action, source }
    }
}

/// The folder of a container. When it is dropped, it is removed with all that is left of the
/// container.
#[derive(Debug)]
struct Quarters {
    folder: PathBuf,
    runtime: RuntimeProgram,
    name: String,
    /// Reading end of the pipe into which the shim writes the process's number once that runs.
    started: OwnedFd,
    /// Lock on the real-time run time, held until the container runs.
    turn: Option<fs::File>,
}

impl Quarters {
    /// Makes the folder, writes the container's description into it, and completes `command`, which
    /// runs `program` with its standard streams set, so that it starts the container. The
    /// container's process gets `files` as the descriptors from [`FIRST_FILE`] on, the exchange
    /// last, and `owner` as arguments.
    fn furnish(
        setting: &ContainerSetting,
        (program, owner): (&Path, Vec<String>),
        files: Vec<OwnedFd>,
        command: &mut Command,
    ) -> Result<Self, ContainerError> {
        let Containers { folders, runtime, .. } = &setting.common;
        let folder = folders.join(&setting.name);
        make_folder(folders)?;
        leftovers::remove(&folder)?;
        make_folder(&folder)?;
        let (reader, writer) = pipe().map_err(ContainerError::Process)?;
        let mut quarters = Self {
            turn: None,
            folder: folder.clone(),
            runtime: runtime.clone(),
            name: setting.name.clone(),
            started: reader,
        };
        leftovers::sign(&folder, runtime, &ProcessName::own(&Source::live()))?;
        let (turn, real_time_us) = setting.real_time()?;
        quarters.turn = turn;
        let exchange = FIRST_FILE + i32::try_from(files.len()).unwrap_or(i32::MAX) - 1;
        bundle::write(setting, (program, exchange, &owner), real_time_us, &folder)?;
        command.arg("container").arg(&folder).arg(files.len().to_string());
        let mut mappings: Vec<FdMapping> = Vec::new();
        for file in files.into_iter().chain([writer]) {
            let child_fd = FIRST_FILE + i32::try_from(mappings.len()).unwrap_or(i32::MAX);
            mappings.push(FdMapping { parent_fd: file, child_fd });
        }
        let collision = |_: FdMappingCollision| io::Error::other("two files have one number");
        command.fd_mappings(mappings).map_err(collision).map_err(ContainerError::Process)?;
        Ok(quarters)
    }

    /// Waits until the container runs, at most for [`START_MAX`].
    fn wait(&mut self) -> Result<Inside, ContainerError> {
        let _turn = self.turn.take();
        let runtime = || self.runtime.name().to_owned();
        let timeout = Timespec::try_from(START_MAX)
            .map_err(|_| ContainerError::TooSlow { runtime: runtime() })?;
        let mut pipe = [PollFd::new(&self.started, PollFlags::IN)];
        let ready = poll(&mut pipe, Some(&timeout));
        if ready.map_err(|errno| ContainerError::Process(errno.into()))? == 0 {
            return Err(ContainerError::TooSlow { runtime: runtime() });
        }
        // The number comes in one piece; a shim that ends without having written it leaves nothing.
        let mut line = [0; 32];
        let length = rustix::io::read(&self.started, &mut line)
            .map_err(|errno| ContainerError::Process(errno.into()))?;
        let number = str::from_utf8(&line[..length]).ok().and_then(|line| line.trim().parse().ok());
        let Some(pid) = number.and_then(Pid::from_raw) else {
            return Err(ContainerError::NotStarted { runtime: runtime(), remarks: String::new() });
        };
        let process = pidfd_open(pid, PidfdFlags::empty());
        let process = process.map_err(|errno| ContainerError::Process(errno.into()))?;
        Ok(Inside { pid, process })
    }
}

impl Drop for Quarters {
    fn drop(&mut self) {
        // The shim has normally removed it already. What this can't remove is left to the next
        // `clear`.
        let _ = leftovers::remove_of(&self.folder, &self.runtime, &self.name);
    }
}

/// The first process in a container, as the host knows it.
#[derive(Debug)]
struct Inside {
    pid: Pid,
    process: OwnedFd,
}

impl Inside {
    /// Returns its number among the host's processes.
    fn process_id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().cast_unsigned()
    }

    /// Kills it, and with it all others in the container, and lets it get a processor to end on.
    fn kill(&self, attempt: u32) {
        // This fails only if it has ended already, and its number may be another's then.
        if pidfd_send_signal(&self.process, Signal::KILL).is_ok() {
            setting::let_end(self.process_id(), attempt);
        }
    }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

fn make_folder(folder: &Path) -> Result<(), ContainerError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(ContainerError::folder(folder, "made"))
}

/// Returns the number that a file, known by its number here, gets in the container. Numbers that
/// are not among `files` stay as they are.
fn renumbered(files: &[OwnedFd], here: i32) -> i32 {
    let index = files.iter().position(|file| file.as_raw_fd() == here);
    index.and_then(|index| i32::try_from(index).ok()).map_or(here, |index| FIRST_FILE + index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_numbered_one_after_the_other() {
        let files: Vec<OwnedFd> =
            (0..3).map(|_| pipe().map(|(reader, _)| reader).expect("there are pipes")).collect();
        let new: Vec<i32> = files.iter().map(|file| renumbered(&files, file.as_raw_fd())).collect();
        assert_eq!(new, [3, 4, 5]);
    }
}
