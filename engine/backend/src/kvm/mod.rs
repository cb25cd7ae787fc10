//! The backend `kvm`: a partition is a guest of our own virtual machine monitor.
//!
//! The monitor is the process of the backend [`process`](crate::process), with a guest in it
//! instead of the program. So it is started, told to stop, given new builds and left behind as that
//! is; and the exchange is the same memory file, which the guest has as a part of its memory.
//!
//! ```text
//! job ─► memory: guest image, program, exchange, channels, post ─► sandbox ─► processor's thread
//! orders ─► program into the free slot ─► post ─► the guest's own loader
//! ```
//!
//! | module | what |
//! |---|---|
//! | `guest` | the machine with all its memory |
//! | [`colours`] | the page colours of its memory |
//! | [`delivery`] | how new builds get to a process that sees no files |
//! | [`host`] | what the host shares with the guest's process |
//! | `mail` | what is posted to it |
//! | `memory` | what it shares |
//! | `network` | the wire of its fieldbus, behind a device |
//! | `programs` | programs from their files into the slots |
//! | [`translate`] | the job of a process as that of a guest |
//! | `ports` | what the guest says, its end, and its network |
//! | `crash` | a crash in words |

pub mod colours;
mod crash;
pub mod delivery;
mod guest;
pub mod host;
mod mail;
mod memory;
mod network;
mod ports;
mod programs;
pub mod translate;

use std::error::Error;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use quietcore_exchange::{Recorder, Region};
use quietcore_microvm::devices::console::ConsoleReader;
use quietcore_microvm::exits::Exits;
use quietcore_microvm::exits::statistics::Statistics;
use quietcore_microvm::processor::Processor;
use quietcore_microvm::runner::Runner;
use quietcore_microvm::sandbox::{self, Calls, Violation};
use quietcore_probe::partition::{number_of, prepare, take_over};
use quietcore_process::exchange::Exchange;
use quietcore_process::setting::{self, Policy};
use quietcore_scan::process::job::{Order, ProgramJob};
use quietcore_scan::process::orders::{Orders, Taken};
use quietcore_site::GUEST_MEMORY_DEFAULT;
use quietcore_units::{ByteSize, Causes, Nanos};
use serde::{Deserialize, Serialize};

use crate::fieldbus::FieldbusJob;
use colours::ColourSetting;
use delivery::{Delivery, inherited};
use guest::Guest;
use memory::Kept;
use network::Network;
use ports::{Explained, Ports};
use quietcore_process::remark::remark;

/// How often the end of the guest is looked for while no order comes.
const LOOK: Duration = Duration::from_millis(20);

/// What a guest is given beside its program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestSetting {
    /// Its own memory: the image, stacks and what the C library allocates.
    pub memory: ByteSize,
    /// The page colours of its memory; `None` where it has pages of all.
    pub colours: Option<ColourSetting>,
    /// The descriptor of the memory file in which new builds are delivered; whoever starts the
    /// partition fills it in.
    pub delivery: Option<i32>,
    /// That of the ledger of exits, likewise.
    pub exits: Option<i32>,
}

impl Default for GuestSetting {
    fn default() -> Self {
        Self { memory: GUEST_MEMORY_DEFAULT, colours: None, delivery: None, exits: None }
    }
}

/// A guest that has all that it needs, in a process that has given up the rest.
pub(crate) struct Ready {
    guest: Guest,
    processor: Processor,
    exchange: Arc<Exchange>,
    settle: Settle,
    exits: Arc<Exits>,
    statistics: Option<Statistics>,
    delivery: Option<Delivery>,
    network: Option<Network>,
    explained: Option<Explained>,
    /// What the guest is told of its fieldbus.
    words: Option<Vec<u8>>,
}

