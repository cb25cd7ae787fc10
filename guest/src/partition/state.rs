//! The state that the tasks of a partition share, and the work of each of them.
// UNSAFETY: shared by contexts that no type of Rust keeps apart: one processor runs all of them,
// and what is not atomic is used by one of them, as is said there.
#![expect(unsafe_code, reason = "who makes the state says who uses it")]

use alloc::boxed::Box;
use core::cell::{Cell, RefCell};
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release as Published},
};

use quietcore_boot::LateReleases;
use quietcore_boot::post::{Bell, Taker};
use quietcore_exchange::com::ComTable;
use quietcore_exchange::{Recorder, Region, Release, SLOT_COUNT, TaskState};
use quietcore_release::Margin;
use quietcore_scan::change::Builds;
use quietcore_scan::follower::Follower;
use quietcore_scan::guest::job::{GuestJob, GuestTask};
use quietcore_scan::kernel::Allowance;
use quietcore_scan::leader::Leader;
use quietcore_scan::program::{Build, Fieldbus};
use quietcore_scan::release::Waiting;
use quietcore_scan::running::{self, Plan};
use quietcore_scan::shared::Shared;
use quietcore_scan::task::{Task, TaskSettings};
use quietcore_scan::watchdog::Watchdog;
use quietcore_units::{Nanos, Wake};

use crate::clock::Clock;
use crate::host;
use crate::partition::board::{self, TaskClock};
use crate::partition::kernel::KernelCycle;
use crate::partition::late::Late;
use crate::partition::program::{Loaded, Loader};
use crate::partition::{LEADER, LOADER};

/// Releases to a stretch of the time line where there is no end.
const ENDLESS_SLOT_CYCLES: u64 = 1 << 32;
/// A task without a period of its own is late by no period.
const NO_PERIOD: Nanos = Nanos::from_secs(3600);
/// The margin of a task that polls: the idle loop hands over so long before the release, and the
/// task itself looks at the clock for the rest.
const POLLING_MARGIN: Nanos = Nanos::from_micros(10);
/// It is no longer than this part of the period.
const POLLING_PART: u64 = 10;

/// The state of a partition that its tasks share.
pub(crate) struct PartitionState {
    pub(crate) job: GuestJob,
    pub(crate) region: Region<'static>,
    pub(crate) clock: Clock,
    pub(crate) shared: Shared,
    /// The builds in the two slots. A task has them only within a cycle, and the loader, which is
    /// below all of them and runs when none is in one, changes them.
    slots: [AtomicPtr<Build<Loaded>>; 2],
    pub(crate) table: &'static ComTable<'static>,
    /// Of a program that is a kernel.
    kernel: Option<&'static KernelCycle>,
    /// Time that its step may take. Used by the leading task.
    allowance: Cell<Option<Allowance>>,
    /// Used by the loader alone.
    pub(crate) loader: Loader,
    /// Used by the loader alone.
    pub(crate) post: RefCell<Taker<'static>>,
    bell: Bell<'static>,
    /// Not zero if the host must leave the free slot as it is.
    keeps: &'static AtomicU64,
    /// The loader's, and the leading task's when that begins.
    pub(crate) fieldbus: Cell<Option<Box<dyn Fieldbus>>>,
    start: AtomicU64,
    is_measuring: AtomicBool,
    is_done: AtomicBool,
    late: Late,
}

// SAFETY: see above.
unsafe impl Sync for PartitionState {}

static HALL: AtomicPtr<PartitionState> = AtomicPtr::new(ptr::null_mut());

/// Returns the state of this partition, once it is open.
pub(crate) fn state() -> &'static PartitionState {
    // SAFETY: null, or what `open` leaked.
    let state = unsafe { HALL.load(Acquire).as_ref() };
    state.expect("tasks begin after the state was opened")
}

