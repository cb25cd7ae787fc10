//! The process in which a partition or a worker of a load runs, which waits for a container, or
//! which is the first one of a Linux guest.
//!
//! This program is separate from `quietcore`, so that locked memory, real-time priority and the
//! effects of a load on its address space never touch the tool that a person uses. It is never
//! called by hand.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let role = arguments.next();
    // The load comes first and at once: the load `fork` executes this program again and again.
    match role.as_ref().and_then(|role| role.to_str()) {
        Some("load") => quietcore_load::worker::main(arguments),
        Some("container") => quietcore_backend::container::shim(arguments),
        Some("guest") => quietcore_backend::linux::inside::main(),
        Some("partition") => quietcore_backend::process::serve(arguments),
        _ => {
            eprintln!("quietcore-runtime is started by quietcore; see `quietcore --help`");
            ExitCode::from(2)
        }
    }
}
