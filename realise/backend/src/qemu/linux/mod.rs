//! Linux guests of QEMU: the partition's process runs in the guest, and is there what it is on the
//! host.
//!
//! ```text
//! supervisor ─► quietcore-runtime partition ─► QEMU ─► Linux ─► /init ─► quietcore-runtime
//!                  │ port `orders`:  files, job, orders ───────► │ ──────► standard input
//!                  │ ports `printed`, `remarks` ◄───────────────────────── standard outputs
//!                  │ device 0: counters compared, host's time ─► │ the clock
//!                  ├ devices 1 …: exchange, channels ────────────────────► mapped from /dev/mem
//!                  └ network: frames of a fieldbus behind an interface ─► │ its socket
//! ```
//!
//! Statistics, variables, commands and channels are memory that both sides map, so that nothing of
//! a cycle passes through QEMU. The threads of the guest's processors are pinned here and given the
//! policy of the leading task; in the guest each task is pinned to a processor and has its own.
//!
//! | module | content |
//! |---|---|
//! | `host` | the surroundings of the partition's process |
//! | `machine` | QEMU's command line |
//! | `ports` | the sockets behind the ports |
//!
//! The parts that all Linux guests have, whoever runs them, are in [`linux`](crate::linux).

mod host;
mod machine;
mod ports;

use std::fs::File;
use std::process::ExitStatus;
use std::sync::Arc;

use quietcore_boot::HostPage;
use quietcore_exchange::{Recorder, Region};
use quietcore_microvm::devices::console::{Console, ConsoleReader};
use quietcore_process::readback;
use quietcore_process::remark::remark;
use quietcore_process::setting as settings;
use quietcore_process::thread::{Prepared, prepare_other};
use quietcore_release::process::settings::{note_refused, number_of};
use quietcore_scan::process::orders::Orders;
use quietcore_site::Accelerator;
use quietcore_units::{ByteSize, CpuId, CpuSet, Scheduling, ThreadRequest};

use super::emulator::{Emulator, others};
use super::monitor::Monitor;
use super::network::Network;
use super::{End, may_lock_much, outcome};
use crate::guest::channels::Channels;
use crate::guest::console::into;
use crate::guest::control::Control;
use crate::guest::in_words;
use crate::guest::introduction::{introduce, moment, now_by_host};
use crate::guest::network::mapped;
use crate::linux::LinuxJob;
use crate::linux::ports::Host;
pub(crate) use host::surround;
use machine::{Parts, command};

/// Runs a partition in a Linux guest until it ends. `orders` are the lines that follow the job.
///
/// # Errors
/// The reason, in words, if it did not end in order.
pub(crate) fn run(
    job: &LinuxJob,
    accelerator: Accelerator,
    region: Region<'static>,
    exchange: &File,
    orders: &Orders,
) -> Result<(), String> {
    let begun = now_by_host();
    let locked = settings::lock_memory().and_then(|()| may_lock_much());
    let memory_refused = locked.err().map(|error| number_of(&error));
    let channels = job.program().map(Channels::open).transpose()?;
    let channels = channels.map(|channels| channels.files).unwrap_or_default();
    let control = Control::create(ByteSize::new(0)).map_err(in_words)?;
    let (Host { orders: port, readers }, port_ends) = ports::pairs()?;
    let (mut monitor, monitor_end) =
        Monitor::new().map_err(|error| format!("no monitor: {error}"))?;
    let again = |file: &File| file.try_clone().map_err(|error| format!("shared memory: {error}"));
    let network = job.network.as_ref().map(|bus| Network::open(bus, Arc::new(mapped(exchange)?)));
    let (network, network_end) = network.transpose()?.unzip();
    let parts = Parts {
        control: again(control.file())?,
        exchange: again(exchange)?,
        channels,
        network: network_end,
        ports: port_ends,
        monitor: monitor_end,
        accelerator,
        locks: accelerator == Accelerator::Kvm && memory_refused.is_none(),
    };
    let (console, mut lines) = Console::new().map_err(|error| format!("no console: {error}"))?;
    let cpus: CpuSet = job.setting.cpus.iter().filter_map(|cpu| CpuId::new(*cpu)).collect();
    let elsewhere = job.within.or_else(|| others(&cpus).filter(|_| job.is_pinned));
    let mut emulator = Emulator::start(command(&job.setting, parts)?, elsewhere, into(console))?;
    monitor.greet().map_err(in_words)?;
    let threads = monitor.processor_threads(job.setting.cpus.len()).map_err(in_words)?;
    settle(job, region, &threads, memory_refused);
    job.within.map_or(Ok(()), |cpus| confined(cpus, emulator.main_thread(), &threads))?;
    network.map_or(Ok(()), |network| carry(job, network, &emulator, &cpus))?;
    port.send_first(job, threads.clone())?;
    monitor.resume().map_err(in_words)?;
    let mut page = HostPage { memory_bytes: job.setting.memory.get(), ..HostPage::default() };
    let ended = || emulator.ended().map(|status| format!("QEMU ended: {status}"));
    let counter = match introduce(&control, ended, region, begun, &mut page) {
        Ok(Some(counter)) => counter,
        Ok(None) => return Ok(()),
        Err(why) => {
            end_of(&mut emulator, &mut lines);
            return Err(why);
        }
    };
    // Whether it is granted was tried before.
    threads.iter().for_each(|thread| drop(settings::schedule_other(*thread, job.policy())));
    let mut looks = || {
        control.tell_time(moment(counter));
        lines.lines().iter().for_each(|line| remark(format_args!("{line}")));
        let ended = emulator.ended().map(End::Ended);
        ended.or_else(|| monitor.has_stopped().then_some(End::Stopped))
    };
    let end = loop {
        match looks() {
            Some(end) => break end,
            None => port.pass_on(orders),
        }
    };
    end_of(&mut emulator, &mut lines);
    readers.join();
    let has_ended = region.tasks().all(|task| task.state().has_ended());
    outcome(end, has_ended, || Some("the partition's process in the guest has failed".to_owned()))
        .map_err(|why| reset_or(end, why))
}