impl PartitionState {
    /// A state without builds.
    pub(crate) fn new(
        job: GuestJob,
        region: Region<'static>,
        clock: Clock,
        table: &'static ComTable<'static>,
        kernel: Option<&'static KernelCycle>,
        loader: Loader,
        post: Taker<'static>,
    ) -> Self {
        Self {
            late: Late::new(job.late_beyond),
            region,
            clock,
            shared: Shared::default(),
            slots: [const { AtomicPtr::new(ptr::null_mut()) }; 2],
            table,
            kernel,
            allowance: Cell::new(None),
            loader,
            bell: post.bell(),
            keeps: post.keeps(),
            post: RefCell::new(post),
            fieldbus: Cell::new(None),
            start: AtomicU64::new(0),
            is_measuring: AtomicBool::new(false),
            is_done: AtomicBool::new(false),
            job,
        }
    }

    /// Makes it the one that all tasks use.
    pub(crate) fn open(self) {
        HALL.store(Box::into_raw(Box::new(self)), Published);
    }

    /// Returns `true` if the leading task has ended.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done.load(Acquire)
    }

    /// Puts a build into a slot, or none; returns what was there. For the loader.
    pub(crate) fn put(
        &self,
        slot: u8,
        build: Option<Box<Build<Loaded>>>,
    ) -> Option<Box<Build<Loaded>>> {
        let place = &self.slots[usize::from(slot & 1)];
        let was = place.swap(build.map_or(ptr::null_mut(), Box::into_raw), Published);
        // SAFETY: null, or a box that was put in; no task has it, for none is within a cycle while
        // the loader runs.
        (!was.is_null()).then(|| unsafe { Box::from_raw(was) })
    }

    /// The instant from which all tasks take their releases.
    pub(crate) fn set_start(&self, start: Nanos) {
        self.start.store(start.get(), Relaxed);
    }

    fn start(&self) -> Nanos {
        Nanos::new(self.start.load(Relaxed))
    }

    fn stop(&self) -> bool {
        if self.bell.rings() {
            board::wake(1 << LOADER);
        }
        self.region.stop_requested() || self.is_done()
    }

    /// Releases to a stretch of the time line.
    fn slot_cycles(&self) -> u64 {
        match self.job.cycles {
            Some(cycles) => cycles.div_ceil(SLOT_COUNT as u64),
            None => ENDLESS_SLOT_CYCLES,
        }
    }

    /// Gives the tasks of a kernel their rows, behind those of the partition's.
    fn open_rows(&self) -> Option<()> {
        let Some(kernel) = self.kernel else { return Some(()) };
        let (tasks, first) = (&self.job.kernel_tasks, self.job.tasks.len() as u32);
        let (slots, thread_id) = (self.slot_cycles(), self.job.thread_id);
        kernel.open_rows(self.region, Recorder::of_clear, tasks, first, slots, thread_id)
    }

    /// Makes what a task's cycle needs.
    fn prepare(&self, index: usize, job: &GuestTask) -> Option<Task<'static>> {
        let number = index as u32;
        let period = job.release.period().unwrap_or(NO_PERIOD);
        let slots = self.slot_cycles();
        let mut recorder = Recorder::of_clear(self.region.task(number)?, period, slots);
        recorder.set_thread_id(self.job.thread_id);
        let settings = TaskSettings {
            index,
            rate: job.rate,
            deadline: job.deadline,
            watchdog: Watchdog::new(job.watchdog, job.sensitivity),
            stop_beyond: job.overrun.stop_beyond(job.release),
        };
        let events = self.region.event_writer(number)?;
        Some(Task::new(settings, recorder, events, self.region.trace_writer(number)))
    }

    fn plan(&self, job: &GuestTask) -> Plan {
        Plan {
            release: job.release,
            overrun: job.overrun,
            warm_up_cycles: self.job.warm_up_cycles,
            cycles: self.job.cycles,
        }
    }

    fn waiting<'c>(
        &self,
        clock: &'c TaskClock,
        index: usize,
        job: &GuestTask,
    ) -> Waiting<'c, TaskClock> {
        let period = job.release.interval();
        let wake = match job.wake {
            Wake::Spin => Wake::Early { margin: POLLING_MARGIN.min(period / POLLING_PART) },
            other => other,
        };
        let margin = Margin::new(wake, period);
        Waiting::new(clock, job.release, index, margin, Some(self.job.cpu), self.start())
    }
}

