//! Runs the simulation of keepers: with one seed, or with many for a limited time.
//!
//! `simulate --seed N` repeats a run. `simulate --seconds S` runs seeds until the time is over, and
//! `simulate --runs R` so many of them, from a random one or from `--from N` on, on each processor
//! one at a time. It ends with status 0 where all promises held, and with 1, after naming the
//! seeds, where one did not.

use std::num::NonZero;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use quietcore_supervisor::simulation::{Ground, Outcome, Tally, run};

const USAGE: &str = "usage: simulate [--seed N | --from N] [--seconds S | --runs R]";
/// Broken runs that are reported at most; more of them say nothing new.
const BROKEN_MAX: usize = 5;

/// The end of a series of runs.
#[derive(Clone, Copy)]
enum Extent {
    /// No run begins after this time.
    Time(Duration),
    /// The number of runs.
    Runs(u64),
}

fn main() -> ExitCode {
    let mut seed = None;
    let mut first = None;
    let mut extent = Extent::Time(Duration::from_secs(10));
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse::<u64>().ok());
        match (argument.as_str(), value) {
            ("--seed", Some(value)) => seed = Some(value),
            ("--from", Some(value)) => first = Some(value),
            ("--seconds", Some(value)) => extent = Extent::Time(Duration::from_secs(value)),
            ("--runs", Some(value)) => extent = Extent::Runs(value),
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    let ground = match Ground::new() {
        Ok(ground) => Arc::new(ground),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match seed {
        Some(seed) => repeat(seed, &ground),
        None => run_many(extent, first.unwrap_or_else(by_chance), &ground),
    }
}

/// Repeats one run and prints how it ended.
fn repeat(seed: u64, ground: &Arc<Ground>) -> ExitCode {
    let outcome = run(seed, ground);
    outcome.last.iter().for_each(|line| println!("{line}"));
    println!("seed {seed}: {}", outcome.tally);
    println!("trace {:016x}", outcome.trace);
    tell_broken(seed, &outcome);
    if outcome.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns a seed from the clock, which no earlier run has had.
fn by_chance() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(since.subsec_nanos()) << 16 ^ since.as_secs()
}

/// Runs seeds from the `first` on, on each processor one at a time.
fn run_many(extent: Extent, first: u64, ground: &Arc<Ground>) -> ExitCode {
    let begun = Instant::now();
    let (next, runs, broken) = (AtomicU64::new(0), AtomicU64::new(0), AtomicUsize::new(0));
    let tally = Mutex::new(Tally::default());
    let run_some = || {
        while broken.load(Ordering::Relaxed) < BROKEN_MAX {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let goes_on = match extent {
                Extent::Time(time) => begun.elapsed() < time,
                Extent::Runs(count) => index < count,
            };
            if !goes_on {
                break;
            }
            let seed = first.wrapping_add(index);
            let outcome = run(seed, ground);
            runs.fetch_add(1, Ordering::Relaxed);
            tally.lock().unwrap_or_else(PoisonError::into_inner).add(&outcome.tally);
            tell_broken(seed, &outcome);
            broken.fetch_add(usize::from(!outcome.broken.is_empty()), Ordering::Relaxed);
        }
    };
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(run_some);
        }
    });
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{} runs from seed {first} on: {tally}", runs.into_inner());
    if broken.into_inner() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tell_broken(seed: u64, outcome: &Outcome) {
    for broken in &outcome.broken {
        println!("BROKEN: seed {seed}: {broken}; repeat with `cargo xtask simulate --seed {seed}`");
    }
}
