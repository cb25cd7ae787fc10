//! The processor of a partition: the kernel that its tasks run under, the one timer, interrupts.
//!
//! ```text
//! timer, attention ─► entry ─► calls over their time ─► tasks that are due
//!                                                         └► ISR: their events ─► the highest runs
//! ```
//!
//! The kernel has no tick: it is told of releases by events. What a cycle costs of exits is said in
//! `releases`. Registers of floating-point arithmetic are put away only where an interrupt leads
//! from a call into the program to another task: nothing else of a guest has such registers.
// UNSAFETY: lets interrupts in, and shares the machine with their entries.
#![expect(unsafe_code, reason = "interrupts are let in by instructions of their own")]

use core::arch::asm;
use core::cell::Cell;
use core::fmt::Write as _;
use core::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use quietcore_boot::vector::ATTENTION;
use quietcore_clock::Clock as ClockTrait;
use quietcore_osek::configuration::Configuration;
use quietcore_osek::port::Fault;
use quietcore_osek::port::bare::{Arrival, Bare, Board, Refused, Stack};
use quietcore_osek::system::System;
use quietcore_scan::release::Rest;
use quietcore_units::{KernelJob, Nanos};

use crate::apic::{Apic, SPURIOUS_VECTOR, TIMER_VECTOR};
use crate::clock::Clock;
use crate::interrupts::{self, Interrupted, without_interrupts};
use crate::partition::calls::{self, begin_interrupt, end_interrupt, interrupt_leader};
use crate::partition::releases::{Mode, NEVER, Releases};
use crate::partition::{CONTEXTS, LEADER, LOADER};
use crate::{exceptions, host, xen};

/// Largest time by which the timer may go off early, in ns: it was set by the pair of counter and
/// time that was in use then, and with the next one, 20 ms later, it may be another instant.
const EARLY_NS: u64 = 10_000;
/// The event by which a task goes on.
const GO_ON: u64 = 1;
/// The source of the ISR that sets it.
pub(crate) const RELEASE_SOURCE: u32 = 0;
/// A context's task that is not known yet.
const NO_TASK: u32 = u32::MAX;

/// The processor as the kernel's port sees it.
#[derive(Debug)]
pub(crate) struct Processor {
    apic: Cell<Option<Apic>>,
}

// SAFETY: there is one processor, and what it is was said before interrupts were let in.
unsafe impl Sync for Processor {}

static PROCESSOR: Processor = Processor { apic: Cell::new(None) };
static RELEASES: Releases = Releases::new();
/// Contexts that are to go on, a bit each.
static DUE: AtomicU32 = AtomicU32::new(0);
/// The kernel's number of the task of each context.
static TASKS: [AtomicU32; CONTEXTS] = [const { AtomicU32::new(NO_TASK) }; CONTEXTS];
/// `true` if the host raises [`ATTENTION`] for a stop.
static IS_TOLD: AtomicBool = AtomicBool::new(false);
/// `true` while the leading task runs.
static LEADER_RUNS: AtomicBool = AtomicBool::new(false);
/// The word in which the host sees until when the leading task's call may run.
static CALL_UNTIL: CallUntil = CallUntil(Cell::new(None));

