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
//! The process is the same as in the backend `process`, with the same files: it shares memory with
//! its host and has no part in it otherwise. It sees the libraries that it needs, the folders of
//! its builds, both for reading only, a `/proc` and a `/dev` of its own, and no network unless it
//! drives a fieldbus. Its exchange is at `/exchange` for whatever else runs in there.
//!
//! Whoever ends takes the container along: when the host's pipe closes its process ends, and the
//! shim has the rest removed; when the shim is killed the process is, too, and the host has the
//! rest removed, or whoever looks next ([`clear`]).

mod bundle;
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
use quietcore_host::controls::ProcessName;
use quietcore_site::Obstacle;
use quietcore_units::{ByteSize, CpuSet};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

pub use containers::Containers;
pub use leftovers::{Cleared, clear};
use runtime::RuntimeProgram;
pub(crate) use runtime::words;
pub use shim::main as shim;

/// How long a container may take to start.
const START_MAX: Duration = Duration::from_secs(10);
/// The first descriptor behind those of the standard streams.
const FIRST_FILE: i32 = 3;

/// What a partition asks of its container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerWish {
    /// The CPUs that it may use; `None` means all.
    pub cpus: Option<CpuSet>,
    /// The most memory that it may have; `None` without limit.
    pub memory: Option<ByteSize>,
    /// Folders that it sees, for reading only, where the host has them.
    pub reads: Vec<PathBuf>,
    /// Whether it has the host's network interfaces; else it has none.
    pub host_network: bool,
    /// Whether any of its threads is a real-time one.
    pub real_time: bool,
}

/// A container as it is to be made.
#[derive(Clone, Debug)]
pub struct ContainerSetting {
    common: Containers,
    name: String,
    wish: ContainerWish,
}

/// A container could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// Nothing can run it.
    #[error("{}; {}", .0.what, .0.remedy)]
    Runtime(Obstacle),
    /// Something of its folder can't be written.
    #[error("`{}` can't be {action}", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// Its description can't be made.
    #[error("the container can't be described")]
    Description(#[from] oci_spec::OciSpecError),
    /// What the program needs of this machine can't be found out.
    #[error("the libraries that `{}` needs can't be found out", program.display())]
    Libraries {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It did not start.
    #[error("{runtime} did not start the container{}", super::process::last_words(remarks))]
    NotStarted {
        /// The program that was to start it.
        runtime: String,
        /// What it said.
        remarks: String,
    },
    /// It did not start in time.
    #[error("{runtime} has not started the container within {} s", START_MAX.as_secs())]
    TooSlow {
        /// The program that was to start it.
        runtime: String,
    },
    /// Its process can't be held.
    #[error("the container's process can't be watched")]
    Process(#[source] io::Error),
}

impl ContainerError {
    fn folder<'a>(path: &'a Path, action: &'static str) -> impl Fn(io::Error) -> Self + 'a {
        move |source| Self::Folder { path: path.to_owned(), action, source }
    }
}

/// The folder of a container: made for it, and removed with all that is left of it.
#[derive(Debug)]
pub(crate) struct Quarters {
    folder: PathBuf,
    runtime: RuntimeProgram,
    name: String,
    /// Where the shim says which process it is, once it runs.
    started: OwnedFd,
    /// Held while real-time run time is taken for it.
    turn: Option<fs::File>,
}

impl Quarters {
    /// Makes the folder and describes the container in it, and has `command` start it: a command
    /// of `program` whose standard streams are set. The container's process gets `files` as the
    /// descriptors from [`FIRST_FILE`] on, of which the last is the exchange, and `owner` as
    /// arguments.
    pub(crate) fn furnish(
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

    /// Waits until the container runs.
    pub(crate) fn wait(&mut self) -> Result<Inside, ContainerError> {
        let _turn = self.turn.take();
        let runtime = || self.runtime.name().to_owned();
        let timeout = Timespec::try_from(START_MAX)
            .map_err(|_| ContainerError::TooSlow { runtime: runtime() })?;
        let mut pipe = [PollFd::new(&self.started, PollFlags::IN)];
        let ready = poll(&mut pipe, Some(&timeout));
        if ready.map_err(|errno| ContainerError::Process(errno.into()))? == 0 {
            return Err(ContainerError::TooSlow { runtime: runtime() });
        }
        // It comes in one piece; nothing comes where the shim has ended without.
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
        // The shim has done so already, if it could. What stays is removed by who looks next.
        let _ = leftovers::remove_of(&self.folder, &self.runtime, &self.name);
    }
}

/// The process in a container, as the host knows it.
#[derive(Debug)]
pub(crate) struct Inside {
    pid: Pid,
    process: OwnedFd,
}

impl Inside {
    /// The kernel's number of it, among the host's processes.
    pub(crate) fn process_id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().cast_unsigned()
    }

    /// Has the kernel end it, and with it all others in the container.
    pub(crate) fn kill(&self) {
        // It fails only where it has ended already.
        let _ = pidfd_send_signal(&self.process, Signal::KILL);
    }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

fn make_folder(folder: &Path) -> Result<(), ContainerError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(ContainerError::folder(folder, "made"))
}

/// The number in the container of each file that has a number here.
pub(crate) fn renumbered(files: &[OwnedFd], here: i32) -> i32 {
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