/// Runs the leading task until it ends.
pub(crate) fn lead() {
    let state = state();
    let job = &state.job.tasks[LEADER];
    let clock = TaskClock::new(LEADER, state.job.cpu);
    let fieldbus = state.fieldbus.take();
    let first = &state.job.build.stage;
    let leader = state.open_rows().and_then(|()| state.prepare(LEADER, job)).and_then(|task| {
        let (on_fault, probation) = (state.job.on_fault, state.job.probation_cycles);
        let fieldbus = fieldbus.expect("the loader brings one up before this task begins");
        Leader::new(task, state.region, fieldbus, on_fault, probation, first, &state.shared)
    });
    let Some(mut leader) = leader else {
        running::TaskHost::end(state, TaskState::Stopped);
        return;
    };
    let mut waiting = state.waiting(&clock, LEADER, job);
    let (period, deadline, margin) = (job.release.interval(), job.deadline, waiting.margin_max());
    state.allowance.set(Some(Allowance { period, deadline, margin }));
    running::lead(state, &mut leader, &mut waiting, &state.plan(job), state.start());
}

/// Runs any other task until it ends.
pub(crate) fn follow(index: usize) {
    let state = state();
    let Some(job) = state.job.tasks.get(index) else { return };
    let clock = TaskClock::new(index, state.job.cpu);
    if let Some(task) = state.prepare(index, job) {
        let mut follower = Follower::new(task, state.region);
        let mut waiting = state.waiting(&clock, index, job);
        running::follow(state, &mut follower, &mut waiting, &state.plan(job));
    }
}

/// Tells the host what there is to be told of the task that runs.
#[cold]
fn tell_late(late: impl FnOnce(usize) -> Option<LateReleases>) {
    if let Some(late) = board::running_context().and_then(late) {
        host::tell_late(&late);
    }
}

impl running::TaskHost for PartitionState {
    type Program = Loaded;

    fn shared(&self) -> &Shared {
        &self.shared
    }

    #[inline]
    fn now(&self) -> Nanos {
        Nanos::new(board::now())
    }

    fn stops(&self) -> bool {
        self.stop()
    }

    fn pauses(&self) -> bool {
        self.region.pause_requested()
    }

    #[inline]
    fn with_builds<R>(&self, work: impl FnOnce(&Builds<'_, Loaded>) -> R) -> R {
        // SAFETY: null, or a box that the loader takes out only while no task is within a cycle.
        let builds = self.slots.each_ref().map(|slot| unsafe { slot.load(Acquire).as_ref() });
        let result = work(&builds);
        // Only the leading task changes it: what another one has read may be of the cycle before.
        if board::leader_runs() {
            // Before the swap is told: who hears of that may put the next build there.
            self.keeps.store(self.shared.is_on_probation().into(), Relaxed);
        }
        result
    }

    fn wake(&self, fired: u32) {
        board::wake(fired);
    }

    fn begin(&self, start: Nanos) {
        self.table.begin(start);
    }

    #[inline]
    fn begin_cycle(&self, release: &Release, cycle: u64) {
        self.table.begin_cycle(release.started);
        if let (Some(kernel), Some(allowance)) = (self.kernel, self.allowance.get()) {
            kernel.begin_cycle(release, cycle, &allowance);
        }
    }

    #[inline]
    fn released(&self, number: u64, release: &Release) {
        if self.late.is_late(release) {
            tell_late(|task| Some(self.late.one(task, number, release)));
        }
    }

    fn skipped(&self, period: Nanos, count: u64) {
        tell_late(|task| self.late.passed(task, period, count));
    }

    fn measure(&self, due: Nanos) {
        self.kernel.inspect(|kernel| kernel.measure(due));
        self.is_measuring.store(true, Relaxed);
    }

    fn measures(&self) -> bool {
        self.is_measuring.load(Relaxed)
    }

    fn forget(&self) {
        self.kernel.inspect(|kernel| kernel.forget());
    }

    fn end(&self, state: TaskState) {
        self.kernel.inspect(|kernel| kernel.end(state));
        self.is_done.store(true, Published);
        let followers = (1_u32 << self.job.tasks.len()) - 2;
        board::wake(followers | 1 << LOADER);
    }

    fn yield_now(&self) {
        // A task that does not lead never finds a swap: it would have preempted the leading task.
    }
}