/// A word of the post.
struct CallUntil(Cell<Option<&'static AtomicU64>>);

// SAFETY: written once, before the tasks run.
unsafe impl Sync for CallUntil {}

// SAFETY: nobody but the kernel's machine calls the methods that are the machine's.
pub(crate) static SYSTEM: System<Bare<PartitionBoard>> =
    unsafe { System::new(Bare::new(PartitionBoard)) };

/// The board of the kernel in a partition.
#[derive(Debug)]
pub(crate) struct PartitionBoard;

#[inline]
fn apic() -> Apic {
    PROCESSOR.apic.get().expect("the processor is set up before anything runs")
}

/// The instant, in ns of the monotonic clock.
#[inline]
pub(crate) fn now() -> u64 {
    apic().now()
}

impl Board for PartitionBoard {
    fn now(&self) -> u64 {
        now()
    }

    fn set_timer(&self, _: Option<u64>) {
        // The kernel has neither tick nor budgets: the timer is the releases'.
    }

    fn wait(&self) {
        if RELEASES.polls() {
            poll();
        } else {
            // One that came before it has been taken to its end, tasks included, so that nothing
            // waits to be looked at.
            interrupts::wait();
        }
    }

    fn note_job(&self, _: &KernelJob) {}

    fn note_error(&self, fault: &Fault) {
        // There is nobody to be told that the console failed.
        let _ = writeln!(host::Console, "the guest's kernel: {fault:?}");
    }

    fn end(&self, status: u8) -> ! {
        host::end(status)
    }
}

/// Looks at the clock until a task is due, and lets it run. Without an instruction that says so: a
/// hypervisor may take it as a reason to leave the guest.
fn poll() {
    while RELEASES.earliest() > now() {}
    let now_ns = now();
    without_interrupts(|| DUE.fetch_or(RELEASES.take_due(now_ns), Relaxed));
    SYSTEM.port().trigger(RELEASE_SOURCE);
}

/// Sets the timer to what is needed next, if that is not what it is set to.
#[inline]
fn arm() {
    without_interrupts(|| {
        if let Some(instant) = RELEASES.next_setting() {
            apic().set_timer(Some(instant));
        }
    });
}

/// Sets the processor up.
///
/// # Safety
/// Called once, with interrupts off, by the function that the image begins with.
pub(crate) unsafe fn set_up(clock: Clock) {
    // SAFETY: as our caller promises.
    PROCESSOR.apic.set(Some(unsafe { Apic::switch_on(clock) }));
    exceptions::on_exception(calls::see_to_exception);
    interrupts::on_interrupt(handle);
}

/// Sets the way in which the tasks come to their releases, and what the host does for that.
pub(crate) fn set_mode(mode: Mode, is_told: bool, call_until: &'static AtomicU64) {
    RELEASES.set_mode(mode);
    IS_TOLD.store(is_told, Relaxed);
    CALL_UNTIL.0.set((mode == Mode::PollsWatched).then_some(call_until));
}

/// Runs the kernel; returns only where it is refused. `tasks` are the contexts of its tasks.
///
/// # Safety
/// Called once, after [`set_up`]. The stacks are memory that nothing else uses.
pub(crate) unsafe fn run(
    configuration: &'static Configuration<'static>,
    contexts: &[usize],
    stacks: &[Stack],
) -> Refused {
    for (task, context) in (0..).zip(contexts) {
        TASKS[*context].store(task, Relaxed);
    }
    // SAFETY: entries and handler are in place. Nothing passes yet.
    unsafe { asm!("sti", options(nostack)) };
    // SAFETY: as our caller promises.
    unsafe { SYSTEM.port().run(&SYSTEM, configuration, 0, stacks) }
}

/// Has the task of a context begin.
pub(crate) fn activate(context: usize) {
    if let Ok(task) = u8::try_from(TASKS[context].load(Relaxed)) {
        let _ = SYSTEM.activate_task(task);
    }
}

/// The task of a context has begun: from now on it hears of what it is to go on for. What came
/// before is not lost, for every task looks before it waits.
pub(crate) fn begin_task(context: usize) {
    RELEASES.begin_task(context);
    set_running(context, true);
}

/// The task of a context is about to end: it hears of nothing any more.
pub(crate) fn end_task(context: usize) {
    set_running(context, false);
    RELEASES.end_task(context);
}

fn set_running(context: usize, runs: bool) {
    if context == LEADER {
        LEADER_RUNS.store(runs, Relaxed);
        return;
    }
    RELEASES.set_busy(context, runs);
    if runs {
        // From here on the leading task may have to preempt it.
        arm();
    }
}

/// Has contexts go on, a bit each. Called by tasks.
pub(crate) fn wake(contexts: u32) {
    if contexts != 0 {
        DUE.fetch_or(contexts, Release);
        SYSTEM.port().trigger(RELEASE_SOURCE);
    }
}

/// The ISR of releases: those that are due go on.
pub(crate) extern "C" fn release() {
    // The host's word comes before tasks begin, too, and a release is set before its task ends:
    // to set an event of a task that is not there would be an error of the kernel's.
    let mut due = RELEASES.present(DUE.swap(0, Acquire));
    while due != 0 {
        let context = due.trailing_zeros() as usize;
        due &= due - 1;
        if let Some(task) =
            TASKS.get(context).and_then(|task| u8::try_from(task.load(Relaxed)).ok())
        {
            // Nothing of it can fail: the task is there.
            let _ = SYSTEM.set_event(task, GO_ON);
        }
    }
}

/// All 512 bytes of `fxsave`.
#[repr(C, align(16))]
struct Registers([u8; 512]);

fn handle(vector: u8, interrupted: &mut Interrupted) {
    if vector == SPURIOUS_VECTOR {
        return;
    }
    apic().end_of_interrupt();
    if !matches!(vector, TIMER_VECTOR | ATTENTION) {
        return;
    }
    let now_ns = now();
    let seen = begin_interrupt(interrupted, now_ns);
    let mut due = RELEASES.take_due(now_ns + EARLY_NS);
    if vector == ATTENTION {
        xen::acknowledge();
        due |= 1 << LEADER | 1 << LOADER;
    }
    let is_asked = RELEASES.take_asked(now_ns);
    RELEASES.note_interrupt(vector == TIMER_VECTOR, now_ns, calls::next_look(now_ns));
    arm();
    DUE.fetch_or(due, Relaxed);
    if due != 0 && SYSTEM.port().arrive(Arrival::Source(RELEASE_SOURCE)) {
        take(seen.is_inside);
    }
    end_interrupt(&seen);
    if is_asked && let Some(interrupt) = interrupt_leader(&seen) {
        with_registers_kept(|| interrupt());
    }
}

/// Takes what has arrived, with interrupts let in meanwhile.
fn take(is_inside: bool) {
    let take = || SYSTEM.port().take();
    if is_inside {
        with_registers_kept(take);
        return;
    }
    // SAFETY: interrupts come in again from here on, each on this stack, …
    unsafe { asm!("sti", options(nostack)) };
    take();
    // SAFETY: … and are held back until the entry has returned.
    unsafe { asm!("cli", options(nostack)) };
}

/// Does something with interrupts let in, and the registers of arithmetic as they are afterwards.
fn with_registers_kept(work: impl FnOnce()) {
    let mut registers = Registers([0; 512]);
    let place = &raw mut registers.0;
    // SAFETY: as above; the place is of this size and alignment.
    unsafe { asm!("fxsave64 [{}]", "sti", in(reg) place, options(nostack)) };
    work();
    // SAFETY: puts back what was put away.
    unsafe { asm!("cli", "fxrstor64 [{}]", in(reg) place, options(nostack)) };
}

/// Has the program's call of the leading task interrupted at an instant; never where there is none.
pub(crate) fn interrupt_at(at_ns: Option<u64>) {
    RELEASES.ask(at_ns.unwrap_or(NEVER));
    // One that is not needed any more is set anew with the next, or goes off for nothing.
    if at_ns.is_some() {
        arm();
    }
}

/// The context whose task runs; `None` where none does. Not to be asked while the kernel is at
/// work.
pub(crate) fn running_context() -> Option<usize> {
    let task = u32::from(SYSTEM.task_under_way()?);
    TASKS.iter().position(|it| it.load(Relaxed) == task)
}

/// Returns `true` while the leading task runs: nothing preempts it.
pub(crate) fn leader_runs() -> bool {
    LEADER_RUNS.load(Relaxed)
}

/// A context is about to call into the program.
#[inline]
pub(crate) fn begin_call(context: usize, until_ns: u64) {
    if RELEASES.watch(context, until_ns) {
        arm();
    }
    if context == LEADER
        && let Some(word) = CALL_UNTIL.0.get()
    {
        word.store(until_ns, Relaxed);
    }
}

/// That call is over.
#[inline]
pub(crate) fn end_call(context: usize) {
    if context == LEADER
        && let Some(word) = CALL_UNTIL.0.get()
    {
        word.store(0, Relaxed);
    }
}

/// The clock of the task of a context.
#[derive(Debug)]
pub(crate) struct TaskClock {
    context: usize,
    /// The host's CPU that the processor runs on.
    cpu: u32,
}

impl TaskClock {
    /// That of a context.
    pub(crate) fn new(context: usize, cpu: u32) -> Self {
        Self { context, cpu }
    }

    /// Waits until the task is woken.
    pub(crate) fn wait(&self) {
        set_running(self.context, false);
        // Nothing of both can fail in a task that waits.
        let _ = SYSTEM.wait_event(GO_ON);
        let _ = SYSTEM.clear_event(GO_ON);
        set_running(self.context, true);
    }

    /// Waits until an instant, or until the task is woken once.
    fn wait_until(&self, instant: u64) {
        RELEASES.set(self.context, instant);
        arm();
        self.wait();
    }
}

impl ClockTrait for TaskClock {
    #[inline]
    fn now(&self) -> Nanos {
        Nanos::new(now())
    }

    fn sleep_until(&self, due: Nanos) {
        loop {
            let left = due.saturating_sub(self.now()).get();
            if left == 0 {
                break;
            }
            // It may have been woken a little early, and setting the timer again costs an exit.
            if left > EARLY_NS {
                self.wait_until(due.get());
            }
        }
        RELEASES.set(self.context, NEVER);
    }

    fn cpu(&self) -> u32 {
        self.cpu
    }
}

impl Rest for TaskClock {
    fn rest(&self, longest: Nanos) {
        if self.is_told() {
            self.wait();
        } else {
            self.wait_until((self.now() + longest).get());
            RELEASES.set(self.context, NEVER);
        }
    }

    fn is_told(&self) -> bool {
        IS_TOLD.load(Relaxed)
    }

    fn nap_until(&self, instant: Nanos) {
        if self.now() < instant {
            self.wait_until(instant.get());
            // What has woken it may have been something else.
        }
    }

    #[inline]
    fn expect(&self, wake_at: Nanos) {
        // One that never sleeps between its releases needs no timer for that.
        if wake_at > self.now() {
            RELEASES.set(self.context, wake_at.get());
            arm();
        }
    }
}
