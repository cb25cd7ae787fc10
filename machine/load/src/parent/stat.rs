//! The kernel's state of a worker in `/proc/PID/stat`.

use std::fs;

/// The parts of a process's line that matter for a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    /// `R`, `S`, `D`, `T` and so on.
    pub(crate) state: char,
    /// CPU time of all its threads and of the children it waited for, in clock ticks.
    pub(crate) cpu_ticks: u64,
    /// −20 to 19.
    pub(crate) nice: i32,
    /// The scheduling policy; 0 is `SCHED_OTHER`.
    pub(crate) policy: u32,
}

impl ProcessStat {
    /// Reads the line of a process, `None` when it is gone.
    ///
    /// The number means our child as long as we haven't waited for it: the kernel can't give it
    /// to another process before.
    pub(crate) fn read(process_id: u32) -> Option<Self> {
        parse(&fs::read_to_string(format!("/proc/{process_id}/stat")).ok()?)
    }

    /// Returns `true` if a signal or a debugger has stopped it.
    pub(crate) fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }
}

/// Fields are numbered as in proc_pid_stat(5). The second is the program's name in parentheses and
/// may itself contain spaces and parentheses, so counting begins behind the last one.
fn parse(line: &str) -> Option<ProcessStat> {
    let (_, behind_name) = line.rsplit_once(')')?;
    let fields: Vec<&str> = behind_name.split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).copied();
    let ticks = |number: usize| field(number)?.parse::<u64>().ok();
    let mut cpu_ticks = 0_u64;
    for number in [14, 15, 16, 17] {
        cpu_ticks = cpu_ticks.checked_add(ticks(number)?)?;
    }
    Some(ProcessStat {
        state: field(3)?.chars().next()?,
        cpu_ticks,
        nice: field(19)?.parse().ok()?,
        policy: field(41)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = "87 (a) R (b) S 1 87 87 0 -1 4194560 1 2 3 4 100 20 3 1 20 -5 1 0 7 8 9 \
                        18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 50 1 0 0 0 0 0 0 0 0 0 \
                        0 0";

    #[test]
    fn a_name_with_parentheses_moves_no_field() {
        let expected = ProcessStat { state: 'S', cpu_ticks: 124, nice: -5, policy: 1 };
        assert_eq!(parse(LINE), Some(expected));
    }

    #[test]
    fn a_cut_line_is_refused() {
        assert_eq!(parse(""), None);
        assert_eq!(parse("87 (a) S 1 87"), None);
    }

    #[test]
    fn this_process_runs_and_is_not_stopped() {
        let stat = ProcessStat::read(std::process::id()).unwrap();
        assert!(!stat.is_stopped());
        assert!((-20..20).contains(&stat.nice));
    }

    proptest! {
        #[test]
        fn reading_never_panics(text in ".{0,80}", length in 0..LINE.len()) {
            let _ = parse(&text);
            let _ = parse(&LINE[..length]);
        }
    }
}
