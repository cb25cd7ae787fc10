//! The port to a machine without an operating system: the kernel has a processor to itself.
//!
//! What differs from board to board is behind [`Board`]: the clock, the one timer, waiting, the
//! end. Interrupts are held back as in the hosted port, by the virtual controller: an entry notes
//! its interrupt as pending and takes it only where the level allows. So the interrupt level costs
//! no instruction that a hypervisor would have to see.
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

use crate::check::check;
use crate::configuration::{Configuration, Entry, TASKS_MAX};
use crate::port::controller::{Controller, Interrupt, Seamless};
use crate::port::own::{Contexts, Own};
use crate::port::processor::switch::{
    drop_and_begin, drop_and_resume, save_and_begin, save_and_resume,
};
use crate::port::ticks::Ticks;
use crate::port::{ALL_HELD, Enter, Fault, Job, Leave, Port};
use crate::system::{StartError, System};

/// The level of the tick's interrupt.
const TICK_LEVEL: u8 = 1;
/// The idle context's place, behind those of the tasks.
const IDLE: usize = TASKS_MAX;
/// What lies at the end of a stack as long as nothing was written beyond it.
const MARK: u64 = 0x5157_4945_5443_4F52;
/// An instant that never comes.
const NEVER: u64 = u64::MAX;

/// What a machine runs on.
pub trait Board: Sync + 'static {
    /// The instant, in ns, on a clock that never goes back.
    fn now(&self) -> u64;

    /// Has [`Arrival::Timer`] arrive at an instant, once; `None` for never. The last call counts.
    fn set_timer(&self, at_ns: Option<u64>);

    /// Waits for an interrupt.
    fn wait(&self);

    /// Takes note of a job.
    fn note_job(&self, job: &Job);

    /// Takes note of an error.
    fn note_error(&self, fault: &Fault);

    /// Ends the machine.
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

/// What arrives at a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The board's timer.
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

    /// The board.
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
        self.controller.set_level(self.controller.level())
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

    /// Sets the timer to what comes next: a tick that has not been noted, or the end of a budget.
    fn arm(&self) {
        let tick_ns = self.next_tick();
        let tick_ns = if self.controller.is_pending(Interrupt::Tick) { NEVER } else { tick_ns };
        let budget_ns = self.budget_ns.get();
        let is_noted = self.controller.is_pending(Interrupt::Timer);
        let next_ns = tick_ns.min(if is_noted { NEVER } else { budget_ns });
        self.board.set_timer((next_ns != NEVER).then_some(next_ns));
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

/// Where a stack's mark is: the lowest word of it.
fn mark_of(stack: Stack) -> *mut u64 {
    ptr::with_exposed_provenance_mut(stack.bottom)
}

/// The first function of a job: calls the task's at level zero.
extern "C" fn begin_task<B: Board>(this: usize, entry: usize) -> ! {
    let place: *const Bare<B> = ptr::with_exposed_provenance(this);
    // SAFETY: the number of the machine that switched here, which lives for ever.
    let machine = unsafe { &*place };
    let entry: *const () = ptr::with_exposed_provenance(entry);
    // SAFETY: `switch` made the number from such a function.
    let entry = unsafe { core::mem::transmute::<*const (), Entry>(entry) };
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
        let save = match leave {
            Leave::Task(task) => self.contexts.place(usize::from(task)),
            Leave::Idle => self.contexts.place(IDLE),
            Leave::Ended => ptr::null_mut(),
        };
        let resume = match enter {
            Enter::Begin(task, entry) => {
                let top = self.stacks[usize::from(task)].get().top;
                let top = ptr::with_exposed_provenance_mut(top);
                let this = ptr::from_ref(self).expose_provenance();
                let entry = (entry as *const ()).expose_provenance();
                if save.is_null() {
                    // SAFETY: the task has no other job, so that its stack is free; the one that
                    // ended may have been its own.
                    unsafe { drop_and_begin(top, begin_task::<B>, this, entry) };
                }
                // SAFETY: as above; the place is this context's.
                unsafe { save_and_begin(save, top, begin_task::<B>, this, entry) };
                return;
            }
            Enter::Resume(task) => self.contexts.get(usize::from(task)),
            Enter::Idle => self.contexts.get(IDLE),
        };
        if save.is_null() {
            // SAFETY: our caller resumes only what was left.
            unsafe { drop_and_resume(resume) };
        }
        // SAFETY: as above; the place is this context's.
        unsafe { save_and_resume(save, resume) };
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

    fn note_job(&self, job: &Job) {
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
