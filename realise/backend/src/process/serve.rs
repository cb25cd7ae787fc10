//! The inside of a partition's process: `quietcore-runtime partition EXCHANGE`.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::IntoRawFd as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use quietcore_probe::measurement::OpenExchange;
use quietcore_probe::partition;
use quietcore_process::exchange::Exchange;
use quietcore_process::memory::{DeviceMemory, MemorySource};
use quietcore_process::remark::{self, remark};
use quietcore_process::thread::host_threads;
use quietcore_process::{descriptors, heap, setting};
use quietcore_scan::process::job::LINE_BYTES_MAX;
use quietcore_scan::process::orders::{Orders, read_lines};
use quietcore_site::OWN_MEMORY;
use quietcore_units::{ByteSize, Causes};

use crate::interior::Ready;
use crate::job::Job;
use crate::linux;
use crate::qemu::disk;

/// Stack of the thread that reads orders, in bytes.
const LIFE_STACK_BYTES: usize = 256 << 10;
/// The exit status of a process whose job could not be done.
const FAILED: u8 = 2;
/// Begin of the argument with the host's threads of the guest's processors, separated by commas.
pub(crate) const HOST_THREADS: &str = "threads=";
const NOT_BY_HAND: &str = "only `quietcore` starts this program";
/// Largest stack of a thread, in bytes, and the number of threads beside those of tasks.
const STACK_BYTES_MAX: u64 = 512 << 10;
const THREADS_BESIDE: usize = 4;
/// Time that the process gives its threads to end when the host has gone.
const ORPHAN_GRACE: Duration = Duration::from_millis(500);

/// Returns the most bytes that the stacks of a partition's threads take, if `tasks` of them run
/// tasks.
fn stacks_of(tasks: usize) -> u64 {
    (tasks + THREADS_BESIDE) as u64 * STACK_BYTES_MAX
}

/// The name of the exchange on the command line: the number of its file, behind which `@` and JSON
/// follow where it is memory of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExchangeName {
    pub(crate) descriptor: i32,
    pub(crate) device: Option<DeviceMemory>,
}

impl ExchangeName {
    fn read(text: &str) -> Option<Self> {
        let Some((descriptor, place)) = text.split_once('@') else {
            return Some(Self { descriptor: text.parse().ok()?, device: None });
        };
        let device = serde_json::from_str(place).ok()?;
        Some(Self { descriptor: descriptor.parse().ok()?, device: Some(device) })
    }
}

impl fmt::Display for ExchangeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.descriptor)?;
        let Some(device) = &self.device else { return Ok(()) };
        write!(f, "@{}", serde_json::to_string(device).map_err(|_| fmt::Error)?)
    }
}

/// Runs the job that comes on descriptor 0. The first argument is the exchange's
/// name: its descriptor, with an address where it is a device's memory. In a Linux guest the second
/// has the host's threads.
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let exchange = arguments.next().and_then(|name| ExchangeName::read(name.to_str()?));
    let threads = arguments.next().and_then(|threads| threads_of_host(threads.to_str()?));
    if let Some(threads) = threads {
        host_threads::are(threads);
    }
    match serve_job(exchange) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            remark(format_args!("quietcore-runtime: {problem}"));
            ExitCode::from(FAILED)
        }
    }
}

/// Reads the host's threads of the guest's processors, behind [`HOST_THREADS`].
fn threads_of_host(argument: &str) -> Option<Vec<u32>> {
    let numbers = argument.strip_prefix(HOST_THREADS)?.split(',');
    numbers.map(|number| number.parse().ok()).collect()
}

/// Reserves the memory of a process, and says what can't be had.
fn reserve_heap(job: &Job) {
    let Some((memory, tasks)) = job.reservation() else { return };
    let beyond = ByteSize::new(OWN_MEMORY.get() + stacks_of(tasks));
    if let Err(error) = heap::reserve(memory, beyond) {
        remark(format_args!("quietcore-runtime: {}", Causes(&error)));
    }
}

/// Moves the files that the process is started with out of its program's reach, and sets up its
/// streams as a program expects them; see the head of [`super`].
fn settle(exchange: Option<ExchangeName>) -> Result<(File, MemorySource), String> {
    let ExchangeName { descriptor, device } = exchange.ok_or(NOT_BY_HAND)?;
    descriptors::make_room();
    let exchange = descriptors::take_over(descriptor).map_err(|error| {
        format!("descriptor {descriptor} is no exchange: {error}; {NOT_BY_HAND}")
    })?;
    let exchange = MemorySource::new(exchange.into(), device);
    let (input, error) = descriptors::settle_streams()
        .map_err(|error| format!("the program's streams can't be had: {error}"))?;
    remark::send_to(error);
    // The standard library's message about a panic would be taken for output of the program.
    std::panic::set_hook(Box::new(|panic| remark(format_args!("quietcore-runtime: {panic}"))));
    Ok((input.into(), exchange))
}

