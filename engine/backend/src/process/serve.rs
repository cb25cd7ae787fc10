//! The inside of a partition's process: what `quietcore-runtime partition EXCHANGE` does.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::IntoRawFd as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use quietcore_probe::partition;
use quietcore_process::exchange::Exchange;
use quietcore_process::remark::{self, remark};
use quietcore_process::{descriptors, heap, setting};
use quietcore_scan::process::job::LINE_BYTES_MAX;
use quietcore_scan::process::orders::{Orders, read_lines};
use quietcore_scan::process::threads;
use quietcore_scan::program::NoFieldbus;
use quietcore_site::OWN_MEMORY;
use quietcore_units::{ByteSize, Causes};

use crate::fieldbus::wire::HostBus;
use crate::job::Job;
use crate::kvm;

/// Of the thread that reads orders, a line each.
const LIFE_STACK_BYTES: usize = 256 << 10;
/// The exit status of a process whose job could not be done.
const FAILED: u8 = 2;
const NOT_BY_HAND: &str = "only `quietcore` starts this program";
/// The largest stack of its threads, and how many there are beside those of tasks.
const STACK_BYTES_MAX: u64 = 512 << 10;
const THREADS_BESIDE: usize = 4;
/// How long the process waits for its threads when the host has gone.
const ORPHAN_GRACE: Duration = Duration::from_millis(500);

/// The most that the stacks of a partition's threads take, where so many run its tasks; in bytes.
fn stacks_of(tasks: usize) -> u64 {
    (tasks + THREADS_BESIDE) as u64 * STACK_BYTES_MAX
}

/// Runs the job that comes on descriptor 0. The first argument is the number of the exchange's
/// file.
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let exchange = arguments.next().and_then(|number| number.to_str()?.parse().ok());
    match serve_job(exchange) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            remark(format_args!("quietcore-runtime: {problem}"));
            ExitCode::from(FAILED)
        }
    }
}

/// Reserves the memory of a process; what can't be had is said.
fn reserve_heap(job: &Job) {
    let Some((memory, tasks)) = job.reservation() else { return };
    let beyond = ByteSize::new(OWN_MEMORY.get() + stacks_of(tasks));
    if let Err(error) = heap::reserve(memory, beyond) {
        remark(format_args!("quietcore-runtime: {}", Causes(&error)));
    }
}

/// The files that a process is started with, out of its program's reach, and its streams as a
/// program finds them: see the head of [`super`].
fn settle(exchange: Option<i32>) -> Result<(File, File), String> {
    let exchange = exchange.ok_or(NOT_BY_HAND)?;
    descriptors::make_room();
    let exchange = descriptors::take_over(exchange)
        .map_err(|error| format!("descriptor {exchange} is no exchange: {error}; {NOT_BY_HAND}"))?;
    let (input, error) = descriptors::settle_streams()
        .map_err(|error| format!("the program's streams can't be had: {error}"))?;
    remark::send_to(error);
    // What the standard library says of a panic would be taken for what the program prints.
    std::panic::set_hook(Box::new(|panic| remark(format_args!("quietcore-runtime: {panic}"))));
    Ok((input.into(), exchange.into()))
}

/// Moves the files that a job names out of its program's reach.
fn raise(job: &mut Job) -> Result<(), String> {
    let mut refused = None;
    job.renumber(|number| match descriptors::take_over(number) {
        // It is open for as long as the process runs.
        Ok(file) => file.into_raw_fd(),
        Err(error) => {
            refused.get_or_insert_with(|| format!("descriptor {number}: {error}"));
            number
        }
    });
    refused.map_or(Ok(()), Err)
}

fn serve_job(exchange: Option<i32>) -> Result<(), String> {
    let (input, file) = settle(exchange)?;
    // What there is already, all at once: else each page of it comes when it is used first. Whether
    // it is to be locked, and may be, is the job's matter.
    let _ = setting::lock_present_memory();
    let mut line = Vec::new();
    let mut input = BufReader::new(input);
    (&mut input)
        .take(LINE_BYTES_MAX as u64)
        .read_until(b'\n', &mut line)
        .map_err(|error| format!("the job can't be read: {error}"))?;
    let mut job: Job = serde_json::from_slice(&line)
        .map_err(|error| format!("this is no job: {error}; {NOT_BY_HAND}"))?;
    raise(&mut job)?;
    // The closed pipe tells of the host's end, but a process that is stopped at that moment doesn't
    // read it; this reaches it even so. A refusal costs that case only. Not before there is a job:
    // what starts a container ends before that.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let mapped = file.try_clone().map_err(|error| format!("the exchange: {error}"))?;
    let exchange = Exchange::open(mapped).map_err(|error| Causes(&error).to_string())?;
    // For as long as the process lives, which ends from within here.
    let exchange: &'static Exchange = Box::leak(Box::new(exchange));
    let region = exchange.region();
    // Before there is another thread.
    reserve_heap(&job);
    let guest = match &job {
        Job::Guest { program, fieldbus, setting } => {
            Some(kvm::Ready::new(program, fieldbus.as_ref(), setting, region, &file)?)
        }
        _ => None,
    };
    let is_guest = guest.is_some();
    let (lines, orders) = Orders::channel();
    thread::scope(|scope| {
        // Its stack is locked, all of it.
        let life = thread::Builder::new().name("life".to_owned()).stack_size(LIFE_STACK_BYTES);
        // The thread ends with the process: either the host closes the pipe after the tasks have
        // ended, or it has gone, and then the process ends here.
        let watching = life.spawn_scoped(scope, move || {
            if is_guest {
                end_if_failed(kvm::seal());
            }
            read_lines(&mut input, &lines);
            region.request_stop();
            thread::sleep(ORPHAN_GRACE);
            std::process::exit(3);
        });
        watching.map_err(|error| format!("the pipe can't be watched: {error}"))?;
        end_if_failed(caught(|| match &job {
            Job::Latency(job) => {
                partition::run_latency(job, region);
                Ok(())
            }
            Job::Memory(job) => crate::memory::serve(job),
            Job::Program { program, fieldbus: None } => {
                threads::run(program, region, &file, || Ok(NoFieldbus), &orders)
            }
            Job::Program { program, fieldbus: Some(job) } => {
                let bring_up = || HostBus::bring_up(job, region);
                threads::run(program, region, &file, bring_up, &orders)
            }
            Job::Guest { program, .. } => guest.map_or(Ok(()), |guest| guest.run(program, &orders)),
        }));
        // The thread above waits for the pipe; it ends with the process.
        std::process::exit(0)
    })
}

/// Does the work; a panic of it is a failure. Else the thread that waits for the pipe would keep
/// the process, with nothing in it that runs.
fn caught(work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    // What it leaves half done is not used any more: the process ends.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().copied();
        let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(format!("it panicked: {}", said.unwrap_or("it did not say why")))
    })
}

/// Ends the process when its job could not be done, and says why.
fn end_if_failed(run: Result<(), String>) {
    if let Err(problem) = run {
        remark(format_args!("quietcore-runtime: {problem}"));
        std::process::exit(i32::from(FAILED));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_failure_that_is_said() {
        assert_eq!(caught(|| Ok(())), Ok(()));
        assert_eq!(caught(|| Err("why".to_owned())), Err("why".to_owned()));
        let text = caught(|| panic!("{} is odd", 7)).unwrap_err();
        assert_eq!(text, "it panicked: 7 is odd");
        assert_eq!(caught(|| panic!("plainly")), Err("it panicked: plainly".to_owned()));
    }
}
