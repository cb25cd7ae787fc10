//! A guest from its image to its end.
//!
//! ```text
//! memory ─ image ─ machine ─ exchange, post, board ─ processor ─ host page ─ job posted
//!                                                                    │
//!   this thread: looks at the exchange, asks for the end     processor's thread: runs the guest
//! ```

use std::io::{self, Cursor};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quietcore_boot::post::{NotPosted, Poster, bytes_for};
use quietcore_boot::{AddressRange as At, HostPage, board, places, port};
use quietcore_exchange::Region;
use quietcore_guests::{Image, Missing};
use quietcore_microvm::board::{Board, BoardCounts, BoardError};
use quietcore_microvm::counter::{Counter, Moment};
use quietcore_microvm::exits::statistics::Sample;
use quietcore_microvm::exits::{Exit, Exits, REASONS};
use quietcore_microvm::image::{self, ImageError};
use quietcore_microvm::machine::{Machine, MachineError};
use quietcore_microvm::memory::{Memory, MemoryError};
use quietcore_microvm::net::{self, Net, Service};
use quietcore_microvm::options;
use quietcore_microvm::processor::{Processor, ProcessorError, Stopped, StuckBecause};
use quietcore_microvm::runner::{Ended, Runner, RunnerError};
use quietcore_microvm::slot::{Access, Shared, SharedError};
use quietcore_process::thread::{self, Standing};
use quietcore_units::{ByteSize, Nanos, ThreadRequest};
use serde::{Deserialize, Serialize};

use super::devices::Devices;
use super::hypervisor::GuestNetwork;
use super::job::DOORBELL_BYTES;
use crate::ethercat::process::{Line, LineError};
use crate::measurement::OpenExchange;

/// Time between two looks at the exchange.
pub const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Bytes of the memory in which the job is posted.
const POST_BYTES: u64 = 8192;
/// Time beyond its expected end after which a guest is stopped.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The surroundings of a guest: memory, threads, and the time that it takes.
#[derive(Clone, Debug)]
pub struct Options {
    /// Memory of the guest's own.
    pub memory: ByteSize,
    /// CPU and scheduling of the thread that runs its processor.
    pub thread: ThreadRequest,
    /// CPU and scheduling of its clock board's thread; `None` for a guest without a board.
    pub board: Option<ThreadRequest>,
    /// `true` if instructions with which the guest waits shall not leave its processor.
    pub polls: bool,
    /// Time that the guest is expected to take; it is stopped some time after.
    pub takes: Duration,
    /// Vectors of the guest's doorbells, in their order: a write to a doorbell raises its vector
    /// without this process.
    pub echo: Vec<u8>,
    /// The guest's network; its processor carries the frames, whenever it rings.
    pub network: Option<GuestNetwork>,
}

/// The outcome of a guest that ended as it should.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Text that it wrote to its console.
    pub said: String,
    /// Number of exits of its processor to this process, by reason.
    pub exits: Vec<(&'static str, u64)>,
    /// Instructions of waiting that stay in the guest, as a record names them.
    pub granted: String,
    /// The last exits to this process, one by one.
    pub recent: Vec<Exit>,
    /// Exits of its processor as KVM counted them; `None` where this kernel does not tell.
    pub counted: Option<Sample>,
    /// Time stamp counter of the guest.
    pub counter: Counter,
    /// One instant, read from that counter and from the monotonic clock, which relates the two.
    pub moment: Moment,
    /// Interrupts that its clock board raised, lost and left out; `None` without a board.
    pub board: Option<BoardCounts>,
    /// Settings in force for the thread of its processor.
    pub standing: Standing,
}

/// The facts of a guest's run, for its records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestFacts {
    /// The exits of its processor, in words; `None` where the hypervisor does not tell.
    pub exits: Option<String>,
    /// Instructions of waiting that stay in the guest, as a record names them.
    pub granted: String,
    /// Frequency of its time stamp counter, in Hz.
    pub counter_hertz: u64,
    /// Interrupts of its clock board, in words; `None` without a board.
    pub board: Option<String>,
    /// Settings in force for the thread of its processor.
    pub standing: Standing,
}

impl From<Outcome> for GuestFacts {
    fn from(outcome: Outcome) -> Self {
        let board = outcome.board.map(|board| board.to_string());
        Self {
            exits: Some(outcome.exits_in_words()),
            granted: outcome.granted,
            counter_hertz: outcome.counter.hertz(),
            board,
            standing: outcome.standing,
        }
    }
}

