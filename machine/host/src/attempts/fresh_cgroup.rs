//! Does SCHED_FIFO work in a cgroup that was just made, as a container's is?
//!
//! With RT group scheduling (`CONFIG_RT_GROUP_SCHED`) a new group under cgroup v1 has a real-time
//! budget of 0 µs, and every request for SCHED_FIFO in it fails with "operation not permitted",
//! root's as well. A machine can therefore pass every other check and still refuse a container.
//!
//! ```text
//! mkdir GROUP ── fork ── child: write 0 to cgroup.procs, set SCHED_FIFO, exit with the error
//!            └── under v1, when refused: write cpu.rt_runtime_us and try with a second child
//! rmdir GROUP                                    always, also when something before failed
//! ```
//!
//! A process that is killed in between leaves its group behind. The group's name tells which
//! process made it, and the next attempt removes the groups of processes that are gone.
//
// UNSAFETY: only a process of its own may enter the group, so the caller is forked. Between fork
// and exit the child makes system calls and nothing else.

#![expect(unsafe_code, reason = "the attempt runs in a forked process")]

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Attempt, scheduling};
use crate::process::ProcessName;
use crate::reading::Reading;
use crate::source::Source;

/// The child does three system calls; when it has not ended after this, it is killed.
const CHILD_LIMIT: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(1);
const REMOVE_TRIES: u32 = 50;
/// A budget that any parent which has one can give: 1 % of the usual period of 1 s.
const BUDGET_US: &str = "10000";
/// Marks an exit status as the error of entering the group; error numbers are below it.
const ENTERING: i32 = 0x80;

/// The interface of a cgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CgroupVersion {
    /// Version 1, a hierarchy for each controller.
    V1,
    /// Version 2, the unified hierarchy.
    V2,
}

/// A cgroup below which a new one is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CgroupPlace {
    /// The folder of the group that this process is in.
    pub folder: PathBuf,
    /// Version of its interface.
    pub version: CgroupVersion,
}

/// The result of an attempt in a new cgroup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreshCgroup {
    /// The folder in which it was made; absent without a place to make it.
    pub parent: Reading<String>,
    /// Version of its interface; `None` if there was no cgroup.
    pub version: Option<CgroupVersion>,
    /// SCHED_FIFO as the group was.
    pub as_made: Attempt,
    /// The real-time budget it was made with, in µs per period; absent without such a file.
    pub budget_us: Reading<i64>,
    /// SCHED_FIFO after a budget of 10 000 µs was given; tried only where `as_made` was refused.
    pub with_budget: Attempt,
    /// The folder, when it could not be removed again, with the reason.
    pub left_behind: Option<String>,
}

impl FreshCgroup {
    /// No attempt, for this reason.
    pub fn not_tried(reason: &str) -> Self {
        Self {
            parent: Reading::Absent,
            version: None,
            as_made: Attempt::NotTried(reason.to_owned()),
            budget_us: Reading::Absent,
            with_budget: Attempt::NotTried(reason.to_owned()),
            left_behind: None,
        }
    }
}

/// The beginning of a group's name; the process, when it began, and the namespace of its number
/// follow: several containers may have the same groups, and processes of the same numbers.
const PREFIX: &str = "quietcore-doctor-";

/// Makes the group, tries, and removes it, along with those that others have left.
pub(super) fn attempt(place: &CgroupPlace) -> FreshCgroup {
    let source = Source::live();
    sweep(&place.folder, &source);
    let folder = place.folder.join(format!("{PREFIX}{}", ProcessName::own(&source)));
    let mut outcome = match fs::create_dir(&folder) {
        Ok(()) => attempt_in(&folder),
        Err(error) => FreshCgroup::not_tried(&format!(
            "{}: can't make a group: {}",
            place.folder.display(),
            crate::error_text(&error)
        )),
    };
    outcome.parent = Reading::Read(place.folder.display().to_string());
    outcome.version = Some(place.version);
    outcome.left_behind = remove(&folder)
        .err()
        .map(|error| format!("{}: {}", folder.display(), crate::error_text(&error)));
    outcome
}

