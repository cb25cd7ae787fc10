//! The inside of a partition's process: what `quietcore-runtime partition` does.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use quietcore_probe::partition;
use quietcore_process::exchange::Exchange;
use quietcore_scan::process::job::LINE_BYTES_MAX;
use quietcore_scan::process::orders::{Orders, read_lines};
use quietcore_scan::process::threads;
use quietcore_scan::program::NoFieldbus;

use crate::fieldbus::image::BusImage;
use crate::job::Job;

/// How long the process waits for its threads when the host has gone.
const ORPHAN_GRACE: Duration = Duration::from_millis(500);

/// Runs the job that comes on descriptor 0.
pub fn serve() -> ExitCode {
    match serve_job() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("quietcore-runtime: {problem}");
            ExitCode::from(2)
        }
    }
}

fn serve_job() -> Result<(), String> {
    // The closed pipe tells of the host's end, but a process that is stopped at that moment doesn't
    // read it; this reaches it even so. A refusal costs that case only.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let mut line = Vec::new();
    let mut input = BufReader::new(io::stdin());
    (&mut input)
        .take(LINE_BYTES_MAX as u64)
        .read_until(b'\n', &mut line)
        .map_err(|error| format!("the job can't be read: {error}"))?;
    let job: Job = serde_json::from_slice(&line).map_err(|error| {
        format!("this is no job: {error}; only `quietcore` starts this program")
    })?;
    let file = io::stdout()
        .as_fd()
        .try_clone_to_owned()
        .map_err(|error| format!("descriptor 1 is not an exchange: {error}"))?;
    let file = File::from(file);
    let mapped = file.try_clone().map_err(|error| format!("descriptor 1: {error}"))?;
    let exchange = Exchange::open(mapped).map_err(|error| error.to_string())?;
    let region = exchange.region();
    let (lines, orders) = Orders::channel();
    thread::scope(|scope| {
        let life = thread::Builder::new().name("life".to_owned());
        // The thread ends with the process: either the host closes the pipe after the tasks have
        // ended, or it has gone, and then the process ends here.
        let watching = life.spawn_scoped(scope, move || {
            read_lines(&mut input, &lines);
            region.request_stop();
            thread::sleep(ORPHAN_GRACE);
            std::process::exit(3);
        });
        watching.map_err(|error| format!("the pipe can't be watched: {error}"))?;
        match &job {
            Job::Latency(job) => partition::run_latency(job, region),
            Job::Program { program, fieldbus } => {
                let run = match fieldbus {
                    None => threads::run(program, region, &file, || Ok(NoFieldbus), &orders),
                    Some(job) => {
                        let bring_up = || BusImage::bring_up(job, region);
                        threads::run(program, region, &file, bring_up, &orders)
                    }
                };
                if let Err(problem) = run {
                    eprintln!("quietcore-runtime: {problem}");
                    std::process::exit(2);
                }
            }
        }
        // The thread above waits for the pipe; it ends with the process.
        std::process::exit(0)
    })
}
