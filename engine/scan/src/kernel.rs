//! The cycle of a program that is a kernel with tasks of its own: requests to it, and what it tells
//! of its tasks.
//!
//! ```text
//! due                                          until        next release
//!  ├ late ┼ step: tick, then the kernel's tasks ┤── reserve ──┼ margin ┤
//!         started                               └ a signal, if a task still runs
//! ```
//!
//! A task that still runs at `until` goes on in the next step, so the step's execution time is what
//! the kernel used of this cycle, and the watchdog sees no more than that of any task. The kernel's
//! tasks have rows of their own in the exchange, behind that of the leading task, whose thread
//! alone writes them.
//!
//! Bound: some thirty stores a job. The timer is set and stopped in a cycle in which a task runs,
//! which is two system calls in a process, and not in one in which the kernel stays idle. A program
//! that is no kernel pays nothing of it.

use alloc::vec::Vec;
use core::cell::Cell;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release as Published},
};

use quietcore_exchange::com::{Claim, KernelHost, Shelter};
use quietcore_exchange::{
    EventWriter, Happening, Recorder, Region, Release, TaskState, TraceWriter, WritableTask,
};
use quietcore_units::{KernelJob, Nanos};

use crate::change::slot_of;
use crate::job::KernelTask;

/// The part of each period in which the thread sleeps, whatever its tasks still have to do. Linux
/// stops real-time threads that take more than 95 % (`kernel.sched_rt_runtime_us`), for 50 ms at
/// once; a task that runs in all the time that is left would bring that about every second.
const RESERVE_PERCENT: u64 = 10;
/// The part of a deadline that is left for all that follows the step: forces, outputs, statistics.
/// So much of it, …
const FOLLOWING_PERCENT: u64 = 10;
/// … and no more than this.
const FOLLOWING_MAX: Nanos = Nanos::from_micros(50);
/// A cycle that begins late has so much of its period for its step, or a machine that is always
/// late would never get on.
const LEAST_PERCENT: u64 = 10;
/// Errors that are kept before the leading task can tell them: those of `initialize`.
const EARLY_MAX: usize = 16;
/// A task of the kernel has no period that it could be late by.
const NO_PERIOD: Nanos = Nanos::from_secs(3600);
/// The most tries to keep an error that was found while another thread keeps one.
const KEEP_TRIES: u32 = 1000;

/// The surroundings of a kernel's cycle: a process or a guest.
pub trait CycleHost: Sync {
    /// Does something with what is known of the cycle, if the caller is the task that leads.
    fn leading<R>(&self, work: impl FnOnce(&Leading) -> R) -> Option<R>;

    /// Has the program's `interrupt` called at an instant, or never; called by the task that leads.
    fn interrupt_at(&self, instant: Option<Nanos>);

    /// Reads the clock of the cycle.
    fn now(&self) -> Nanos;

    /// Reads the clock where the program can't ask anybody else.
    fn clock(&self) -> Nanos {
        Nanos::ZERO
    }

    /// Keeps the caller from being ended while it uses the rows, which would stay half written.
    fn shelter(&self) -> Shelter;
}

/// The leading task's knowledge of the cycle that it runs.
#[derive(Debug, Default)]
pub struct Leading {
    due: Cell<Nanos>,
    until: Cell<Nanos>,
    /// The number of the cycle, as events bear it.
    cycle: Cell<u64>,
    cpu: Cell<u32>,
    inside: Cell<Inside>,
    /// The due instant of the first cycle of that build: none of its tasks was released before.
    first_due: Cell<Nanos>,
}

impl Leading {
    /// Makes the knowledge of a task that has run no cycle.
    pub const fn new() -> Self {
        Self {
            due: Cell::new(Nanos::ZERO),
            until: Cell::new(Nanos::ZERO),
            cycle: Cell::new(0),
            cpu: Cell::new(0),
            inside: Cell::new(Inside { slot: 0, generation: 0 }),
            first_due: Cell::new(Nanos::ZERO),
        }
    }

    /// Notes that the step of a build is about to run.
    #[inline]
    pub fn enter(&self, build: Inside) {
        if self.inside.replace(build) != build {
            self.first_due.set(self.due.get());
        }
    }
}

/// A build whose step runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// Number of its data slot, 0 or 1.
    pub slot: u8,
    /// Its number in the partition's life; zero for none.
    pub generation: u32,
}

/// The limits from which the time of a cycle's step follows.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Time between two releases.
    pub period: Nanos,
    /// The latest completion after a release.
    pub deadline: Nanos,
    /// The longest that the task wakes before a release.
    pub margin: Nanos,
}