/// Removes the groups of processes that are gone. Those that can't be removed are left to the next
/// attempt.
fn sweep(place: &Path, source: &Source) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.take(crate::ENTRY_LIMIT).filter_map(Result::ok) {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse().ok());
        if owner.is_some_and(|owner: ProcessName| !owner.lives(source)) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn attempt_in(folder: &Path) -> FreshCgroup {
    let budget_file = folder.join("cpu.rt_runtime_us");
    let budget_us = match fs::read_to_string(&budget_file) {
        Ok(text) => crate::source::parsed(text.trim(), "cpu.rt_runtime_us"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Reading::Absent,
        Err(error) => Reading::Unreadable(crate::error_text(&error)),
    };
    let as_made = fifo_in(folder);
    let with_budget = match &as_made {
        Attempt::Refused(_) if !budget_us.is_absent() => match fs::write(&budget_file, BUDGET_US) {
            Ok(()) => fifo_in(folder),
            Err(error) => Attempt::Refused(format!(
                "cpu.rt_runtime_us can't be set, the parent has no budget left: {}",
                crate::error_text(&error)
            )),
        },
        Attempt::Refused(_) => Attempt::NotTried("the group has no real-time budget".to_owned()),
        _ => Attempt::NotTried("not needed".to_owned()),
    };
    FreshCgroup {
        parent: Reading::Absent,
        version: None,
        as_made,
        budget_us,
        with_budget,
        left_behind: None,
    }
}

/// Tries SCHED_FIFO in a child process inside the group.
fn fifo_in(folder: &Path) -> Attempt {
    let members = match OpenOptions::new().write(true).open(folder.join("cgroup.procs")) {
        Ok(members) => members,
        Err(error) => {
            return Attempt::NotTried(format!("cgroup.procs: {}", crate::error_text(&error)));
        }
    };
    // SAFETY: the child calls nothing but system calls before it exits, so that no lock which
    // another thread held at this moment can stop it.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Attempt::NotTried(format!(
            "no child process: {}",
            crate::error_text(&io::Error::last_os_error())
        )),
        0 => enter_and_try(members.as_raw_fd()),
        child => judge(wait(child)),
    }
}

/// The child: enters the group, tries, and tells the outcome by its exit status.
fn enter_and_try(members: libc::c_int) -> ! {
    // SAFETY: one byte of a constant; `0` stands for the writing process.
    let written = unsafe { libc::write(members, c"0".as_ptr().cast(), 1) };
    let status = if written == 1 {
        scheduling::set_fifo(1).map_or_else(|error| error.raw_os_error().unwrap_or(1), |()| 0)
    } else {
        ENTERING | io::Error::last_os_error().raw_os_error().unwrap_or(1)
    };
    // SAFETY: ends this process at once, without the handlers that the parent registered.
    unsafe { libc::_exit(status) }
}

/// Waits for the child and returns its exit status.
fn wait(child: libc::pid_t) -> Result<i32, String> {
    let started = Instant::now();
    let mut killed = false;
    loop {
        let mut status = 0;
        // SAFETY: a child of ours that nobody else waits for, and a place for its status.
        let ended = unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) };
        if ended == child && !killed && libc::WIFEXITED(status) {
            return Ok(libc::WEXITSTATUS(status));
        }
        if ended != 0 {
            return Err("the trying process did not end by itself within 2 s".to_owned());
        }
        if started.elapsed() > 2 * CHILD_LIMIT {
            return Err("the trying process can't be killed".to_owned());
        }
        if started.elapsed() > CHILD_LIMIT && !killed {
            // SAFETY: not waited for yet, so the number still means our child.
            unsafe { libc::kill(child, libc::SIGKILL) };
            killed = true;
        }
        thread::sleep(POLL);
    }
}

fn judge(status: Result<i32, String>) -> Attempt {
    let text = |number| crate::error_text(&io::Error::from_raw_os_error(number));
    match status {
        Ok(0) => Attempt::Succeeded,
        Ok(number) if number & ENTERING != 0 => {
            Attempt::NotTried(format!("the group can't be entered: {}", text(number & !ENTERING)))
        }
        Ok(number) => Attempt::Refused(text(number)),
        Err(reason) => Attempt::NotTried(reason),
    }
}

