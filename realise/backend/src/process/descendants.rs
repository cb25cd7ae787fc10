//! Finds and ends everything that a partition's program has forked, wherever it has gone.
//!
//! A process that left the partition's group (`setsid`) outlives the end of the group. Whatever a
//! partition forks has the environment with which the partition's process began, unless it has
//! begun another program with an empty one. So each partition's environment bears a mark of its
//! own, by which these processes are found.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Environment variable that bears the mark.
const VARIABLE: &str = "QUIETCORE_PARTITION_LIFE";
/// Limit of passes over all processes: one that is killed may just have forked.
const LOOKS_MAX: usize = 8;
/// Pause before the next pass, where a process was just beginning a program.
const MOMENT: Duration = Duration::from_millis(10);
/// Limit of the bytes that are read of an environment.
const ENVIRONMENT_BYTES_MAX: u64 = 1 << 20;

/// The mark that all processes of a partition bear from its start to its end.
#[derive(Clone, Debug)]
pub(super) struct Mark(String);

impl Mark {
    /// Makes a mark that nobody else has.
    pub(super) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Self(format!("{}-{time}-{count}", std::process::id()))
    }

    /// Puts the mark on a process, and on everything that this forks.
    pub(super) fn put_on(&self, command: &mut Command) {
        command.env(VARIABLE, &self.0);
    }

    /// Kills all processes that bear the mark. Processes of other users can't be looked at, and
    /// none of them bears it.
    pub(super) fn end_all(&self) {
        // Some processes have no environment for as long as they run.
        let mut without = Vec::new();
        for _ in 0..LOOKS_MAX {
            let seen = self.end_those_found();
            if seen.iter().any(|(_, seen)| *seen == Seen::Ended) {
                continue;
            }
            let now = seen.into_iter().filter(|(_, seen)| *seen == Seen::Beginning);
            let now: Vec<i32> = now.map(|(number, _)| number).collect();
            if now.iter().all(|number| without.contains(number)) {
                return;
            }
            without = now;
            thread::sleep(MOMENT);
        }
    }

    fn end_those_found(&self) -> Vec<(i32, Seen)> {
        let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
        let numbers = all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter_map(|number| Some((number, self.end(number).ok()?))).collect()
    }

    /// Kills a process if it bears the mark. It is opened before it is looked at, since its number
    /// may be given to another one meanwhile.
    fn end(&self, number: i32) -> io::Result<Seen> {
        let Some(process) = Pid::from_raw(number) else { return Ok(Seen::Foreign) };
        let process = pidfd_open(process, PidfdFlags::empty())?;
        let mut environment = Vec::new();
        let file = File::open(format!("/proc/{number}/environ"))?;
        file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut environment)?;
        // Threads of the kernel and processes that have ended have no program.
        if environment.is_empty() && fs::read_link(format!("/proc/{number}/exe")).is_ok() {
            return Ok(Seen::Beginning);
        }
        let wanted = format!("{VARIABLE}={}", self.0);
        if !environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()) {
            return Ok(Seen::Foreign);
        }
        pidfd_send_signal(process, Signal::KILL)?;
        Ok(Seen::Ended)
    }
}

/// The finding on one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// It bore the mark and was killed.
    Ended,
    /// It has no environment: for a moment after a process has begun another program it has none
    /// yet, and may get one with the mark.
    Beginning,
    /// It belongs to somebody else.
    Foreign,
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn those_of_one_life_are_ended_and_no_others() {
        let (mark, other) = (Mark::new(), Mark::new());
        let start = |mark: &Mark| {
            let mut command = Command::new("sleep");
            mark.put_on(command.arg("60"));
            command.spawn().expect("`sleep` is there")
        };
        let (mut own, mut foreign) = (start(&mark), start(&other));
        mark.end_all();
        let status = own.wait().expect("it was started");
        assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
        assert!(matches!(foreign.try_wait(), Ok(None)), "that of another life runs on");
        other.end_all();
        foreign.wait().expect("it was started");
    }
}
