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
use quietcore_boot::{HostPage, Place as At, board, places, port};
use quietcore_exchange::Region;
use quietcore_guests::{Image, Missing};
use quietcore_microvm::board::{Board, BoardCounts, BoardError};
use quietcore_microvm::counter::{Counter, Moment};
use quietcore_microvm::exits::statistics::Sample;
use quietcore_microvm::exits::{Exit, Exits, REASONS};
use quietcore_microvm::image::{self, ImageError};
use quietcore_microvm::machine::{Machine, MachineError};
use quietcore_microvm::memory::{Memory, MemoryError};
use quietcore_microvm::options;
use quietcore_microvm::processor::{Processor, ProcessorError, Stopped, StuckBecause};
use quietcore_microvm::runner::{Ended, Runner, RunnerError};
use quietcore_microvm::slot::{Access, Shared, SharedError};
use quietcore_process::exchange::Exchange;
use quietcore_process::setting;
use quietcore_units::ByteSize;

use super::devices::Devices;
use super::job::DOORBELL_BYTES;
use crate::thread::{self as measuring, Place, Standing};

/// Time between two looks at the exchange.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Room for the job.
const POST_BYTES: u64 = 8192;
/// How long beyond its time a guest may go on before it is stopped.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a guest is run with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its own memory.
    pub memory: ByteSize,
    /// Where its processor's thread runs, and how.
    pub place: Place,
    /// The same of the clock board's; `None` for a guest without one.
    pub board: Option<Place>,
    /// Its processor shall not be left for what a guest does that waits.
    pub polls: bool,
    /// How long it takes; it is stopped some time after.
    pub takes: Duration,
    /// A write to a doorbell of the guest raises the vector that stands at its place here, without
    /// this process.
    pub echo: Vec<u8>,
}

/// What came of a guest that ended as it should.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What it said.
    pub said: String,
    /// How often its processor was left for this process, by reason.
    pub exits: Vec<(&'static str, u64)>,
    /// What of the instructions that wait stays in the guest, in words.
    pub granted: String,
    /// The last exits to this process, one by one.
    pub recent: Vec<Exit>,
    /// What KVM counted of its processor; `None` where this kernel does not tell.
    pub counted: Option<Sample>,
    /// Its time stamp counter, …
    pub counter: Counter,
    /// … and an instant by it and by the monotonic clock, from which both are counted.
    pub moment: Moment,
    /// What its clock board did.
    pub board: Option<BoardCounts>,
    /// What held for the processor's thread.
    pub standing: Standing,
}

impl Outcome {
    /// The exits in words.
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

/// Why a guest did not run, or did not end as it should.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// This build has no image.
    #[error(transparent)]
    Image(#[from] Missing),
    /// There is no memory for it.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Memory can't be shared with it.
    #[error(transparent)]
    Shared(#[from] SharedError),
    /// The image can't be started.
    #[error(transparent)]
    Start(#[from] ImageError),
    /// There is no machine.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// There is no processor, or it does not go on.
    #[error(transparent)]
    Processor(#[from] ProcessorError),
    /// There is no clock board.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The exchange can't be given to it, or a thread can't be had.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The job is too long.
    #[error(transparent)]
    Job(#[from] NotPosted),
    /// There is no thread for its processor.
    #[error(transparent)]
    Thread(#[from] RunnerError),
    /// KVM interprets its guests, and knows too few instructions.
    #[error(
        "this machine's KVM interprets its guests and stopped at an instruction that it does not \
         know; see `quietcore doctor` on guests under KVM"
    )]
    Interpreted,
    /// It ended in another way than it should have.
    #[error("the guest {how}{}", with_said(.said))]
    Ended {
        /// How.
        how: String,
        /// What it said.
        said: String,
    },
}

fn with_said(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {}", said.trim_end()) }
}

/// Runs an image with a job until its end. Its exchange is `exchange`. `look` is called now and
/// then meanwhile, with the number of the processor's thread; where it returns true, the guest is
/// asked to end.
///
/// # Errors
/// [`GuestError`]; what the operating system refuses of the threads' settings is none, but told in
/// [`Standing`].
pub fn run_image(
    image: Image,
    job: &[u8],
    exchange: &Exchange,
    options: &Options,
    look: impl FnMut(&Region<'_>, u32) -> bool,
) -> Result<Outcome, GuestError> {
    let post = Arc::new(Shared::create("quietcore-post", ByteSize::new(POST_BYTES))?);
    let Ready { machine, processor, devices, counter, moment } =
        Ready::new(image, exchange, &post, options)?;
    let devices = Arc::new(devices);
    Poster::new(post.words()).ok_or(NotPosted::Full)?.post(job)?;
    let generator = match (&devices.board, options.board) {
        (Some(board), Some(place)) => Some(board.start(move || settle(place))?),
        _ => None,
    };
    let (exits, mut kvm) = (Arc::new(Exits::default()), processor.statistics().ok());
    let (told, standing) = std::sync::mpsc::sync_channel(1);
    let place = options.place;
    let prepare = move || {
        // Who is told waits for it.
        let _ = told.send(measuring::prepare(place));
        Ok(())
    };
    let (bus, ledger) = (Arc::clone(&devices), Arc::clone(&exits));
    let runner = Runner::spawn("processor", processor, bus, ledger, prepare)?;
    let mut standing = standing.recv().unwrap_or_default();
    runner.resume()?;
    let is_late = watch(&runner, &exchange.region(), options, &mut standing, look);
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

/// Looks at the guest until it has ended. Returns whether it did not do so in time.
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

/// A guest that can be started but for its job.
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
        exchange: &Exchange,
        post: &Arc<Shared>,
        options: &Options,
    ) -> Result<Self, GuestError> {
        let memory = Memory::new(options.memory, true)?;
        let entry = image::load(&memory, &mut Cursor::new(image.bytes()?))?;
        let asked = options::Options { polls: options.polls, ..options::Options::default() };
        let mut machine = Machine::with(memory, &asked)?;
        let bytes = exchange.region().layout().bytes as u64;
        let bytes = bytes.next_multiple_of(places::PAGE_BYTES);
        let shared = Arc::new(Shared::of_file(&exchange.file()?, 0, bytes)?);
        machine.give("exchange", places::EXCHANGE, shared, Access::ReadWrite)?;
        machine.give("post", places::POST, Arc::clone(post), Access::ReadWrite)?;
        let processor = machine.processor(0, entry)?;
        let counter = processor.counter();
        let board = options.board.map(|_| Board::new(&mut machine, counter)).transpose()?;
        let bells = (places::DOORBELLS..).step_by(DOORBELL_BYTES);
        for (bell, vector) in bells.zip(&options.echo) {
            machine.line_of_doorbell(*vector, bell)?;
        }
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
        Ok(Self { machine, processor, devices: Devices::new(board), counter, moment })
    }
}

const _: () = assert!(bytes_for(super::job::JOB_BYTES_MAX) as u64 <= POST_BYTES);

/// Settings of the clock board's thread. What is refused makes interrupts come late, and a late
/// interrupt is no longer response: the board counts from when it was raised.
fn settle(place: Place) {
    if let Some(cpu) = place.cpu {
        let _ = setting::pin(cpu);
    }
    let _ = setting::drop_timer_slack();
    let _ = setting::schedule(place.policy);
}

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
