//! A command in a process group of its own, with a limit to its time.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// The time that a command has to end once it was asked to.
const END_LIMIT: Duration = Duration::from_secs(30);
/// Ticks of the kernel's accounts in a second (`USER_HZ`), the same on all of Linux's architectures
/// that Rust knows.
const TICKS_PER_SECOND: u64 = 100;

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// With this status; 128 and the signal if one has ended it, as in a shell.
    Exited(i32),
    /// Ended when its time was over.
    AtLimit,
}

/// The end of a command, with its processor time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) status: Status,
    /// Of a processor, by the command and those of its descendants that were waited for.
    pub(crate) processor: Duration,
}

/// The commands that run, by their process groups.
#[derive(Debug, Default)]
pub(crate) struct Running(Mutex<Vec<Pid>>);

impl Running {
    /// Runs a command to its end, with its output in a file.
    ///
    /// # Errors
    /// The file can't be written, or the command can't be started or watched.
    pub(crate) fn run(
        &self,
        command: &mut Command,
        log: &Path,
        limit: Duration,
    ) -> io::Result<Ended> {
        let output = File::create(log)?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        command.process_group(0);
        // Not between both may all be asked to end.
        let (mut child, group) = self.change(|groups| -> io::Result<_> {
            let child = command.spawn()?;
            let group = Pid::from_child(&child);
            groups.push(group);
            Ok((child, group))
        })?;
        let ended = watch(&mut child, group, limit);
        if ended.is_err() {
            // One that can't be watched must not run on.
            let _gone = kill_process_group(group, Signal::KILL);
        }
        self.change(|groups| groups.retain(|other| *other != group));
        ended
    }

    /// Asks all commands to end, and does not wait for it.
    pub(crate) fn end_all(&self) {
        self.change(|groups| {
            for group in groups.iter() {
                // One that is gone has ended.
                let _gone = kill_process_group(*group, Signal::TERM);
            }
        });
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<Pid>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Waits for a command, and ends it when its time is over.
fn watch(child: &mut Child, group: Pid, limit: Duration) -> io::Result<Ended> {
    let process = pidfd_open(group, PidfdFlags::empty())?;
    let ended_within = |limit: Duration| -> io::Result<bool> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
            match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&left)) {
                Ok(ready) => return Ok(ready > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    };
    let in_time = ended_within(limit)?;
    if !in_time {
        for signal in [Signal::TERM, Signal::KILL] {
            // Its group is gone when the last process of it has ended.
            let _gone = kill_process_group(group, signal);
            if ended_within(END_LIMIT)? {
                break;
            }
        }
    }
    // The accounts of a process that ended are there until it is waited for.
    let processor = processor_time(group);
    let status = child.wait()?;
    let status = if in_time {
        let signal = || status.signal().map_or(128, |signal| 128 + signal);
        Status::Exited(status.code().unwrap_or_else(signal))
    } else {
        Status::AtLimit
    };
    Ok(Ended { status, processor })
}

/// Returns the processor time of a process and of those of its descendants that were waited for;
/// zero if it can't be read.
fn processor_time(process: Pid) -> Duration {
    let text = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_pid()));
    let ticks = text.ok().and_then(|text| ticks_in(&text)).unwrap_or(0);
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

/// The sum of `utime`, `stime`, `cutime` and `cstime`, columns 14 to 17 of proc_pid_stat(5). The
/// second one, the name, may have blanks and parentheses.
fn ticks_in(stat: &str) -> Option<u64> {
    let (_, columns) = stat.rsplit_once(") ")?;
    let columns: Vec<&str> = columns.split(' ').collect();
    columns.get(11..15)?.iter().map(|column| column.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(command: &str, limit: Duration) -> (Ended, String) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("log");
        let mut shell = Command::new("sh");
        shell.args(["-c", command]);
        let ended = Running::default().run(&mut shell, &log, limit).expect("there is a shell");
        (ended, fs::read_to_string(log).expect("what it has printed"))
    }

    #[test]
    fn a_command_leaves_its_status_and_all_that_it_has_printed() {
        let (ended, log) = run("echo one; echo two >&2; exit 3", Duration::from_secs(60));
        assert_eq!((ended.status, &*log), (Status::Exited(3), "one\ntwo\n"));
        assert_eq!(run("kill -KILL $$", Duration::from_secs(60)).0.status, Status::Exited(137));
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_its_processes() {
        let (ended, log) = run("sleep 1000 & echo $!; wait", Duration::from_millis(200));
        assert_eq!(ended.status, Status::AtLimit);
        let process = log.trim().parse().ok().and_then(Pid::from_raw).expect("its process");
        let waiting = Instant::now();
        while rustix::process::test_kill_process(process).is_ok() {
            // One that ended is there until the machine's first process has waited for it.
            let state = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_pid()));
            if state.is_ok_and(|state| state.contains(") Z ")) {
                break;
            }
            assert!(waiting.elapsed() < Duration::from_secs(60), "the process of it runs on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn the_time_of_descendants_is_counted() {
        let work = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done";
        let (ended, _) = run(&format!("sh -c '{work}'; true"), Duration::from_secs(600));
        assert!(ended.processor >= Duration::from_millis(10), "{ended:?}");
        assert_eq!(ticks_in("7 (a) b) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0"), Some(50));
        assert_eq!(ticks_in("7 (a) Z 1 2"), None);
    }
}