impl Allowance {
    /// Returns the instant at which the step of a cycle that was due at `due` and began at
    /// `started` has to be back.
    pub fn until(&self, due: Nanos, started: Nanos) -> Nanos {
        let reserve = self.period / 100 * RESERVE_PERCENT;
        let following = (self.deadline / 100 * FOLLOWING_PERCENT).min(FOLLOWING_MAX);
        let room = self.period.saturating_sub(self.margin).saturating_sub(reserve);
        let least = started + self.period / 100 * LEAST_PERCENT;
        (due + room.min(self.deadline.saturating_sub(following))).max(least)
    }
}

/// An error that was found outside of the leading thread.
#[derive(Clone, Copy, Debug)]
struct EarlyError {
    task: Option<u32>,
    status: u8,
    service: u8,
}

/// The statistics, events and trace of a task of the kernel.
struct Row<'a> {
    number: u32,
    region: Region<'a>,
    recorder: Recorder<'a>,
    events: EventWriter<'a>,
    trace: Option<TraceWriter<'a>>,
    deadline: Option<Nanos>,
    overruns_in_a_row: u64,
}

/// The cycle that the kernel runs in.
pub struct KernelCycle<'a, G> {
    host: G,
    /// Of the leading task; there are none before it has begun.
    rows: Claim<Vec<Row<'a>>>,
    early: Claim<Vec<EarlyError>>,
    early_count: AtomicU32,
}

impl<'a, G: CycleHost> KernelCycle<'a, G> {
    /// Makes a cycle that runs on `host`, without rows.
    pub fn new(host: G) -> Self {
        Self {
            host,
            rows: Claim::new(Vec::new()),
            early: Claim::new(Vec::with_capacity(EARLY_MAX)),
            early_count: AtomicU32::new(0),
        }
    }

    /// Returns the surroundings in which it runs.
    pub fn host(&self) -> &G {
        &self.host
    }

