//! The backend `kvm`: a partition is a guest of our own virtual machine monitor.
//!
//! The monitor is the process of the backend [`process`](crate::process), with a guest in it
//! instead of the program. It is started, given new builds and stopped as that is, and leaves as
//! little behind. The exchange is the same memory file, which the guest has as a part of its
//! memory.
//!
//! ```text
//! job ─► memory: guest image, program, exchange, channels, post ─► sandbox ─► processor's thread
//! orders ─► program into the free slot ─► post ─► the guest's own loader
//! ```
//!
//! | module | content |
//! |---|---|
//! | `guest` | the machine with all its memory |
//! | [`colours`] | the page colours of its memory |
//! | `host` | the memory that the host shares with the guest's process |
//! | `memory` | the memory that the guest shares |
//! | `network` | the wire of its fieldbus, behind a device |
//! | `ports` | the guest's console, its end, and its network |
//!
//! Programs and orders come to it by [`guest`](crate::guest).

pub mod colours;
mod guest;
mod host;
mod memory;
mod network;
mod ports;

use std::fs::File;
use std::io;
use std::sync::Arc;

use quietcore_exchange::Region;
use quietcore_microvm::card::PassedCard;
use quietcore_microvm::devices::console::ConsoleReader;
use quietcore_microvm::exits::Exits;
use quietcore_microvm::exits::statistics::Statistics;
use quietcore_microvm::processor::Processor;
use quietcore_microvm::runner::Runner;
use quietcore_microvm::sandbox::{self, Calls, Violation};
use quietcore_process::exchange::Exchange;
use quietcore_process::setting;
use quietcore_process::thread::prepare;
use quietcore_release::process::settings::{number_of, take_over};
use quietcore_scan::process::job::ProgramJob;
use quietcore_scan::process::orders::Orders;
use quietcore_site::{Cache, GUEST_MEMORY_DEFAULT, Partition};
use quietcore_units::{ByteSize, Causes, CpuId, Nanos, Scheduling, ThreadRequest};
use serde::{Deserialize, Serialize};

use crate::fieldbus::FieldbusJob;
use crate::guest::delivery::{Delivery, inherited};
use crate::guest::network::{mapped, words};
use crate::guest::{in_words, note_refused_of_all};
use crate::setting::SettingError;
use colours::{ColourSetting, colours_here};
use guest::Guest;
use memory::Kept;
use network::Network;
use ports::{Explained, Ports};
use quietcore_process::remark::remark;

/// Memory of a guest, beside its program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestSetting {
    /// The guest's own memory: image, stacks, and the heap of the C library.
    pub memory: ByteSize,
    /// Page colours of its memory; `None` means pages of all colours.
    pub colours: Option<ColourSetting>,
}

/// The interior of a process that is a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GuestInterior {
    setting: GuestSetting,
    /// Descriptor of the memory file in which new builds are delivered.
    delivery: i32,
    /// Descriptor of the memory file with the ledger of exits.
    exits: i32,
}

impl GuestInterior {
    /// Gives its files other numbers.
    pub(crate) fn renumber(&mut self, new: &mut dyn FnMut(i32) -> i32) {
        self.delivery = new(self.delivery);
        self.exits = new(self.exits);
    }
}

impl GuestSetting {
    /// Returns the setting of a partition; page colours are measured on its first CPU.
    pub(crate) fn of(partition: &Partition) -> Result<Self, SettingError> {
        let vcr = &partition.vcr;
        let colours = match &vcr.cache {
            None | Some(Cache::Ways(_)) => None,
            Some(Cache::Colours(colours)) => {
                let cpu = vcr.cpus.iter().next().map_or(0, CpuId::get);
                let measured = colours_here(cpu).map_err(|source| SettingError::Colours {
                    partition: partition.name.clone(),
                    source,
                })?;
                let (colouring, colours) = (measured.colouring, colours.clone());
                colouring.check([(partition.name.as_str(), &colours[..])])?;
                Some(ColourSetting { mask: colouring.mask(), colours })
            }
        };
        let memory = vcr.memory.unwrap_or(GUEST_MEMORY_DEFAULT);
        Ok(Self { memory, colours })
    }
}

/// A guest with everything that it needs, in a process that has given up everything else.
pub(crate) struct Ready {
    guest: Guest,
    processor: Processor,
    exchange: Arc<Exchange>,
    settle: Settle,
    exits: Arc<Exits>,
    statistics: Option<Statistics>,
    delivery: Delivery,
    network: Option<Network>,
    explained: Option<Explained>,
    /// Its encoded fieldbus, if it drives one.
    words: Option<Vec<u8>>,
}