/// Starts to carry the frames of the guest's fieldbus; `cpus` are those of its processors.
fn carry(
    job: &LinuxJob,
    network: Network,
    emulator: &Emulator,
    cpus: &CpuSet,
) -> Result<(), String> {
    if job.is_pinned {
        emulator.lift(cpus, job.policy());
    }
    // The tasks of a program share the first processor.
    let own = job.setting.cpus.first().copied().filter(|_| job.is_pinned);
    network.start(own, job.policy())
}

/// Ends QEMU and passes on what the guest has written to its console last.
fn end_of(emulator: &mut Emulator, lines: &mut ConsoleReader) {
    emulator.end();
    let last = lines.lines().into_iter().chain(lines.rest());
    last.for_each(|line| remark(format_args!("{line}")));
}

/// Says what it means where QEMU ended without a word: the guest's kernel can't go on.
fn reset_or(end: End, why: String) -> String {
    let is_reset = |status: ExitStatus| status.success();
    match end {
        End::Ended(status) if is_reset(status) => {
            "the guest's kernel has reset the machine, as after a panic".to_owned()
        }
        End::Ended(_) | End::Stopped => why,
    }
}

/// Makes the threads of the guest's processors what the job asks for, and writes what is refused
/// into the rows of the tasks, before the guest has them. Takes the policy back until the guest has
/// begun: until then it waits for this thread, and may share its CPU.
fn settle(job: &LinuxJob, region: Region<'_>, threads: &[u32], memory_refused: Option<i32>) {
    let cpus = &job.setting.cpus;
    let prepared: Vec<(Option<u32>, Prepared)> = threads
        .iter()
        .zip(cpus)
        .map(|(thread, cpu)| {
            let cpu = job.is_pinned.then_some(*cpu);
            let request = ThreadRequest::new(job.policy()).on(cpu.and_then(CpuId::new));
            (cpu, prepare_other(*thread, &request))
        })
        .collect();
    let period = job.period();
    for row in 0..region.task_count() {
        // The tasks of a program share the first processor; each probe has one of its own.
        let index = if job.program().is_some() { 0 } else { row as usize };
        let Some((task, (cpu, prepared))) = region.task(row).zip(prepared.get(index)) else {
            continue;
        };
        note_refused(&mut Recorder::new(task, period, 1), prepared, *cpu, memory_refused);
    }
    for thread in threads {
        // A thread may always ask for less.
        let _ = settings::schedule_other(*thread, Scheduling::Other);
    }
}

/// Checks that the threads of QEMU run on these CPUs alone.
fn confined(cpus: CpuSet, process: u32, threads: &[u32]) -> Result<(), String> {
    for thread in threads {
        let state = readback::read(process, *thread);
        let found = state.map_err(|error| format!("QEMU's threads: {error}"))?.affinity;
        if found != cpus {
            return Err(format!("a processor of the guest may run on CPUs {found}, not {cpus}"));
        }
    }
    Ok(())
}
