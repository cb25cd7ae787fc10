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

mod daemon;
mod ethercat;
mod exchange;
mod findings;
mod guest;
mod latency;
mod osek;
mod page;
mod peers;
mod report;
mod reservation;
mod scan;
mod shedding;
mod site;
mod watch;

use std::path::PathBuf;
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
    /// A trace of 16 variables in each cycle, beside none
    Trace(exchange::trace::Request),
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
    /// The daemon's start, memory, writes, subscriptions and uploads, beside `asyncua`
    Daemon(daemon::Request),
    /// The live page in a browser: when a change is seen, and how often curves are drawn
    Page(page::Request),
    /// All of them, each as it is by default
    All(All),
}

/// All comparisons, each as it is by default
#[derive(Debug, clap::Args)]
struct All {
    #[command(flatten)]
    common: Common,
    /// A source tree of FreeRTOS-Kernel, for `osek`
    #[arg(long, value_name = "DIR")]
    freertos: Option<PathBuf>,
}

/// The comparisons of `all`, in this order.
const ALL: [&str; 16] = [
    "record",
    "latency",
    "report",
    "signal",
    "queue",
    "trace",
    "ethercat",
    "watch",
    "scan",
    "shedding",
    "osek",
    "guest",
    "container",
    "controls",
    "daemon",
    "page",
];

fn main() -> ExitCode {
    let result = match Arguments::parse().bench {
        Bench::Record(request) => exchange::record::run(&request),
        Bench::Latency(request) => latency::run(&request),
        Bench::Report(request) => report::run(&request),
        Bench::Signal(request) => exchange::signal::run(&request),
        Bench::Queue(request) => exchange::queue::run(&request),
        Bench::Trace(request) => exchange::trace::run(&request),
        Bench::Ethercat(request) => ethercat::run(&request),
        Bench::Watch(request) => watch::run(&request),
        Bench::Scan(request) => scan::run(&request),
        Bench::Shedding(request) => shedding::run(&request),
        Bench::Osek(request) => osek::run(&request),
        Bench::Guest(request) => guest::run(&request),
        Bench::Container(request) => reservation::container::run(&request),
        Bench::Controls(request) => reservation::controls::run(&request),
        Bench::Daemon(request) => daemon::run(&request),
        Bench::Page(request) => page::run(&request),
        Bench::All(request) => all(&request),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("bench: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Runs every comparison. One that fails doesn't keep the others from running.
fn all(request: &All) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    if let Some(folder) = &request.common.out {
        let made = std::fs::create_dir_all(folder);
        made.map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut failed = Vec::new();
    for bench in ALL {
        eprintln!("{bench}");
        // Each in a process of its own: what one pins or opens doesn't follow it to the next.
        let mut command = std::process::Command::new(&own);
        command.arg(bench).args(request.common.of_one(bench).arguments());
        if let ("osek", Some(sources)) = (bench, &request.freertos) {
            command.arg("--freertos").arg(sources);
        }
        if !command.status().map_err(|error| error.to_string())?.success() {
            failed.push(bench);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}