/// Moves the files that a job names out of its program's reach.
fn raise(job: &mut Job) -> Result<(), String> {
    let mut refused = None;
    job.renumber(&mut |number| match descriptors::take_over(number) {
        // The file stays open for as long as the process runs.
        Ok(file) => file.into_raw_fd(),
        Err(error) => {
            refused.get_or_insert_with(|| format!("descriptor {number}: {error}"));
            number
        }
    });
    refused.map_or(Ok(()), Err)
}

fn serve_job(exchange: Option<ExchangeName>) -> Result<(), String> {
    let (input, memory) = settle(exchange)?;
    // Locks at once all that is there already, since each page would otherwise come at its first
    // use. The job decides whether memory is to be locked, and may be.
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
    // read it; this signal reaches it even so. If it is refused, only that case is lost. It is set
    // only when there is a job: the process that starts a container ends before that.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let exchange = Exchange::of_source(&memory).map_err(|error| Causes(&error).to_string())?;
    // It lives as long as the process, which ends within this function.
    let exchange: &'static Exchange = Box::leak(Box::new(exchange));
    let region = exchange.region();
    // This comes before there is another thread.
    reserve_heap(&job);
    let ready = match &job {
        Job::Program { program, fieldbus, interior } => {
            interior.make_ready(program, fieldbus.as_ref(), region, memory.file())?
        }
        _ => Ready::default(),
    };
    let seal_waiting = ready.seal_waiting();
    let (lines, orders) = Orders::channel();
    thread::scope(|scope| {
        // The whole stack is locked, so it is small.
        let life = thread::Builder::new().name("life".to_owned()).stack_size(LIFE_STACK_BYTES);
        // The thread ends with the process: either the host closes the pipe after the tasks have
        // ended, or the host has gone, and the process ends here.
        let watching = life.spawn_scoped(scope, move || {
            end_if_failed(seal_waiting());
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
            Job::Disk(setting) => disk::run(setting, region),
            Job::Neighbour(job) => crate::neighbour::serve(job, region),
            Job::Linux(job) => linux::run(job, region, memory.file(), &orders),
            Job::Measurement { measurement, interior } => {
                let hypervisor = &*interior.hypervisor();
                let exchange = OpenExchange { region, file: memory.file(), hypervisor };
                crate::measuring::serve(measurement, &exchange)
            }
            Job::Program { program, fieldbus, .. } => {
                ready.run(program, fieldbus.as_ref(), region, &memory, &orders)
            }
        }));
        // The thread above waits for the pipe; it ends with the process.
        std::process::exit(0)
    })
}

/// Does the work and turns a panic into an error. Otherwise the thread that waits for the pipe
/// would keep the process alive, with nothing in it that runs.
fn caught(work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    // Nothing uses what the work leaves half done: the process ends.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().copied();
        let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(format!("it panicked: {}", said.unwrap_or("it did not say why")))
    })
}

/// Ends the process and says why, if its job could not be done.
fn end_if_failed(run: Result<(), String>) {
    if let Err(problem) = run {
        remark(format_args!("quietcore-runtime: {problem}"));
        std::process::exit(i32::from(FAILED));
    }
}

#[cfg(test)]
mod tests {
    use quietcore_boot::xen::Announcement;
    use quietcore_process::in_guest::granted::Granted;

    use super::*;

    #[test]
    fn an_exchange_is_a_file_or_a_devices_memory() {
        let announced = Announcement::parse(b"1025 77 78").unwrap();
        let memory = [
            DeviceMemory::Stretch { address: 0xfe80_0000, bytes: 2 << 20 },
            DeviceMemory::Granted(Granted::from(&announced)),
        ];
        for device in memory.map(Some).into_iter().chain([None]) {
            let name = ExchangeName { descriptor: 7, device };
            assert_eq!(ExchangeName::read(&name.to_string()), Some(name));
        }
        for wrong in ["", "x", "7@", "7@1", "7@{}", "@{\"stretch\":{\"address\":0,\"bytes\":1}}"] {
            assert_eq!(ExchangeName::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_panic_is_a_failure_that_is_said() {
        assert_eq!(caught(|| Ok(())), Ok(()));
        assert_eq!(caught(|| Err("why".to_owned())), Err("why".to_owned()));
        let text = caught(|| panic!("{} is odd", 7)).unwrap_err();
        assert_eq!(text, "it panicked: 7 is odd");
        assert_eq!(caught(|| panic!("plainly")), Err("it panicked: plainly".to_owned()));
    }
}
