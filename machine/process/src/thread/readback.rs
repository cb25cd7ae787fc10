//! A thread's settings as the kernel reports them, seen from outside.
//!
//! Applied is not effective: the host reads what is in force, at the start of a run and at its end.

use std::fs;
use std::io;
use std::path::Path;

use quietcore_units::{ByteSize, SchedulingPolicy, ThreadSettings};

/// Field numbers of `/proc/PID/stat`, counted after the command (proc(5): 40 and 41).
const PRIORITY_FIELD: usize = 40 - 3;
const POLICY_FIELD: usize = 41 - 3;

/// Reads the settings in force for thread `thread` of process `process`.
///
/// # Errors
/// When the thread has ended or the kernel's text isn't as documented.
pub fn read(process: u32, thread: u32) -> io::Result<ThreadSettings> {
    let folder = Path::new("/proc").join(format!("{process}/task/{thread}"));
    let stat = fs::read_to_string(folder.join("stat"))?;
    let status = fs::read_to_string(folder.join("status"))?;
    parse(&stat, &status).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, "the kernel's text is not as documented")
    })
}

fn parse(stat: &str, status: &str) -> Option<ThreadSettings> {
    // The command is in parentheses and may hold anything, parentheses too.
    let (_, after_command) = stat.rsplit_once(')')?;
    let field = |index: usize| after_command.split_whitespace().nth(index)?.parse().ok();
    let line = |name: &str| {
        let found = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        found.map(str::trim)
    };
    let locked_kib: u64 = line("VmLck")?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(ThreadSettings {
        policy: SchedulingPolicy::from_kernel(field(POLICY_FIELD)?, field(PRIORITY_FIELD)?),
        affinity: line("Cpus_allowed_list")?.parse().ok()?,
        locked: ByteSize::new(locked_kib << 10),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "19150 (a (b) c) R 19145 19145 1470 0 -1 4194560 179 0 1 0 0 0 0 0 -91 0 1 \
                        0 209903 3133440 416 18446744073709551615 9 9 9 0 0 0 0 0 0 0 0 0 17 1 90 \
                        1 0 0 0 9 9 9 0\n";
    const STATUS: &str = "Name:\ta\nVmLck:\t    5120 kB\nCpus_allowed_list:\t1\n";

    #[test]
    fn the_kernels_text_is_understood() {
        let state = parse(STAT, STATUS).unwrap();
        assert_eq!(state.to_string(), "SCHED_FIFO 90 on CPU 1, 5.00 MiB locked");
    }

    #[test]
    fn text_that_is_cut_off_is_not_taken_for_a_state() {
        assert_eq!(parse(&STAT[..60], STATUS), None);
        assert_eq!(parse(STAT, "VmLck:\t 1 MB\n"), None);
        assert_eq!(parse("", ""), None);
    }

    #[test]
    fn the_own_thread_can_be_read() {
        let own = std::process::id();
        let state = read(own, own).unwrap();
        assert!(!state.affinity.is_empty());
        assert!(read(own, u32::MAX).is_err());
    }
}
