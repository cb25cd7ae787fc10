//! Forking and executing a program that ends at once, one after the other.
//!
//! The program is our own, called so that it does nothing. Copying and destroying address spaces
//! interrupts the other CPUs to flush their translations, which no affinity keeps away.
//!
//! There is at most one child at a time. The kernel kills it when the worker ends, and it would end
//! by itself a moment later anyway.
//!
// UNSAFETY: what happens between fork and exec must be safe in the child of a process with threads.

#![expect(
    unsafe_code,
    reason = "what happens between fork and exec must be safe in a child of threads"
)]

use std::convert::Infallible;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

use crate::board::Beat;
use crate::work::WorkError;
use crate::worker::EXIT_AT_ONCE;

/// The program that is executed: this one, also when its file was replaced or removed meanwhile.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// Failures in a row that are taken for a passing shortage of processes or memory.
const FAILURES_MAX: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

pub(super) fn run(beat: &mut Beat<'_>) -> Result<Infallible, WorkError> {
    let mut command = trivial_program();
    let mut failures = 0;
    beat.start();
    loop {
        match command.status() {
            Ok(status) if status.success() => {
                failures = 0;
                beat.add(1, 0);
            }
            outcome => {
                failures += 1;
                if failures > FAILURES_MAX {
                    return Err(WorkError::refused("fork and execute")(reason(outcome)));
                }
                thread::sleep(PAUSE);
            }
        }
    }
}

fn reason(outcome: io::Result<ExitStatus>) -> io::Error {
    match outcome {
        Ok(status) => io::Error::other(format!("the program ended with {status}")),
        Err(error) => error,
    }
}

fn trivial_program() -> Command {
    let mut command = Command::new(OWN_PROGRAM);
    command.args(["load", EXIT_AT_ONCE]);
    let worker = getpid();
    let die_with_the_worker = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The worker may have ended before the line above.
        if getppid() == Some(worker) { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
    };
    // With something to do in between, the standard library really forks; else it would borrow the
    // address space of the parent, which disturbs far less.
    //
    // SAFETY: the closure makes two system calls; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(die_with_the_worker) };
    command
}
