//! Side by side with peers.
//!
//! Every performance claim of Quietcore is measured here as a ratio against a named peer, in one
//! run that alternates between the two: `A B A B …`, so that a machine whose speed drifts drifts
//! for both. The ratio of each pair is one observation; printed are its median and the 95 %
//! confidence interval of that median (order statistics, no assumption about the distribution).
//!
//! ```text
//! cargo run --release -p quietcore-bench --features iceoryx2 -- signal
//! cargo run --release -p quietcore-bench -- all --quick
//! ```
//!
//! README.md says for each comparison what is measured how, and what stands on either side.

#![forbid(unsafe_code)]

mod cores;
mod cyclictest;
mod ethercat;
mod exchange;
mod findings;
mod guest;
mod latency;
mod osek;
mod report;
mod reservation;
mod scan;
mod shedding;
mod site;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::findings::Common;

/// Side by side with peers
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Recording one value, beside the `hdrhistogram` crate's `record`
    Record(exchange::record::Request),
    /// Release latency in modes `sleep` and `early-wake`, beside `cyclictest`
    Latency(latency::Request),
    /// Summarising and reporting 24 records of 2.88 million cycles
    Report(report::Request),
    /// Signals, beside bare cache lines and `iceoryx2`
    Signal(exchange::signal::Request),
    /// Queue throughput, beside `rtrb`
    Queue(exchange::queue::Request),
    /// The EtherCAT cycle, beside a raw echo, `ethercrab`'s own task and `pysoem`
    Ethercat(ethercat::Request),
    /// A partition with and without somebody who watches 10 000 of its variables
    Watch(watch::Request),
    /// Release latency of the servo partition, idle and loaded, beside `cyclictest`
    Scan(scan::Request),
    /// From an overrun to frozen neighbours, beside the freezer of cgroups and an event loop
    Shedding(shedding::Request),
    /// The OSEK kernel beside futexes, condition variables, `swapcontext` and FreeRTOS
    Osek(osek::Request),
    /// A partition in a guest, beside QEMU's `microvm` and a partition in a process
    Guest(guest::Request),
    /// A partition in a container, beside one in a process and `podman run`
    Container(reservation::container::Request),
    /// Changing and putting back what eight partitions want of the machine, beside bare writes
    Controls(reservation::controls::Request),
    /// `signal`, `queue`, `ethercat`, `watch`, `scan`, `shedding`, `osek`, `guest`, `container` and
    /// `controls`
    All(Common),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().bench {
        Bench::Record(request) => exchange::record::run(&request),
        Bench::Latency(request) => latency::run(&request),
        Bench::Report(request) => report::run(&request),
        Bench::Signal(request) => exchange::signal::run(&request),
        Bench::Queue(request) => exchange::queue::run(&request),
        Bench::Ethercat(request) => ethercat::run(&request),
        Bench::Watch(request) => watch::run(&request),
        Bench::Scan(request) => scan::run(&request),
        Bench::Shedding(request) => shedding::run(&request),
        Bench::Osek(request) => osek::run(&request),
        Bench::Guest(request) => guest::run(&request),
        Bench::Container(request) => reservation::container::run(&request),
        Bench::Controls(request) => reservation::controls::run(&request),
        Bench::All(common) => all(&common),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("bench: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Every comparison as it is by default. One that fails doesn't keep the others from running.
fn all(common: &Common) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut failed = Vec::new();
    for bench in [
        "signal",
        "queue",
        "ethercat",
        "watch",
        "scan",
        "shedding",
        "osek",
        "guest",
        "container",
        "controls",
    ] {
        eprintln!("{bench}");
        // Each in a process of its own: what one pins or opens doesn't follow it to the next.
        let mut command = std::process::Command::new(&own);
        command.arg(bench).args(common.arguments());
        if !command.status().map_err(|error| error.to_string())?.success() {
            failed.push(bench);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}