impl Ready {
    /// Makes a guest ready, and gives up files and namespaces of the host: called while this
    /// process has one thread, and once. It locks the process's memory.
    ///
    /// # Errors
    /// Why there is no guest; in words.
    pub(crate) fn new(
        job: &ProgramJob,
        fieldbus: Option<&FieldbusJob>,
        setting: &GuestSetting,
        region: Region<'_>,
        file: &File,
    ) -> Result<Self, String> {
        let locked = setting::lock_present_memory();
        // What is kept has no pages yet, and is locked part by part.
        let kept = Kept::new(job, setting, region, locked.is_ok())?;
        let to_come = match &locked {
            Ok(()) => setting::lock_memory_to_come(),
            Err(_) => Ok(()),
        };
        let memory = Arc::clone(&kept.memory);
        let (guest, processor) = Guest::new(job, setting, region, file, kept)?;
        // Kernels before 5.14 count nothing.
        let statistics = processor.statistics().ok();
        let delivery = setting.delivery.map(Delivery::inherited).transpose();
        let delivery = delivery.map_err(|error| format!("the delivery: {}", Causes(&error)))?;
        let exits = Arc::new(exits(setting.exits)?);
        let exchange = Arc::new(mapped(file)?);
        let network =
            fieldbus.map(|bus| Network::open(bus, guest.machine(), Arc::clone(&exchange)));
        let network = network.transpose()?;
        let words = fieldbus.map(network::words).transpose();
        let words = words.map_err(in_words)?;
        let snare = job.snare.as_ref().and_then(take_over);
        let explained = snare.map(|snare| Explained { snare, memory });
        // Where what came was not locked on its own, it is now, or it is told.
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
    /// How it ended when not in order; in words.
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
        serve(&mut guest, region, orders, delivery.as_ref(), &mut publish, || runner.has_ended());
        let outcome = runner.stop();
        publish();
        console.rest().into_iter().for_each(|begun| remark(format_args!("{begun}")));
        guest.outcome(&outcome)
    }
}

/// Passes on what the guest has said.
fn tell(console: &mut ConsoleReader) {
    console.lines().iter().for_each(|line| remark(format_args!("{line}")));
}

/// Gives up all rights of the calling thread, and all system calls but those of one that waits.
///
/// # Errors
/// The kernel refuses it; in words.
pub(crate) fn seal() -> Result<(), String> {
    seal_to(&Calls::of_waiting_thread())
}

fn seal_to(calls: &Calls) -> Result<(), String> {
    let sealed = sandbox::give_up().and_then(|()| sandbox::seal(calls, Violation::End));
    sealed.map_err(in_words)
}

/// The error with its causes, for a process that ends of it.
fn in_words(error: impl Error) -> String {
    Causes(&error).to_string()
}

/// The exchange, mapped once more.
fn mapped(file: &File) -> Result<Exchange, String> {
    let file = file.try_clone().map_err(|error| format!("the exchange: {error}"))?;
    Exchange::open(file).map_err(in_words)
}

/// The ledger of exits, in the memory of this descriptor.
fn exits(descriptor: Option<i32>) -> Result<Exits, String> {
    let Some(descriptor) = descriptor else { return Ok(Exits::default()) };
    let file = inherited(descriptor).map_err(|error| format!("the ledger of exits: {error}"))?;
    Exits::of_file(&file).map_err(|error| format!("the ledger of exits: {}", Causes(&error)))
}

/// What the processor's thread does for itself first.
struct Settle {
    exchange: Arc<Exchange>,
    calls: Calls,
    cpu: Option<u32>,
    policy: Policy,
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
        let (policy, period) = (leading.policy, leading.kind.period());
        let calls = Calls::of_processor(processor);
        Ok(Self { exchange, calls, cpu: job.cpu, policy, period, memory_refused })
    }

    /// Takes the settings of the leading task, for the thread is all tasks of the guest, and writes
    /// what is refused into their rows, before the guest has them.
    fn work(self) -> io::Result<()> {
        let region = self.exchange.region();
        for row in 0..region.task_count() {
            if let Some(task) = region.task(row) {
                let mut recorder = Recorder::new(task, self.period, 1);
                prepare(&mut recorder, self.cpu, self.policy, self.memory_refused);
            }
        }
        sandbox::give_up()?;
        sandbox::seal(&self.calls, Violation::End)?;
        Ok(())
    }
}

/// Carries out orders until the guest is over, and lets the host have what KVM counts.
fn serve(
    guest: &mut Guest,
    region: Region<'_>,
    orders: &Orders,
    delivery: Option<&Delivery>,
    mut publish: impl FnMut(),
    over: impl Fn() -> bool,
) {
    while !over() {
        publish();
        guest.look_after(region);
        match orders.take(LOOK) {
            Taken::Order(Order::Deliver { build, bytes }) => {
                let file = delivery.ok_or_else(|| "there is no delivery".to_owned());
                let file = file.and_then(|delivery| delivery.take(bytes));
                if let Err(why) = file.and_then(|file| guest.stage(&build, &file, region)) {
                    refuse(guest, build.stage.generation, &why);
                }
            }
            Taken::Order(Order::Stage(build)) => {
                refuse(guest, build.stage.generation, "it was not delivered");
            }
            Taken::Nothing => {}
            Taken::Unreadable(why) => remark(format_args!("this is no order: {why}")),
            // The host has gone; the process ends in a moment.
            Taken::Closed => thread::sleep(LOOK),
        }
    }
}

/// Says why a build is refused, and has the guest tell that it is.
fn refuse(guest: &mut Guest, generation: u32, why: &str) {
    remark(format_args!("build {generation} is refused: {why}"));
    guest.refuse(generation);
}
