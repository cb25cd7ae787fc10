//! Which system calls a sealed thread may make, and why.
#![doc = include_str!("calls.md")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::fd::{AsRawFd, RawFd};

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule,
};

use crate::machine::lines::Interrupt;
use crate::machine::request;
use crate::processor::Processor;

/// The request by which an interrupt is raised, and what it is for.
const RAISES: (&str, &str) = ("KVM_SIGNAL_MSI", "calls the guest's attention");

/// The result of a system call that is not on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The process is ended, with the signal `SIGSYS`: somebody has broken out.
    End,
    /// The call fails with `EPERM`; for tests.
    Refuse,
}

/// One line of the list.
#[derive(Clone, Debug)]
struct Call {
    number: i64,
    name: &'static str,
    /// Conditions on its arguments, in words; empty if they may be anything.
    with: String,
    conditions: Vec<SeccompCondition>,
    why: &'static str,
}

/// A list of system calls.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
}

impl Calls {
    /// Lists the calls that every thread of this process needs: to wait, to allocate, to end, and
    /// to use what is open. None of them opens a file, starts a program, or makes memory
    /// executable.
    pub fn of_any_thread() -> Self {
        let mut calls = Self::default();
        for (number, name, why) in [
            (libc::SYS_futex, "futex", "waits for other threads"),
            (libc::SYS_sched_yield, "sched_yield", "waits for other threads"),
            (libc::SYS_restart_syscall, "restart_syscall", "goes on waiting after a signal"),
            (libc::SYS_clock_gettime, "clock_gettime", "reads a clock that the vDSO does not"),
            (libc::SYS_clock_nanosleep, "clock_nanosleep", "sleeps"),
            (libc::SYS_rt_sigreturn, "rt_sigreturn", "returns from the kick's handler"),
            (libc::SYS_rt_sigprocmask, "rt_sigprocmask", "holds signals back while it aborts"),
            (libc::SYS_sigaltstack, "sigaltstack", "gives its signal stack back at its end"),
            (libc::SYS_munmap, "munmap", "gives memory back"),
            (libc::SYS_mremap, "mremap", "makes an allocation longer"),
            (libc::SYS_brk, "brk", "allocates"),
            (libc::SYS_madvise, "madvise", "gives the pages of its stack back at its end"),
            (libc::SYS_read, "read", "takes from what is open: events, pipes, frames"),
            (libc::SYS_write, "write", "gives to what is open: events, the console, frames"),
            (libc::SYS_close, "close", "closes"),
            (libc::SYS_getpid, "getpid", "names itself, to abort"),
            (libc::SYS_gettid, "gettid", "names itself, to abort"),
            (libc::SYS_getrandom, "getrandom", "seeds a table of the standard library"),
            (libc::SYS_pause, "pause", "waits while another thread ends the process"),
            (libc::SYS_exit, "exit", "ends the thread"),
            (libc::SYS_exit_group, "exit_group", "ends the process"),
        ] {
            calls = calls.allow(number, name, why);
        }
        let own = u64::from(std::process::id());
        calls
            .not_executable(libc::SYS_mmap, "mmap", "allocates")
            .not_executable(libc::SYS_mprotect, "mprotect", "allocates")
            .when(
                libc::SYS_fcntl,
                "fcntl",
                ("F_GETFD", 1, SeccompCmpOp::Eq, libc::F_GETFD as u64),
                "looks whether a file is open before it closes it, in debug builds",
            )
            .when(
                libc::SYS_tgkill,
                "tgkill",
                ("of this process", 0, SeccompCmpOp::Eq, own),
                "kicks a processor's thread, or aborts",
            )
    }

    /// Lists the calls that a processor's thread needs beyond that.
    pub fn of_processor(processor: &Processor) -> Self {
        let file = processor.as_raw_fd();
        Self::of_any_thread().request(file, request::RUN, "KVM_RUN", "runs the guest").request(
            file,
            request::GET_REGISTERS,
            "KVM_GET_REGS",
            "tells where it crashed",
        )
    }

    /// Adds the calls that a thread needs beyond [`Calls::of_processor`] to reset its processor.
    #[must_use]
    pub fn and_resets(mut self, processor: &Processor) -> Self {
        for (request, name) in request::RESETS {
            self = self.request(processor.as_raw_fd(), request, name, "resets the processor");
        }
        for (request, name) in request::SHARED_RESETS {
            self = self.request(processor.machine_file(), request, name, "resets the machine");
        }
        self
    }

    /// Lists the calls that a thread needs beyond [`Calls::of_any_thread`] to wait for events and
    /// serve them.
    pub fn of_waiting_thread() -> Self {
        let mut calls = Self::of_any_thread();
        for (number, name, why) in [
            (libc::SYS_poll, "poll", "waits for what is open"),
            (libc::SYS_ppoll, "ppoll", "waits for what is open"),
            (libc::SYS_pread64, "pread64", "samples what KVM counts"),
            (libc::SYS_recvfrom, "recvfrom", "takes frames from a socket that is open"),
            (libc::SYS_sendto, "sendto", "gives frames to a socket that is open"),
        ] {
            calls = calls.allow(number, name, why);
        }
        calls
    }

