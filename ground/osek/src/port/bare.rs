//! The port to a machine without an operating system: the kernel has a processor to itself.
//!
//! The differences between boards are behind [`Board`]: the clock, the one timer, waiting, the end.
//! Interrupts are held back as in the hosted port, by the virtual controller: an entry notes its
//! interrupt as pending and takes it only if the level allows. So the interrupt level costs no
//! instruction that a hypervisor would have to see.
//!
//! ```text
//! processor ─► entry (interrupts off) ─► arrive ─► passes? ─► entry lets interrupts in ─► take
//!                                                   no: back
//! ```
//!
//! The kernel starts in the caller's context, which becomes the idle one.
// UNSAFETY: switches contexts.
#![expect(unsafe_code, reason = "a machine switches its stacks")]

use core::ptr;

use quietcore_units::KernelJob;

use crate::check::check;
use crate::configuration::{Configuration, TASKS_MAX};
use crate::port::controller::{Controller, Interrupt, Seamless};
use crate::port::own::{ContextEntry, Contexts, Own, entry_of};
use crate::port::ticks::Ticks;
use crate::port::{ALL_HELD, Enter, Fault, Leave, Port};
use crate::system::{StartError, System};

/// The level of the tick's interrupt.
const TICK_LEVEL: u8 = 1;
/// The idle context's place, behind those of the tasks.
const IDLE: usize = TASKS_MAX;
/// The word at the end of a stack as long as nothing was written beyond it.
const MARK: u64 = 0x5157_4945_5443_4F52;
/// An instant that never comes.
const NEVER: u64 = u64::MAX;

/// The hardware that a machine runs on.
pub trait Board: Sync + 'static {
    /// The instant, in ns, on a clock that never goes back.
    fn now(&self) -> u64;

    /// Has [`Arrival::Timer`] arrive at an instant, once; `None` for never. The last call counts.
    fn set_timer(&self, at_ns: Option<u64>);

    /// Waits for an interrupt.
    fn wait(&self);

    /// Takes note of a job.
    fn note_job(&self, job: &KernelJob);

    /// Takes note of an error.
    fn note_error(&self, fault: &Fault);

    /// Ends the machine with the status of `ShutdownOS`.
    fn end(&self, status: u8) -> !;
}

/// The memory of one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The lowest address, a multiple of 16.
    pub bottom: usize,
    /// The first address behind it, a multiple of 16.
    pub top: usize,
}

impl Stack {
    const NONE: Self = Self { bottom: 0, top: 0 };
}

/// An interrupt that arrives at a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The timer of the board.
    Timer,
    /// The interrupt of a source.
    Source(u32),
}

/// A machine that has a processor to itself.
pub struct Bare<B: Board> {
    board: B,
    controller: Controller,
    contexts: Contexts<{ TASKS_MAX + 1 }>,
    stacks: [Own<Stack>; TASKS_MAX],
    system: Own<Option<&'static System<Self>>>,
    configuration: Own<&'static Configuration<'static>>,
    ticks: Own<Ticks>,
    /// Late ticks for which one interrupt had not time enough.
    ticks_left: Own<u32>,
    budget_ns: Own<u64>,
}

/// Why a machine does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The kernel refuses its configuration or mode.
    Start(StartError),
    /// Its tick is shorter than 10 µs.
    TickTooShort,
    /// A task has no stack, or a smaller one than it asks for.
    Stack(u8),
}

impl<B: Board> Bare<B> {
    /// A machine on a board, which does not run.
    pub const fn new(board: B) -> Self {
        static NOTHING: Configuration<'static> = Configuration::EMPTY;
        Self {
            board,
            controller: Controller::new(Seamless),
            contexts: Contexts::new(),
            stacks: [const { Own::new(Stack::NONE) }; TASKS_MAX],
            system: Own::new(None),
            configuration: Own::new(&NOTHING),
            ticks: Own::new(Ticks::NONE),
            ticks_left: Own::new(0),
            budget_ns: Own::new(NEVER),
        }
    }

    /// Returns the hardware that the machine was made for.
    pub fn board(&self) -> &B {
        &self.board
    }

