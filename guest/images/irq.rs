//! The image of the probe `irq`: what an interrupt of the clock board takes until its ISR runs, and
//! from there until the task that it activates does.
//!
//! ```text
//! host: counter ─► event file ─► KVM ─► entry ─► kernel ─► ISR ─► ActivateTask ─► task
//!          └───────── interrupt response ───────────────────┘ │        │           │
//!          └───────── the same by the board's register ────────┘       └── switch ──┘
//! ```
//!
//! In the statistics the interrupt response is the release latency, what the register said the
//! wake-up latency, the switch the execution time, and both together the response time.
// UNSAFETY: the boot calls this image by a name, and its task keeps what lives for ever.

#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "an image begins with a function that the boot calls by its name")]

use core::cell::UnsafeCell;
use core::fmt::Write as _;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use quietcore_boot::board::{Raised, UNIT_NS, VECTOR};
use quietcore_boot::port;
use quietcore_exchange::{Recorder, Region, Release, SLOT_COUNT, TaskState};
use quietcore_guest::board::Board;
use quietcore_guest::clock::Clock;
use quietcore_guest::host;
use quietcore_guest::kernel::{self, Processor, SOURCE_VECTOR};
use quietcore_guest::probing::{Begin, begin, counter};
use quietcore_osek::configuration::{Class, Configuration, Isr, Kind, Task};
use quietcore_osek::port::bare::Bare;
use quietcore_osek::system::System;
use quietcore_probe::guest::job::IrqJob;
use quietcore_units::Nanos;

/// The task that the ISR activates.
const RESPONDER: u8 = 0;

const _: () = assert!(VECTOR == SOURCE_VECTOR, "the board's interrupt is that of source 0");

// SAFETY: nobody but the kernel's machine calls the methods that are the machine's.
static SYSTEM: System<Bare<Processor>> = unsafe { System::new(Bare::new(Processor::new())) };

/// The number that the ISR leaves for its task.
static NUMBER: AtomicU64 = AtomicU64::new(0);
static RAISED: AtomicU64 = AtomicU64::new(0);
static ENTERED: AtomicU64 = AtomicU64::new(0);
static LEFT: AtomicU64 = AtomicU64::new(0);
static REGISTER: AtomicU32 = AtomicU32::new(0);
/// The task is at work with them. An interrupt that comes then is left out, and its number misses.
static BUSY: AtomicBool = AtomicBool::new(false);

/// State of the task, which is there before the kernel starts.
struct Desk(UnsafeCell<Option<InterruptMeasurement>>);

// SAFETY: written before the kernel starts, and then used by one task, which is never preempted by
// itself.
unsafe impl Sync for Desk {}

static DESK: Desk = Desk(UnsafeCell::new(None));

/// The board, for the ISR, which uses nothing else of the desk.
struct BoardCell(UnsafeCell<Option<Board>>);

// SAFETY: written before the kernel starts, and then only read.
unsafe impl Sync for BoardCell {}

static BOARD: BoardCell = BoardCell(UnsafeCell::new(None));

struct InterruptMeasurement {
    clock: Clock,
    recorder: Recorder<'static>,
    region: Region<'static>,
    job: IrqJob,
    taken: u64,
    last: u64,
    measures: bool,
}

const fn task(entry: extern "C" fn(), priority: u8, autostart: u32) -> Task {
    Task {
        entry,
        events: 0,
        budget_ns: 0,
        inter_arrival_ns: 0,
        autostart,
        stack_bytes: 16 << 10,
        priority,
        running_level: priority,
        activations: 1,
        kind: Kind::Basic,
    }
}

static TASKS: [Task; 2] = [task(respond, 2, 0), task(switch_on, 1, 1)];
static ISRS: [Isr; 1] = [Isr { entry: interrupt, source: 0, level: 2, category: 2 }];
static CONFIGURATION: Configuration<'static> =
    Configuration { class: Class::Bcc1, tasks: &TASKS, isrs: &ISRS, ..Configuration::EMPTY };

fn board() -> Option<&'static Board> {
    // SAFETY: only read from the kernel's start on.
    unsafe { (*BOARD.0.get()).as_ref() }
}

/// The ISR: the reading of the counter is its first statement, the board's register its second.
extern "C" fn interrupt() {
    let entered = counter();
    let Some((board, raised)) = board().and_then(|board| Some((board, board.last()?))) else {
        return;
    };
    // A board whose next interrupt was raised meanwhile says nothing more of the one entered here.
    if BUSY.load(Relaxed) || raised.counter > entered {
        return;
    }
    BUSY.store(true, Relaxed);
    REGISTER.store(board.register().unwrap_or(0), Relaxed);
    ENTERED.store(entered, Relaxed);
    RAISED.store(raised.counter, Relaxed);
    NUMBER.store(raised.number, Relaxed);
    LEFT.store(counter(), Relaxed);
    // The task of the one before may be about to end: then this one is left out, too.
    if SYSTEM.activate_task(RESPONDER).is_err() {
        BUSY.store(false, Relaxed);
    }
}