/// Removes the group. A member that has just ended may still be counted for a moment.
fn remove(folder: &Path) -> io::Result<()> {
    let mut tries = 0;
    loop {
        match fs::remove_dir(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if tries >= REMOVE_TRIES => return Err(error),
            Err(_) => tries += 1,
        }
        thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_status_tells_entering_from_scheduling() {
        assert_eq!(judge(Ok(0)), Attempt::Succeeded);
        assert_eq!(judge(Ok(libc::EPERM)), Attempt::Refused("operation not permitted".to_owned()));
        let entering = judge(Ok(ENTERING | libc::EACCES));
        assert!(matches!(entering, Attempt::NotTried(reason) if reason.contains("entered")));
    }

    #[test]
    fn a_folder_that_is_no_cgroup_is_not_tried_and_nothing_stays() {
        let folder = tempfile::tempdir().unwrap();
        let place = CgroupPlace { folder: folder.path().to_owned(), version: CgroupVersion::V2 };
        let outcome = attempt(&place);
        assert!(matches!(outcome.as_made, Attempt::NotTried(_)), "{outcome:?}");
        assert_eq!(outcome.left_behind, None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_place_that_does_not_exist_is_not_tried() {
        let place = CgroupPlace {
            folder: PathBuf::from("/proc/no-such-folder"),
            version: CgroupVersion::V1,
        };
        assert!(matches!(attempt(&place).as_made, Attempt::NotTried(_)));
    }

    /// Goal: groups of calls that were killed go with the next call, and those of calls that run
    /// stay.
    #[test]
    fn groups_of_processes_that_are_gone_are_removed_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let own = ProcessName::own(&Source::live());
        let alive = format!("{PREFIX}{own}");
        let used_again = format!("{PREFIX}{}", ProcessName { began: own.began + 1, ..own });
        let of_earlier_version = format!("{PREFIX}4194999");
        let foreign = "system.slice".to_owned();
        for name in [&alive, &used_again, &of_earlier_version, &foreign] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        sweep(folder.path(), &Source::live());
        let mut left: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [alive, foreign]);
    }

    /// Goal: the group of a process in a container stays, whatever process has its number here.
    /// Method: a machine on which process 7 of this namespace has ended, and process 70 is the 7 of
    /// a container.
    #[test]
    fn groups_of_processes_with_numbers_of_their_own_stay() {
        const FIRST: u64 = 4_026_531_836;
        let (folder, groups) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let put_process = |process: &str, namespace: u64, numbers: &str| {
            let own = folder.path().join("proc").join(process);
            fs::create_dir_all(own.join("ns")).unwrap();
            let link = format!("pid:[{namespace}]");
            std::os::unix::fs::symlink(link, own.join("ns/pid")).unwrap();
            let zeros = "0 ".repeat(12);
            fs::write(own.join("stat"), format!("70 (it) S 1 0 0 0 -1 64 {zeros} 500 0 0\n"))
                .unwrap();
            fs::write(own.join("status"), format!("Name:\tit\nNSpid:\t{numbers}\n")).unwrap();
        };
        put_process("self", FIRST, "1");
        put_process("70", FIRST + 1, "70\t7");
        let name = |process, namespace| {
            let own = ProcessName { process, began: 500, namespace: Some(namespace) };
            format!("{PREFIX}{own}")
        };
        let (alive, ended) = (name(7, FIRST + 1), name(8, FIRST + 1));
        for name in [&alive, &ended, &name(7, FIRST)] {
            fs::create_dir(groups.path().join(name)).unwrap();
        }
        sweep(groups.path(), &Source::below(folder.path()));
        let left: Vec<_> = fs::read_dir(groups.path()).unwrap().flatten().collect();
        let left: Vec<_> = left.iter().map(fs::DirEntry::file_name).collect();
        assert_eq!(left, [std::ffi::OsString::from(&alive)]);
    }
}
