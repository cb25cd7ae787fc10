//! What stands between a host and a container: `quietcore-runtime container FOLDER FILES`.
//!
//! A container runtime starts a container and ends; the container's process then belongs to the
//! next of its ancestors that adopts. That is the shim: it waits for the container, has its control
//! groups and state removed, and ends as it has ended. So the host has a child that tells it how
//! the container ended, as for any process.

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

/// The exit status when there is no container to wait for.
const FAILED: u8 = 2;
/// How long the container runtime's own processes may take to end.
const ADOPTION_MAX: Duration = Duration::from_secs(5);
/// How long the container may live on when the host has gone.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// Starts the container whose folder is the first argument, with as many files behind the standard
/// streams as the second says, and waits for it.
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
    // The container's process becomes ours when the container runtime ends.
    set_child_subreaper(Some(getpid()))?;
    // What the container runtime says goes where the container's words go.
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

/// Waits until the container's process is a child of this one. A container runtime may have ended
/// while one of its own children, whose child the process is, is about to; and the process asks the
/// kernel to be ended with its parent.
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

/// The parent in a process's `stat`: field 4. The second is a name in parentheses, in which there
/// may be anything.
fn parent_in(stat: &str) -> Option<Pid> {
    let (_, fields) = stat.rsplit_once(')')?;
    Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
}

/// The file behind those that the container gets, through which the host learns that it runs.
fn started_file(files: &str) -> io::Result<File> {
    let files: i32 = files.parse().map_err(io::Error::other)?;
    let path = format!("/proc/self/fd/{}", super::FIRST_FILE + files);
    File::options().write(true).open(path)
}

/// In one piece, as the host reads it.
fn tell(mut started: File, process: Pid) -> io::Result<()> {
    started.write_all(format!("{process}\n").as_bytes())
}

/// Waits for the container's process, and has the kernel end it if the host has gone and it stays.
fn wait(process: Pid) -> io::Result<WaitIdStatus> {
    let end: OwnedFd = pidfd_open(process, PidfdFlags::empty())?;
    let input = io::stdin();
    // The end of the host's pipe is told without being asked for.
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

/// Polls, however often a signal comes.
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
        // The memory of interest was that of the container.
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