impl Outcome {
    /// Describes the exits in words.
    pub fn exits_in_words(&self) -> String {
        let some: Vec<String> = self
            .exits
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let some = if some.is_empty() { "none".to_owned() } else { some.join(", ") };
        match &self.counted {
            Some(kvm) => format!(
                "{some}; KVM counted {} in all, of these {} for halts and {} for interrupts",
                kvm.exits(),
                kvm.halts(),
                kvm.interrupts()
            ),
            None => some,
        }
    }
}

/// The reasons why a guest did not run, or did not end as it should.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// This build has no image.
    #[error(transparent)]
    Image(#[from] Missing),
    /// The guest's memory could not be had.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Memory could not be shared with the guest.
    #[error(transparent)]
    Shared(#[from] SharedError),
    /// The image could not be started.
    #[error(transparent)]
    Start(#[from] ImageError),
    /// The virtual machine could not be made.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The processor could not be made, or does not go on.
    #[error(transparent)]
    Processor(#[from] ProcessorError),
    /// The clock board could not be made.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The exchange could not be given to the guest, or a thread could not be started.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The job could not be posted: it is too long.
    #[error(transparent)]
    Job(#[from] NotPosted),
    /// The thread of the processor could not be started.
    #[error(transparent)]
    Thread(#[from] RunnerError),
    /// There is no way to the SubDevices behind the guest's network.
    #[error(transparent)]
    Line(#[from] LineError),
    /// KVM interprets its guests here, and does not know one of their instructions.
    #[error(
        "this machine's KVM interprets its guests and stopped at an instruction that it does not \
         know; see `quietcore doctor` on guests under KVM"
    )]
    Interpreted,
    /// Another hypervisor than ours did not run it to its end.
    #[error("{0}")]
    Other(String),
    /// The guest ended in another way than it should have.
    #[error("the guest {how}{}", with_said(.said))]
    Ended {
        /// Way in which it ended, as a verb with its object.
        how: String,
        /// Text that it wrote to its console.
        said: String,
    },
}

fn with_said(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {}", said.trim_end()) }
}

/// Runs an image with a job to its end, on the memory of `exchange`. `look` is called now and then
/// with the number of the processor's thread; once it returns `true`, the guest is asked to end.
///
/// # Errors
/// Returns [`GuestError`]. Settings of threads that the operating system refuses are no error;
/// [`Outcome::standing`] lists them.
pub fn run_image(
    image: Image,
    job: &[u8],
    exchange: &OpenExchange<'_>,
    options: &Options,
    look: impl FnMut(&Region<'_>, u32) -> bool,
) -> Result<Outcome, GuestError> {
    let post = Arc::new(Shared::create("quietcore-post", ByteSize::new(POST_BYTES))?);
    let Ready { machine, processor, devices, counter, moment } =
        Ready::new(image, exchange, &post, options)?;
    let devices = Arc::new(devices);
    Poster::new(post.words()).ok_or(NotPosted::Full)?.post(job)?;
    let generator = match (&devices.board, options.board) {
        (Some(board), Some(request)) => {
            // A refused setting only makes interrupts come late, which lengthens no response: the
            // board counts from the instant at which it raised one.
            Some(board.start(move || drop(thread::prepare(&request)))?)
        }
        _ => None,
    };
    let (exits, mut kvm) = (Arc::new(Exits::default()), processor.statistics().ok());
    let (told, standing) = std::sync::mpsc::sync_channel(1);
    let request = options.thread;
    let prepare = move || {
        // The receiver waits for it, so sending can't fail.
        let _ = told.send(thread::prepare(&request).standing());
        Ok(())
    };
    let (bus, ledger) = (Arc::clone(&devices), Arc::clone(&exits));
    let runner = Runner::spawn("processor", processor, bus, ledger, prepare)?;
    let mut standing = standing.recv().unwrap_or_default();
    runner.resume()?;
    let is_late = watch(&runner, &exchange.region, options, &mut standing, look);
    drop(generator);
    let counted = kvm.as_mut().and_then(|kvm| kvm.sample().ok());
    let ended = runner.stop();
    let said = devices.said();
    if is_late {
        return Err(GuestError::Ended { how: "did not end in time".to_owned(), said });
    }
    check_end(ended.ended, &machine, &said)?;
    Ok(Outcome {
        said,
        exits: REASONS.iter().map(|reason| (reason.name(), exits.of(*reason).0)).collect(),
        recent: exits.read().recent(),
        counted,
        granted: machine.granted().words(),
        counter,
        moment,
        board: devices.board.as_ref().map(Board::counts),
        standing,
    })
}

/// Looks at the guest until it has ended. Returns `true` if it did not end in time.
fn watch(
    runner: &Runner,
    region: &Region<'_>,
    options: &Options,
    standing: &mut Standing,
    mut look: impl FnMut(&Region<'_>, u32) -> bool,
) -> bool {
    let mut end = Instant::now() + options.takes + PATIENCE;
    let mut is_told = false;
    while runner.wait(LOOK_EVERY).is_none() {
        let thread = runner.thread_id().unsigned_abs();
        if look(region, thread) && !is_told {
            region.request_stop();
            is_told = true;
            end = Instant::now() + PATIENCE;
        }
        standing.look_again(thread);
        if Instant::now() > end {
            return true;
        }
    }
    false
}

/// A guest that could be started, but for its job.
struct Ready {
    machine: Machine,
    processor: Processor,
    devices: Devices,
    counter: Counter,
    moment: Moment,
}

impl Ready {
    fn new(
        image: Image,
        exchange: &OpenExchange<'_>,
        post: &Arc<Shared>,
        options: &Options,
    ) -> Result<Self, GuestError> {
        let memory = Memory::new(options.memory, true)?;
        let entry = image::load(&memory, &mut Cursor::new(image.bytes()?))?;
        let asked = options::Options { polls: options.polls, ..options::Options::default() };
        let mut machine = Machine::with(memory, &asked)?;
        let bytes = exchange.region.layout().bytes as u64;
        let bytes = bytes.next_multiple_of(places::PAGE_BYTES);
        let shared = Arc::new(Shared::of_file(exchange.file, 0, bytes)?);
        machine.give("exchange", places::EXCHANGE, shared, Access::ReadWrite)?;
        machine.give("post", places::POST, Arc::clone(post), Access::ReadWrite)?;
        let processor = machine.processor(0, entry)?;
        let counter = processor.counter();
        let board = options.board.map(|_| Board::new(&mut machine, counter)).transpose()?;
        let bells = (places::DOORBELLS..).step_by(DOORBELL_BYTES);
        for (bell, vector) in bells.zip(&options.echo) {
            machine.line_of_doorbell(*vector, bell)?;
        }
        let network = options.network.as_ref().map(|network| network_of(network, &machine));
        let moment = counter.moment();
        let board_bytes = if board.is_some() { board::PAGE_BYTES } else { 0 };
        let page = HostPage {
            memory_bytes: options.memory.get(),
            counter_then: moment.counter,
            host_then_ns: moment.host_ns,
            exchange: At { address: places::EXCHANGE, bytes },
            job: At { address: places::POST, bytes: POST_BYTES },
            clock_board: At { address: places::CLOCK_BOARD, bytes: board_bytes },
            ..HostPage::of_counter(counter.hertz())
        };
        image::write_host_page(machine.memory(), &page);
        let devices = Devices::new(board, network.transpose()?);
        Ok(Self { machine, processor, devices, counter, moment })
    }
}

/// Puts a network device in front of the SubDevices.
fn network_of(network: &GuestNetwork, machine: &Machine) -> Result<Net, GuestError> {
    let wait = match &network.line {
        Line::Simulated(_) => Nanos::ZERO,
        Line::Interface { .. } => network.wait,
    };
    let memory = machine.memory().mapping().clone();
    Ok(Net::new(memory, network.line.link()?, net::ADDRESS, Service::AtBell { wait })?)
}

const _: () = assert!(bytes_for(super::job::JOB_BYTES_MAX) as u64 <= POST_BYTES);

fn check_end(ended: Ended, machine: &Machine, said: &str) -> Result<(), GuestError> {
    let how = match ended {
        Ended::Guest(Stopped::Ended(status)) if status == u32::from(port::ENDED) => return Ok(()),
        Ended::Guest(Stopped::Ended(status)) if status == u32::from(port::REFUSED) => {
            "refused its job".to_owned()
        }
        Ended::Guest(Stopped::Shutdown) => "reset itself".to_owned(),
        Ended::Stuck(ProcessorError::Stuck { because: StuckBecause::InternalError, .. }) => {
            return Err(GuestError::Interpreted);
        }
        Ended::Stuck(error) => return Err(error.into()),
        ended => match image::crash_record(machine.memory()) {
            Some(crash) => format!("crashed: {} at {:#x}", crash.what(), crash.instruction),
            None => format!("ended unexpectedly: {ended}"),
        },
    };
    Err(GuestError::Ended { how, said: said.to_owned() })
}
