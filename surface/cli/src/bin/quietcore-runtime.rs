//! The process in which a partition or a worker of a load runs.
//!
//! It is a program apart from `quietcore`, so that locked memory, real-time priority and what a load
//! does to its address space never touch the tool that a person uses. Nobody calls it by hand.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("partition") => quietcore_backend::process::serve(),
        _ => {
            eprintln!("quietcore-runtime is started by quietcore; see `quietcore --help`");
            ExitCode::from(2)
        }
    }
}
