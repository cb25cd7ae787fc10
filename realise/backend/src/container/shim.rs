//! The shim between a host and a container: `quietcore-runtime container FOLDER FILES`.
//!
//! A container runtime starts a container and ends; the container's process is then adopted by its
//! nearest ancestor that is a subreaper. The shim is that ancestor: it waits for the container,
//! removes its control groups and state, and ends as it has ended. So the host has a child that
//! tells it how the container ended, as for any process.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpid,
    kill_process, pidfd_open, pidfd_send_signal, set_child_subreaper, set_dumpable_behavior,
    waitid,
};

use super::leftovers::Signature;
use super::runtime::Place;
use quietcore_process::remark::remark;

/// Exit status when there is no container to wait for.
const FAILED: u8 = 2;
/// Longest wait until the container runtime's own processes have ended.
const ADOPTION_MAX: Duration = Duration::from_secs(5);
/// Longest time that the container may live on after the host has gone.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// Starts the container whose folder is the first argument, and waits for it. The second argument
/// is the number of files that it gets behind the standard streams.
pub fn main(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let (folder, files) = (arguments.next(), arguments.next());
    let text = |argument: Option<std::ffi::OsString>| argument?.into_string().ok();
    let (Some(folder), Some(files)) = (text(folder), text(files)) else {
        remark(format_args!("quietcore-runtime: only `quietcore` starts this program"));
        return ExitCode::from(FAILED);
    };
    match run(Path::new(&folder), &files) {
        Ok(status) => end_as(&status),
        Err(error) => {
            remark(format_args!("quietcore-runtime: {error}"));
            ExitCode::from(FAILED)
        }
    }
}

fn run(folder: &Path, files: &str) -> io::Result<WaitIdStatus> {
    let name = folder.file_name().and_then(|name| name.to_str());
    let place = Place { folder, name: name.ok_or(io::ErrorKind::InvalidInput)? };
    let runtime = Signature::read(folder)?.runtime;
    let started = started_file(files)?;
    // By this the container's process becomes a child of this one when the container runtime ends.
    set_child_subreaper(Some(getpid()))?;
    // Messages of the container runtime go to the same stream as those of the container.
    let status = runtime.run(&place, files).status()?;
    if !status.success() {
        let _ = runtime.delete(&place);
        return Err(io::Error::other(format!("{runtime}: {status}")));
    }
    let number = fs::read_to_string(place.process_file())?;
    let process = number.trim().parse().ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| io::Error::other("the container has no process"))?;
    wait_until_adopted(process)?;
    tell(started, process)?;
    let ended = wait(process);
    let deleted = runtime.delete(&place)?;
    if !deleted.status.success() {
        remark(format_args!("{}", String::from_utf8_lossy(&deleted.stderr).trim()));
    }
    ended
}

/// Waits until the container's process is a child of this one. When the container runtime has
/// ended, a child of it may still be the parent for a moment, and the process asks the kernel to
/// kill it when its parent ends.
fn wait_until_adopted(process: Pid) -> io::Result<()> {
    let end = Instant::now() + ADOPTION_MAX;
    loop {
        let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
        if parent_in(&stat) == Some(getpid()) {
            return Ok(());
        }
        if Instant::now() >= end {
            return Err(io::Error::other("the container's process is still another's child"));
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the parent in a process's `stat`: field 4. Field 2 is a name in parentheses that may
/// contain anything.
fn parent_in(stat: &str) -> Option<Pid> {
    let (_, fields) = stat.rsplit_once(')')?;
    Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
}

/// Opens the file behind those of the container, through which the host learns that it runs.
fn started_file(files: &str) -> io::Result<File> {
    let files: i32 = files.parse().map_err(io::Error::other)?;
    let path = format!("/proc/self/fd/{}", super::FIRST_FILE + files);
    File::options().write(true).open(path)
}

/// Writes the process's number in one piece, as the host reads it.
fn tell(mut started: File, process: Pid) -> io::Result<()> {
    started.write_all(format!("{process}\n").as_bytes())
}

/// Waits until the container's process ends. Once the host has gone it has [`ORPHAN_GRACE`] for
/// that, then it is killed.
fn wait(process: Pid) -> io::Result<WaitIdStatus> {
    let end: OwnedFd = pidfd_open(process, PidfdFlags::empty())?;
    let input = io::stdin();
    // `poll` reports that the host's pipe has closed even if it is asked for no event.
    let mut both = [
        PollFd::new(&end, PollFlags::IN),
        PollFd::from_borrowed_fd(input.as_fd(), PollFlags::empty()),
    ];
    poll_through(&mut both, None)?;
    if both[0].revents().is_empty() {
        let grace = Timespec::try_from(ORPHAN_GRACE).map_err(io::Error::other)?;
        poll_through(&mut both[..1], Some(&grace))?;
        if both[0].revents().is_empty() {
            let _ = pidfd_send_signal(&end, Signal::KILL);
        }
    }
    let status = waitid(WaitId::Pid(process), WaitIdOptions::EXITED)?;
    status.ok_or_else(|| io::Error::other("the container's process is not ours"))
}

/// Polls again whenever a signal interrupts it.
fn poll_through(files: &mut [PollFd<'_>], timeout: Option<&Timespec>) -> io::Result<()> {
    loop {
        match poll(files, timeout) {
            Err(rustix::io::Errno::INTR) => {}
            other => return other.map(drop).map_err(io::Error::from),
        }
    }
}

/// Ends as the container's process has ended: with its exit status, or by the same signal.
fn end_as(status: &WaitIdStatus) -> ExitCode {
    if let Some(signal) = status.terminating_signal().and_then(Signal::from_named_raw) {
        // The memory worth dumping was the container's.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        let _ = kill_process(getpid(), signal);
    }
    let status = status.exit_status().and_then(|status| u8::try_from(status).ok());
    ExitCode::from(status.unwrap_or(FAILED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_found_behind_any_name() {
        assert_eq!(parent_in("12 (a) b) S 34 12 12 0"), Pid::from_raw(34));
        assert_eq!(parent_in("12 (a"), None);
    }
}