impl Ready {
    /// Makes a guest ready, and gives up the host's files and namespaces. To be called once, while
    /// this process has one thread. Locks the process's memory.
    ///
    /// # Errors
    /// When something that the guest needs can't be had; in words.
    pub(crate) fn new(
        job: &ProgramJob,
        fieldbus: Option<&FieldbusJob>,
        interior: &GuestInterior,
        region: Region<'_>,
        file: &File,
    ) -> Result<Self, String> {
        let GuestInterior { setting, delivery, exits: ledger } = interior;
        let locked = setting::lock_present_memory();
        // Kept addresses have no pages yet; they are locked part by part.
        let kept = Kept::new(job, setting, region, locked.is_ok())?;
        let to_come = match &locked {
            Ok(()) => setting::lock_memory_to_come(),
            Err(_) => Ok(()),
        };
        let memory = Arc::clone(&kept.memory);
        let card = fieldbus.and_then(FieldbusJob::card).map(PassedCard::open).transpose();
        let card = card.map_err(in_words)?;
        let (guest, processor) = Guest::new(job, setting, region, file, kept, card)?;
        // Kernels before 5.14 count nothing.
        let statistics = processor.statistics().ok();
        let delivery = Delivery::inherited(*delivery);
        let delivery = delivery.map_err(|error| format!("the delivery: {}", Causes(&error)))?;
        let exits = Arc::new(exits(*ledger)?);
        let exchange = Arc::new(mapped(file)?);
        let served = fieldbus.filter(|bus| bus.card().is_none());
        let network = served.map(|bus| Network::open(bus, guest.machine(), Arc::clone(&exchange)));
        let network = network.transpose()?;
        let words = fieldbus.map(words).transpose();
        let words = words.map_err(in_words)?;
        let snare = job.snare.as_ref().and_then(take_over);
        let explained = snare.map(|snare| Explained { snare, memory });
        // Memory that came since and could not be locked on its own is locked now, or the refusal
        // is recorded.
        let locked = locked.and_then(|()| to_come.or_else(|_| setting::lock_present_memory()));
        let memory_refused = locked.err().map(|error| number_of(&error));
        let settle = Settle::of(job, Arc::clone(&exchange), memory_refused, &processor)?;
        let given_up = sandbox::enclose();
        if !given_up.is_whole() {
            remark(format_args!("the guest's process: {given_up}"));
        }
        Ok(Self {
            guest,
            processor,
            exchange,
            settle,
            exits,
            statistics,
            delivery,
            network,
            explained,
            words,
        })
    }

    /// Runs the guest until it ends. `orders` are the lines that follow the job.
    ///
    /// # Errors
    /// The reason, in words, if it did not end in order.
    pub(crate) fn run(self, job: &ProgramJob, orders: &Orders) -> Result<(), String> {
        let Self { mut guest, processor, settle, exits, mut statistics, .. } = self;
        let (delivery, network, words) = (self.delivery, self.network, self.words);
        let exchange = self.exchange;
        let ports = Ports::new(network.as_ref().map(|it| Arc::clone(&it.net)), self.explained);
        let (ports, mut console) = ports.map_err(|error| format!("no console: {error}"))?;
        let ledger = Arc::clone(&exits);
        let mut publish = || {
            tell(&mut console);
            if let Some(sample) = statistics.as_mut().and_then(|it| it.sample().ok()) {
                ledger.publish(&sample);
            }
        };
        let policy = settle.policy;
        let work = || settle.work();
        let runner = Runner::spawn("processor", processor, Arc::new(ports), exits, work);
        let runner = runner.map_err(in_words)?;
        network.map_or(Ok(()), |network| network.start(job.cpu, policy))?;
        seal_to(&guest.calls())?;
        guest.post_job(job, runner.thread_id().unsigned_abs(), words)?;
        runner.resume().map_err(in_words)?;
        let region = exchange.region();
        let mut tell_time = guest.clock();
        let each = || {
            publish();
            tell_time();
        };
        guest.staging.serve(region, orders, &delivery, each, || runner.has_ended());
        let outcome = runner.stop();
        publish();
        console.rest().into_iter().for_each(|begun| remark(format_args!("{begun}")));
        guest.outcome(&outcome)
    }
}

/// Passes on the lines that the guest has written to its console.
fn tell(console: &mut ConsoleReader) {
    console.lines().iter().for_each(|line| remark(format_args!("{line}")));
}

/// Gives up all rights of the calling thread, and all system calls but those of a waiting one.
///
/// # Errors
/// When the kernel refuses it; in words.
pub(crate) fn seal() -> Result<(), String> {
    seal_to(&Calls::of_waiting_thread())
}

fn seal_to(calls: &Calls) -> Result<(), String> {
    let sealed = sandbox::give_up().and_then(|()| sandbox::seal(calls, Violation::End));
    sealed.map_err(in_words)
}

/// Opens the ledger of exits in the memory of this descriptor.
fn exits(descriptor: i32) -> Result<Exits, String> {
    let file = inherited(descriptor).map_err(|error| format!("the ledger of exits: {error}"))?;
    Exits::of_file(&file).map_err(|error| format!("the ledger of exits: {}", Causes(&error)))
}

/// Preparation of the processor's thread, which it does itself.
struct Settle {
    exchange: Arc<Exchange>,
    calls: Calls,
    cpu: Option<u32>,
    policy: Scheduling,
    period: Nanos,
    memory_refused: Option<i32>,
}

impl Settle {
    fn of(
        job: &ProgramJob,
        exchange: Arc<Exchange>,
        memory_refused: Option<i32>,
        processor: &Processor,
    ) -> Result<Self, String> {
        let leading = job.tasks.first().ok_or("there is no task")?;
        let (policy, period) = (leading.policy, leading.release.interval());
        let calls = Calls::of_processor(processor);
        Ok(Self { exchange, calls, cpu: job.cpu, policy, period, memory_refused })
    }

    /// Takes the settings of the leading task, since this thread runs all tasks of the guest, and
    /// writes what is refused into the rows of all tasks before the guest has them. Then gives up
    /// all other rights.
    fn work(self) -> io::Result<()> {
        let request = ThreadRequest::new(self.policy).on(self.cpu.and_then(CpuId::new));
        let prepared = prepare(&request);
        let region = self.exchange.region();
        note_refused_of_all(region, self.period, &prepared, self.cpu, self.memory_refused);
        sandbox::give_up()?;
        sandbox::seal(&self.calls, Violation::End)?;
        Ok(())
    }
}