    /// Starts the kernel. The caller's context becomes the idle one, so that this returns only
    /// where the kernel is refused.
    ///
    /// # Errors
    /// [`Refused`].
    ///
    /// # Safety
    /// `system` is that of this machine, which does not run yet. `stacks` are memory that nothing
    /// else uses, one for each task. Interrupts are let in, or will be by nobody else.
    pub unsafe fn run(
        &'static self,
        system: &'static System<Self>,
        configuration: &'static Configuration<'static>,
        mode: u8,
        stacks: &[Stack],
    ) -> Refused {
        if let Err(refused) = self.prepare(system, configuration, stacks) {
            return refused;
        }
        if let Err(error) = system.start(configuration, mode) {
            return Refused::Start(error);
        }
        let mut ticks = self.ticks.get();
        ticks.begin(self.board.now());
        self.ticks.set(ticks);
        self.arm();
        system.run()
    }

    fn prepare(
        &self,
        system: &'static System<Self>,
        configuration: &'static Configuration<'static>,
        stacks: &[Stack],
    ) -> Result<(), Refused> {
        check(configuration).map_err(|refusal| Refused::Start(StartError::Refused(refusal)))?;
        self.ticks.set(Ticks::of(configuration).ok_or(Refused::TickTooShort)?);
        for (index, (task, place)) in (0..).zip(configuration.tasks.iter().zip(&self.stacks)) {
            let given = stacks.get(usize::from(index)).copied().unwrap_or(Stack::NONE);
            if given.top.saturating_sub(given.bottom) < task.stack_bytes as usize {
                return Err(Refused::Stack(index));
            }
            // SAFETY: our caller gives memory that nothing else uses.
            unsafe { mark_of(given).write(MARK) };
            place.set(given);
        }
        self.controller.connect(configuration.isrs, TICK_LEVEL, configuration.kernel_level());
        self.system.set(Some(system));
        self.configuration.set(configuration);
        Ok(())
    }

    /// Takes note of an interrupt. Returns whether something passes now, which the caller lets in
    /// by [`take`](Self::take). Called by entries, with the processor's interrupts off.
    #[must_use = "what passes must be taken"]
    pub fn arrive(&self, arrival: Arrival) -> bool {
        match arrival {
            Arrival::Timer => {
                let now_ns = self.board.now();
                if self.next_tick() <= now_ns {
                    self.controller.pend(Interrupt::Tick);
                }
                if self.budget_ns.get() <= now_ns {
                    self.controller.pend(Interrupt::Timer);
                }
                self.arm();
            }
            Arrival::Source(source) => self.pend_source(source),
        }
        self.controller.passes()
    }

    /// Takes what is pending and passes, the most urgent first. It may leave this context for
    /// another, and returns when this one goes on.
    pub fn take(&self) {
        while let Some(taken) = self.controller.begin() {
            self.dispatch(taken.interrupt);
            self.controller.end(taken);
        }
    }

    /// Raises the interrupts of a source, as an instruction would: where the level allows, the ISR
    /// has run when this returns.
    pub fn trigger(&self, source: u32) {
        self.pend_source(source);
        self.take();
    }

    fn pend_source(&self, source: u32) {
        for (isr, entry) in (0..).zip(self.configuration.get().isrs) {
            if entry.source == source {
                self.controller.pend(Interrupt::Isr(isr));
            }
        }
    }

    fn dispatch(&self, interrupt: Interrupt) {
        match interrupt {
            Interrupt::Isr(isr) => {
                let entry = self.configuration.get().isrs[usize::from(isr)];
                // The kernel is not told of those of category 1.
                if entry.category == 1 { (entry.entry)() } else { self.system().interrupt(isr) }
            }
            Interrupt::Tick => self.tick(),
            Interrupt::Timer => {
                self.budget_ns.set(NEVER);
                self.system().timer();
            }
        }
    }

    fn tick(&self) {
        let mut ticks = self.ticks.get();
        let due = ticks.elapsed(self.board.now());
        self.ticks.set(ticks);
        self.arm();
        let due = self.ticks_left.0.replace(0).saturating_add(due);
        if due != 0 {
            self.system().tick(due, ticks.last_ns.unwrap_or_default(), |left| {
                self.ticks_left.set(left);
                self.controller.pend(Interrupt::Tick);
            });
        }
    }