    /// Gives it a row for each task, to be used by the task that leads; `take_over` is
    /// [`Recorder::new`], or [`Recorder::of_clear`]. `None` when the region has no place for one.
    pub fn open_rows(
        &self,
        region: Region<'a>,
        take_over: impl Fn(WritableTask<'a>, Nanos, u64) -> Recorder<'a>,
        tasks: &[KernelTask],
        first_row: u32,
        slot_cycles: u64,
        thread_id: u32,
    ) -> Option<()> {
        let mut rows = Vec::with_capacity(tasks.len());
        for (number, task) in (first_row..).zip(tasks) {
            let mut recorder = take_over(region.task(number)?, NO_PERIOD, slot_cycles);
            recorder.set_thread_id(thread_id);
            rows.push(Row {
                number,
                region,
                recorder,
                events: region.event_writer(number)?,
                trace: region.trace_writer(number),
                deadline: task.deadline,
                overruns_in_a_row: 0,
            });
        }
        self.rows.with(|place| *place = rows)
    }

    /// Writes into the rows how the tasks ended.
    pub fn end(&self, state: TaskState) {
        self.with_rows(|rows| rows.iter_mut().for_each(|row| row.recorder.set_state(state)));
    }

    /// Begins the statistics that count, with the leading task's release at `due`.
    pub fn measure(&self, due: Nanos) {
        // The cycles that clearing took are ticks, and no job of theirs was late by itself.
        self.host.leading(|lead| lead.first_due.set(lead.first_due.get().max(due)));
        self.with_rows(|rows| {
            for row in rows {
                row.recorder.set_first_release(due);
                row.recorder.set_state(TaskState::Running);
            }
        });
    }

    /// Forgets all jobs so far, as after a warm-up.
    pub fn forget(&self) {
        self.with_rows(|rows| rows.iter_mut().for_each(|row| row.recorder.clear()));
    }

    /// Begins cycle number `cycle`.
    #[inline]
    pub fn begin_cycle(&self, release: &Release, cycle: u64, allowance: &Allowance) {
        self.host.leading(|lead| {
            lead.due.set(release.due);
            lead.until.set(allowance.until(release.due, release.started));
            lead.cycle.set(cycle);
            lead.cpu.set(release.cpu);
            if self.early_count.load(Acquire) > 0 {
                self.tell_early(lead);
            }
            // Not where a job ends: that is on the stack of its task. Before the first step nobody
            // knows for which build.
            let Inside { generation, .. } = lead.inside.get();
            if generation == 0 {
                return;
            }
            self.with_rows(|rows| {
                let traces = rows.iter_mut().filter_map(|row| row.trace.as_mut());
                traces.for_each(|trace| trace.look(generation));
            });
        });
    }

    /// Tells what was found before the leading task ran, or beside it.
    #[cold]
    fn tell_early(&self, lead: &Leading) {
        let now = self.host.now();
        self.early.with(|early| {
            self.early_count.store(0, Relaxed);
            for error in early.drain(..) {
                self.with_rows(|rows| tell(lead, rows, error, now));
            }
        });
    }

    /// Keeps what was found outside of the leading task, while there is room.
    fn keep(&self, error: EarlyError) {
        let keep = |early: &mut Vec<EarlyError>| {
            if early.len() < EARLY_MAX {
                early.push(error);
                self.early_count.store(early.len() as u32, Published);
            }
        };
        for _ in 0..KEEP_TRIES {
            if self.early.with(keep).is_some() {
                return;
            }
            core::hint::spin_loop();
        }
    }

    /// Uses the rows; nobody else does so at the same time.
    fn with_rows(&self, work: impl FnOnce(&mut [Row<'a>])) {
        let _ = self.rows.with(|rows| work(rows));
    }

    /// Uses the rows in the leading task.
    fn in_shelter(&self, work: impl FnOnce(&mut [Row<'a>])) {
        self.host.shelter().hold(|| self.with_rows(work));
    }
}

fn tell(lead: &Leading, rows: &mut [Row<'_>], error: EarlyError, now: Nanos) {
    let EarlyError { task, status, service } = error;
    let of_task = task.and_then(|task| usize::try_from(task).ok());
    // One that no task is to blame for stands in the first row's ring, for the leading task.
    let index = of_task.filter(|task| *task < rows.len());
    let Some(row) = rows.get_mut(index.unwrap_or(0)) else { return };
    let number = if index.is_some() { row.number } else { 0 };
    let what = Happening::KernelError { task, status, service };
    row.events.tell(lead.cycle.get(), now, number, what);
}

fn record(lead: &Leading, rows: &mut [Row<'_>], job: &KernelJob) {
    let row = usize::try_from(job.task).ok().and_then(|task| rows.get_mut(task));
    let Some(row) = row else { return };
    let [released, started, finished] =
        [job.released_ns, job.started_ns, job.finished_ns].map(Nanos::new);
    // What starts by itself does so while the build is loaded, and is due when its cycles begin.
    let released = released.max(lead.first_due.get());
    let response = finished.saturating_sub(released);
    let overrun = row.deadline.is_some_and(|deadline| response > deadline);
    let release = Release::unawaited(released, started, lead.cpu.get());
    let Inside { slot, generation } = lead.inside.get();
    if let Some(trace) = &mut row.trace
        && let Some(data) = row.region.writable_data(slot_of(slot))
    {
        // The trace of a task counts its jobs.
        trace.take(row.recorder.counters().cycles, started, &data, generation);
    }
    row.recorder.record_scan(&release, Nanos::new(job.execution_ns), response, overrun);
    row.overruns_in_a_row = if overrun { row.overruns_in_a_row + 1 } else { 0 };
    if overrun {
        let (response_ns, in_a_row) = (response.get(), row.overruns_in_a_row);
        let what = Happening::Overrun { response_ns, in_a_row };
        row.events.tell(lead.cycle.get(), finished, row.number, what);
    }
}

impl<G: CycleHost> KernelHost for KernelCycle<'_, G> {
    fn due(&self) -> Nanos {
        self.host.leading(|lead| lead.due.get()).unwrap_or_default()
    }

    fn until(&self) -> Nanos {
        self.host.leading(|lead| lead.until.get()).unwrap_or_default()
    }

    fn interrupt_at(&self, instant: Option<Nanos>) {
        self.host.interrupt_at(instant);
    }

    fn note_job(&self, job: &KernelJob) {
        self.host.leading(|lead| self.in_shelter(|rows| record(lead, rows, job)));
    }

    fn note_error(&self, task: Option<u32>, status: u8, service: u8) {
        let error = EarlyError { task, status, service };
        let now = self.host.now();
        let told = self.host.leading(|lead| self.in_shelter(|rows| tell(lead, rows, error, now)));
        if told.is_none() {
            self.host.shelter().hold(|| self.keep(error));
        }
    }

    fn clock(&self) -> Nanos {
        self.host.clock()
    }
}

impl<G> core::fmt::Debug for KernelCycle<'_, G> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KernelCycle").finish_non_exhaustive()
    }
}
