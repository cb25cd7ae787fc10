//! The command `quietcore`.
//!
//! ```text
//! arguments (parsing only) ─► command::NAME::run ─► Status ─► exit status
//! ```
//!
//! Results go to standard output, progress and remarks to standard error. Exit status 0: passed or
//! done; 1: failed or not proven; 2: could not be done.

#![forbid(unsafe_code)]

mod arguments;
mod command;
mod completion;
mod files;
mod finish;
mod machine;
mod programs;
mod progress;
mod runs;
mod status;
mod table;
mod terminal;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;

fn main() -> ExitCode {
    completion::answer();
    command::campaign::child::end_with_campaign();
    // A file beyond the limit of this user (`ulimit -f`) is an error like others, and told. Without
    // a handler the kernel ends the program instead. Nobody looks at the flag.
    let told = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    if let Err(error) = told {
        crate::terminal::say(format_args!(
            "remark: a file that grows too large ends this: {error}"
        ));
    }
    let arguments = arguments::Arguments::parse();
    match command::run(arguments.at.as_deref(), arguments.command) {
        Ok(status) => status.into(),
        Err(failure) => {
            crate::terminal::say(failure);
            ExitCode::from(2)
        }
    }
}