    /// When the next tick is due.
    fn next_tick(&self) -> u64 {
        let ticks = self.ticks.get();
        match (ticks.last_ns, ticks.period_ns) {
            (Some(last_ns), 1..) => last_ns + ticks.period_ns,
            _ => NEVER,
        }
    }

    /// Returns the instant that the timer is needed for next: a tick, or the end of a budget, that
    /// has not been noted.
    fn next_ns(&self) -> Option<u64> {
        let unless_noted = |interrupt, instant| {
            if self.controller.is_pending(interrupt) { NEVER } else { instant }
        };
        let tick_ns = unless_noted(Interrupt::Tick, self.next_tick());
        let budget_ns = unless_noted(Interrupt::Timer, self.budget_ns.get());
        Some(tick_ns.min(budget_ns)).filter(|instant| *instant != NEVER)
    }

    /// Sets the timer to what comes next. An interrupt that comes in between may change what that
    /// is, and set the timer before this does; so it is looked at again.
    fn arm(&self) {
        loop {
            let next_ns = self.next_ns();
            self.board.set_timer(next_ns);
            if self.next_ns() == next_ns {
                return;
            }
        }
    }

    fn system(&self) -> &'static System<Self> {
        self.system.get().expect("a machine that runs has a system")
    }
}

impl<B: Board> core::fmt::Debug for Bare<B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Bare").finish_non_exhaustive()
    }
}

/// Returns the address of a stack's mark: its lowest word.
fn mark_of(stack: Stack) -> *mut u64 {
    ptr::with_exposed_provenance_mut(stack.bottom)
}

/// The first function of a job: calls the task's at level zero.
extern "C" fn begin_task<B: Board>(this: usize, entry: usize) -> ! {
    let place: *const Bare<B> = ptr::with_exposed_provenance(this);
    // SAFETY: the number of the machine that switched here, which lives for ever.
    let machine = unsafe { &*place };
    // SAFETY: this is a context's start, which got it so.
    let entry = unsafe { entry_of(entry) };
    machine.set_level(0);
    entry();
    machine.system().missing_end()
}

impl<B: Board> Port for Bare<B> {
    #[inline]
    fn level(&self) -> u8 {
        self.controller.level()
    }

    #[inline]
    fn set_level(&self, level: u8) {
        if self.controller.set_level(level) {
            self.take();
        }
    }

    #[inline]
    fn now(&self) -> u64 {
        self.board.now()
    }

    fn set_timer(&self, at_ns: Option<u64>) {
        self.budget_ns.set(at_ns.unwrap_or(NEVER));
        self.arm();
    }

    #[inline]
    unsafe fn switch(&self, leave: Leave, enter: Enter) {
        let leave = match leave {
            Leave::Task(task) => Some(usize::from(task)),
            Leave::Idle => Some(IDLE),
            Leave::Ended => None,
        };
        let way = match enter {
            Enter::Begin(task, entry) => {
                let this = ptr::from_ref(self).expose_provenance();
                let top = self.stacks[usize::from(task)].get().top;
                let top = ptr::with_exposed_provenance_mut(top);
                ContextEntry::Begin { top, start: begin_task::<B>, this, entry }
            }
            Enter::Resume(task) => ContextEntry::Resume(usize::from(task)),
            Enter::Idle => ContextEntry::Resume(IDLE),
        };
        // SAFETY: our caller resumes only what was left. A task that begins has no other job, so
        // that its stack is free; the one that ended may have been its own.
        unsafe { self.contexts.go(leave, way) };
    }

    fn idle(&self) {
        self.board.wait();
    }

    #[inline]
    fn stack_is_intact(&self, task: u8) -> bool {
        let stack = self.stacks[usize::from(task)].get();
        // SAFETY: memory that our starter gave for the stack.
        unsafe { mark_of(stack).read() == MARK }
    }

    fn note_job(&self, job: &KernelJob) {
        self.board.note_job(job);
    }

    fn note_error(&self, fault: &Fault) {
        self.board.note_error(fault);
    }

    fn shut_down(&self, status: u8) -> ! {
        self.controller.raise_level(ALL_HELD);
        self.board.set_timer(None);
        self.board.end(status)
    }
}
