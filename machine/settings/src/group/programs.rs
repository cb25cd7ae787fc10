//! Programs that are kept together on CPUs that no partition has, under version 1 of cgroups.
//!
//! Version 1 has no groups whose CPUs nobody else has, so everybody else goes into one: each thread
//! of a program in the set of all CPUs. What they start later is born there. Threads of the kernel
//! stay, as do programs that others gave a set of their own; where that has CPUs that were to be
//! free of programs, they are counted, and the count is part of the value:
//!
//! ```text
//! "everywhere"       no program was moved
//! "apart"            none is elsewhere
//! "apart, less 2"    two threads are, since they can't be moved or others put them there
//! ```

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use quietcore_units::CpuSet;
use rustix::param::clock_ticks_per_second;

use crate::setting::{SettingError, cpus};
use quietcore_host::Source;
use quietcore_host::facts::GROUP_PREFIX;
use quietcore_host::process::ThreadFacts;

pub(crate) const EVERYWHERE: &str = "everywhere";
pub(crate) const APART: &str = "apart";
/// Looks for threads that began while others were moved.
const PASSES_MAX: u32 = 100;
/// The age from which a thread counts, in seconds: the kernel starts helpers of its own in the set
/// of all CPUs, which are gone at once.
const AGE_MIN_S: u64 = 1;

/// Returns the group in which programs are.
pub(crate) fn read(source: &Source, folder: &str) -> Result<String, SettingError> {
    let group = source.place(folder);
    let all = around(&group)?;
    if !group.is_dir() || threads(&group)?.is_empty() {
        return Ok(EVERYWHERE.to_owned());
    }
    let theirs = cpus(fs::read_to_string(group.join("cpuset.cpus"))?.trim())?;
    match elsewhere(source, all, &theirs)? {
        0 => Ok(APART.to_owned()),
        count => Ok(format!("{APART}, less {count}")),
    }
}

/// Moves them. That none is left is seen by reading.
pub(crate) fn write(source: &Source, folder: &str, value: &str) -> Result<(), SettingError> {
    let group = source.place(folder);
    let all = around(&group)?;
    match value {
        APART => move_all(source, all, &group),
        EVERYWHERE if group.is_dir() => move_all(source, &group, all),
        EVERYWHERE => Ok(()),
        other => Err(SettingError::Refused(format!("programs can't be `{other}`"))),
    }
}

fn around(group: &Path) -> Result<&Path, SettingError> {
    group.parent().filter(|all| all.is_dir()).ok_or(SettingError::Gone)
}

fn move_all(source: &Source, from: &Path, to: &Path) -> Result<(), SettingError> {
    let mut entrance = OpenOptions::new().write(true).open(to.join("tasks"))?;
    for _ in 0..PASSES_MAX {
        let mut moved = 0;
        for thread in threads(from)? {
            let is_program = ThreadFacts::read(source, thread).is_some_and(|it| !it.is_of_kernel);
            // One that has ended meanwhile can't be moved, nor can some that the kernel binds.
            let mut is_moved = || entrance.write_all(thread.to_string().as_bytes()).is_ok();
            moved += u32::from(is_program && is_moved());
        }
        if moved == 0 {
            break;
        }
    }
    Ok(())
}

/// Threads of programs in sets below this one, and in itself, that have a CPU beyond these.
fn elsewhere(source: &Source, folder: &Path, within: &CpuSet) -> Result<usize, SettingError> {
    let text = fs::read_to_string(folder.join("cpuset.cpus"))?;
    let own = if text.trim().is_empty() { CpuSet::EMPTY } else { cpus(text.trim())? };
    if own.without(within).is_empty() {
        return Ok(0);
    }
    let now = now_ticks(source);
    let counts = |thread: &u32| {
        let facts = ThreadFacts::read(source, *thread);
        let is_old = |began| now.saturating_sub(began) >= AGE_MIN_S * clock_ticks_per_second();
        facts.is_some_and(|it| !it.is_of_kernel && is_old(it.began))
    };
    let mut count = threads(folder)?.iter().filter(|thread| counts(thread)).count();
    for below in folders(folder) {
        count += elsewhere(source, &below, within).or_else(|error| match error {
            // It was removed meanwhile.
            SettingError::Gone => Ok(0),
            other @ SettingError::Refused(_) => Err(other),
        })?;
    }
    Ok(count)
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let foreign =
        below.filter(|entry| !entry.file_name().to_string_lossy().starts_with(GROUP_PREFIX));
    foreign.map(|entry| entry.path()).collect()
}

fn threads(folder: &Path) -> Result<Vec<u32>, SettingError> {
    let text = fs::read_to_string(folder.join("tasks"))?;
    Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
}

fn now_ticks(source: &Source) -> u64 {
    let uptime = source.text("/proc/uptime");
    let seconds = uptime.get().and_then(|text| text.split('.').next()?.parse::<u64>().ok());
    seconds.unwrap_or(u64::MAX / clock_ticks_per_second()) * clock_ticks_per_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine on which thread 2 is the kernel's, 70 and 71 are programs, and 72 began just now.
    fn machine() -> (tempfile::TempDir, Source) {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let place = folder.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        };
        put("proc/uptime", "1000.00 1.00\n");
        for (thread, flags, began) in [(2, 0x20_8040, 0), (70, 64, 100), (71, 64, 200)] {
            let zeros = "0 ".repeat(12);
            let stat = format!("{thread} (it) S 1 0 0 0 -1 {flags} {zeros} {began} 0 0\n");
            put(&format!("proc/{thread}/stat"), &stat);
        }
        put("proc/72/stat", &format!("72 (it) S 1 0 0 0 -1 64 {} 99999 0 0\n", "0 ".repeat(12)));
        put("cs/tasks", "2\n70\n72\n");
        put("cs/cpuset.cpus", "0-3\n");
        let source = Source::below(folder.path());
        (folder, source)
    }

    #[test]
    fn programs_are_counted_where_they_have_a_cpu_they_should_not() {
        let (folder, source) = machine();
        let read = || read(&source, "/cs/quietcore-others");
        let put = |path: &str, text: &str| {
            let place = folder.path().join("cs").join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        };
        assert_eq!(read().as_deref(), Ok(EVERYWHERE));
        put("quietcore-others/tasks", "");
        put("quietcore-others/cpuset.cpus", "0,2-3\n");
        assert_eq!(read().as_deref(), Ok(EVERYWHERE));
        put("quietcore-others/tasks", "71\n");
        // Not the kernel's, and not one that began just now.
        assert_eq!(read().as_deref(), Ok("apart, less 1"));
        put("tasks", "2\n72\n");
        assert_eq!(read().as_deref(), Ok(APART));
        put("quietcore-of-press/tasks", "70\n");
        put("quietcore-of-press/cpuset.cpus", "1\n");
        assert_eq!(read().as_deref(), Ok(APART), "those of a partition");
        put("theirs/tasks", "70\n");
        put("theirs/cpuset.cpus", "2-3\n");
        assert_eq!(read().as_deref(), Ok(APART), "not on its CPU");
        put("theirs/cpuset.cpus", "1-3\n");
        assert_eq!(read().as_deref(), Ok("apart, less 1"));
    }

    #[test]
    fn a_machine_without_cpusets_and_nonsense_are_told() {
        let (_folder, source) = machine();
        assert_eq!(read(&source, "/none/quietcore-others"), Err(SettingError::Gone));
        let error = write(&source, "/cs/quietcore-others", "nowhere").unwrap_err();
        assert_eq!(error.to_string(), "programs can't be `nowhere`");
    }
}