    /// Adds the calls that a thread needs beyond its list to raise this interrupt.
    #[must_use]
    pub fn and_raises(self, interrupt: &Interrupt) -> Self {
        let (name, why) = RAISES;
        self.request(interrupt.as_raw_fd(), request::SIGNAL_MESSAGE, name, why)
    }

    /// With one more call, whatever its arguments.
    #[must_use]
    pub fn allow(mut self, number: i64, name: &'static str, why: &'static str) -> Self {
        let with = String::new();
        self.calls.push(Call { number, name, with, conditions: Vec::new(), why });
        self
    }

    /// With one more request (`ioctl`) to one open file.
    #[must_use]
    pub fn allow_request(
        self,
        file: &impl AsRawFd,
        request: u64,
        name: &'static str,
        why: &'static str,
    ) -> Self {
        self.request(file.as_raw_fd(), request, name, why)
    }

    fn request(mut self, file: RawFd, number: u64, name: &str, why: &'static str) -> Self {
        let file = file.unsigned_abs();
        self.calls.push(Call {
            number: libc::SYS_ioctl,
            name: "ioctl",
            with: format!("{name} to one file"),
            conditions: vec![
                condition(0, SeccompCmpOp::Eq, u64::from(file)),
                condition(1, SeccompCmpOp::Eq, number),
            ],
            why,
        });
        self
    }

    fn when(
        mut self,
        number: i64,
        name: &'static str,
        (with, argument, operator, value): (&str, u8, SeccompCmpOp, u64),
        why: &'static str,
    ) -> Self {
        let conditions = vec![condition(argument, operator, value)];
        self.calls.push(Call { number, name, with: with.to_owned(), conditions, why });
        self
    }

    fn not_executable(self, number: i64, name: &'static str, why: &'static str) -> Self {
        let executable = libc::PROT_EXEC.unsigned_abs().into();
        let operator = SeccompCmpOp::MaskedEq(executable);
        self.when(number, name, ("not executable", 2, operator, 0), why)
    }

    /// The filter that the kernel runs.
    pub(crate) fn filter(&self, violation: Violation) -> Result<BpfProgram, BackendError> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
        for call in &self.calls {
            let rule = rules.entry(call.number).or_default();
            if !call.conditions.is_empty() {
                rule.push(SeccompRule::new(call.conditions.clone())?);
            }
        }
        let action = match violation {
            Violation::End => SeccompAction::KillProcess,
            Violation::Refuse => SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        };
        let architecture = std::env::consts::ARCH.try_into()?;
        SeccompFilter::new(rules, action, SeccompAction::Allow, architecture)?.try_into()
    }

    /// The list as a table of Markdown.
    pub fn table(&self) -> String {
        let mut table = String::from("| call | with | why |\n|---|---|---|\n");
        for Call { name, with, why, .. } in &self.calls {
            let _ = writeln!(table, "| `{name}` | {with} | {why} |");
        }
        table
    }
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> SeccompCondition {
    // Numbers of files and processes, protections and requests are 32 bits; what the kernel does
    // not look at of the argument, the filter does not either.
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        .expect("a call has six arguments, and these are among them")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the documented table is the list.
    /// Method: both are compared; what differs is printed whole, to be copied.
    #[test]
    fn the_documented_table_is_the_list() {
        let any = Calls::of_any_thread();
        let base = any.calls.len();
        let beyond = |calls: &Calls| Calls { calls: calls.calls[base..].to_vec() }.table();
        let processor = any.clone().request(3, request::RUN, "KVM_RUN", "runs the guest").request(
            3,
            request::GET_REGISTERS,
            "KVM_GET_REGS",
            "tells where it crashed",
        );
        let (name, why) = RAISES;
        let raising = any.clone().request(3, request::SIGNAL_MESSAGE, name, why);
        let table = format!(
            "\nEvery thread:\n\n{}\nA processor's thread, beyond that:\n\n{}\nA thread that serves \
             events, beyond what every thread may:\n\n{}\nOne that raises an interrupt of the \
             guest, beyond that:\n\n{}",
            any.table(),
            beyond(&processor),
            beyond(&Calls::of_waiting_thread()),
            beyond(&raising),
        );
        assert!(table == include_str!("calls.md"), "calls.md is to be:\n{table}");
    }

    #[test]
    fn a_call_is_on_a_list_once() {
        let calls = Calls::of_waiting_thread();
        let mut names: Vec<_> = calls.calls.iter().map(|call| call.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn every_list_makes_a_filter() {
        for calls in [Calls::of_any_thread(), Calls::of_waiting_thread()] {
            assert!(calls.filter(Violation::End).is_ok_and(|filter| filter.len() > 50));
        }
    }
}