/// The task that the ISR activates: the reading of the counter is its first statement.
extern "C" fn respond() {
    let ran = counter();
    // SAFETY: the only one who uses it from the kernel's start on.
    if let Some(work) = unsafe { (*DESK.0.get()).as_mut() } {
        work.take(ran);
    }
    BUSY.store(false, Relaxed);
    let _ = SYSTEM.terminate_task();
}

/// Switches the board on, once the kernel runs.
extern "C" fn switch_on() {
    if let Some(board) = board() {
        board.switch(true);
    }
    let _ = SYSTEM.terminate_task();
}

impl InterruptMeasurement {
    /// Takes one interrupt down.
    fn take(&mut self, ran: u64) {
        let raised = Raised { number: NUMBER.load(Relaxed), counter: RAISED.load(Relaxed) };
        if raised.number <= self.last {
            // It came while the statistics were being cleared.
            return;
        }
        let left_out = raised.number - self.last - 1;
        self.last = raised.number;
        self.taken += 1;
        let due = self.at(raised.counter);
        let entered = self.at(ENTERED.load(Relaxed));
        let wakeup_latency = Nanos::new(u64::from(REGISTER.load(Relaxed)) * UNIT_NS);
        let interrupt = Release { wakeup_latency, ..Release::unawaited(due, entered, 0) };
        let switch = self.at(ran).saturating_sub(self.at(LEFT.load(Relaxed)));
        let response = self.at(ran).saturating_sub(due);
        self.recorder.record_scan(&interrupt, switch, response, false);
        if self.measures && left_out > 0 {
            self.recorder.note_skipped_releases(left_out);
        }
        if self.region.stop_requested() {
            self.end(TaskState::Stopped);
        }
        if !self.measures && self.taken >= self.job.warm_up {
            self.begin();
        } else if self.measures && self.taken >= self.job.interrupts {
            self.end(TaskState::Finished);
        }
    }

    /// Forgets the warm-up. Interrupts that come meanwhile are not measured.
    fn begin(&mut self) {
        self.recorder.clear();
        self.recorder.set_first_release(self.at(counter()));
        self.recorder.set_state(TaskState::Running);
        self.last = board().and_then(Board::last).map_or(self.last, |raised| raised.number);
        (self.taken, self.measures) = (0, true);
    }

    fn end(&mut self, state: TaskState) {
        if let Some(board) = board() {
            board.switch(false);
        }
        self.recorder.set_state(state);
        SYSTEM.shut_down(port::ENDED);
    }

    fn at(&self, counter: u64) -> Nanos {
        Nanos::new(self.clock.at(counter))
    }
}

#[unsafe(no_mangle)]
extern "C" fn quietcore_guest_main() -> u8 {
    match prepare() {
        Err(status) => status,
        Ok(host) => {
            // SAFETY: the image begins here, once, with interrupts off.
            let refused = unsafe { kernel::run(&SYSTEM, &CONFIGURATION, 0, &host) };
            let _ = writeln!(host::Console, "{refused:?}");
            port::REFUSED
        }
    }
}

fn prepare() -> Result<quietcore_boot::HostPage, u8> {
    let Begin { host, job, region } = begin::<IrqJob>()?;
    let task = region.task(0);
    // SAFETY: once, with interrupts off; this guest has no programs.
    let Some((board, task)) = unsafe { Board::attach(&host) }.zip(task) else {
        let _ = writeln!(host::Console, "there is no clock board, or no statistics");
        return Err(port::REFUSED);
    };
    if board.set_period(job.period).is_err() {
        let _ = writeln!(host::Console, "the clock board has no such period: {}", job.period);
        return Err(port::REFUSED);
    }
    let period = Nanos::new(u64::from(job.period) * UNIT_NS);
    let recorder = Recorder::new(task, period, job.interrupts.div_ceil(SLOT_COUNT as u64));
    let (taken, last) = (0, 0);
    let work = InterruptMeasurement {
        clock: Clock::new(&host),
        recorder,
        region,
        job,
        taken,
        last,
        measures: false,
    };
    // SAFETY: the kernel has not started, so that nobody uses it yet.
    unsafe { *DESK.0.get() = Some(work) };
    // SAFETY: as above.
    unsafe { *BOARD.0.get() = Some(board) };
    Ok(host)
}
