//! Side by side with peers.
//!
//! Every performance claim of Quietcore is measured here as a ratio against a named peer, in one
//! run that alternates between the two: `A B A B …`, so that a machine whose speed drifts drifts
//! for both. The ratio of each pair is one observation; printed are its median and the 95 %
//! confidence interval of that median (order statistics, no assumption about the distribution).
//!
//! ```text
//! cargo run --release -p quietcore-bench -- record
//! cargo run --release -p quietcore-bench -- latency
//! cargo run --release -p quietcore-bench -- report
//! ```

#![forbid(unsafe_code)]

mod latency;
mod pairs;
mod record;
mod report;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Side by side with peers
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Recording one value, beside the `hdrhistogram` crate's `record`
    Record(record::Request),
    /// Release latency in modes `sleep` and `early-wake`, beside `cyclictest`
    Latency(latency::Request),
    /// Summarising and reporting 24 records of 2.88 million cycles
    Report(report::Request),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().bench {
        Bench::Record(request) => record::run(&request),
        Bench::Latency(request) => latency::run(&request),
        Bench::Report(request) => report::run(&request),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("bench: {problem}");
            ExitCode::from(2)
        }
    }
}
