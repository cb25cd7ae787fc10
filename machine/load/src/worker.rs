//! The side of the worker: what the helper program runs in place of its own main.
//!
//! ```text
//! main thread                       work thread
//!   parse the arguments
//!   set up and read back
//!   start the work thread ────────▶ the loop of the kind, counting on the board
//!   wait for standard input         an error: tell it and end the process, status 1
//!   end the process, status 0
//! ```
//!
//! The process ends as soon as anything happens on standard input. A pipe reaches its end when the
//! last process that can write to it is gone, so the death of the parent is noticed however it came
//! about. Two more lines hold where that one can't:
//!
//! - A stopped worker reads nothing. The kernel kills it on the death of its parent, if the
//!   parent's main thread started it: the signal comes with the death of the starting *thread*, so
//!   that other threads must do without.
//! - The pipe's other end may have leaked into a third process. The worker looks every second
//!   whether it still has the same parent.

mod arguments;
mod conditions;
mod error;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{self, ExitCode};
use std::thread;

use quietcore_units::Causes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::board::{Beat, Board};
use crate::work::{self, Settings};

use error::BeginError;

pub use arguments::ArgumentError;
pub(crate) use arguments::{EXIT_AT_ONCE, WorkerArguments};

/// The status of a worker whose work failed.
const STATUS_FAILED: u8 = 1;
/// The status of a worker that could not begin.
const STATUS_NOT_STARTED: u8 = 2;

/// Time between two looks at who the parent is.
const PARENT_CHECK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Runs a worker. `arguments` are those behind the word `load`.
///
/// A helper program calls it before anything else and returns what it returns, because the `fork`
/// load executes the same program again and again. Once the work has begun it doesn't return: the
/// process ends with status 0 when standard input ends, and with 1 when the work fails. Status 2
/// says that the worker could not begin, with the reason on standard error.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match WorkerArguments::parse(arguments) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => return ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("load: {error}");
            return ExitCode::from(STATUS_NOT_STARTED);
        }
    };
    if let Err(error) = begin(&arguments) {
        eprintln!("load `{}`: {error}", arguments.kind);
        return ExitCode::from(STATUS_NOT_STARTED);
    }
    wait_for_the_end();
    process::exit(0)
}

/// Sets the worker up and starts the work thread, which inherits all of it.
fn begin(arguments: &WorkerArguments) -> Result<(), BeginError> {
    let descriptor = arguments.board_descriptor;
    let board = Board::open(descriptor).map_err(|cause| BeginError::Board { descriptor, cause })?;
    // Needed until the process ends, whatever thread ends it.
    let board: &'static Board = Box::leak(Box::new(board));
    let slot = board.slot(arguments.slot).ok_or(BeginError::NoSlot(arguments.slot))?;
    slot.prepare();
    if arguments.die_with_parent {
        // If the parent is dead already, standard input is at its end.
        set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(BeginError::refused("ask for the parent's death"))?;
    }
    conditions::set_up(arguments.cpus.as_ref(), arguments.entrance.as_deref())?;
    let kind = arguments.kind;
    let settings = Settings { size: arguments.size, folder: arguments.folder.clone() };
    let work = move || {
        let mut beat = Beat::new(slot);
        let outcome = catch_unwind(AssertUnwindSafe(|| work::run(kind, &settings, &mut beat)));
        match outcome {
            Ok(Ok(never)) => match never {},
            Ok(Err(error)) => eprintln!("load `{kind}`: {}", Causes(&error)),
            // The panic has told its reason already.
            Err(_) => {}
        }
        process::exit(i32::from(STATUS_FAILED))
    };
    thread::Builder::new()
        .name(format!("load-{kind}"))
        .spawn(work)
        .map_err(BeginError::refused("start the work thread"))?;
    Ok(())
}

/// Returns when standard input ends or says something, or when the parent is gone.
fn wait_for_the_end() {
    let parent = getppid();
    let stdin = std::io::stdin();
    loop {
        let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut watched, Some(&PARENT_CHECK)) {
            Ok(0) if getppid() == parent => {}
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}
