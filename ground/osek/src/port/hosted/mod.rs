//! The hosted port: a machine inside of one thread of a Linux process.
//!
//! All tasks run in one thread, each on a stack of its own. Interrupts are signals, and what other
//! threads raise; a virtual interrupt controller holds them back, so that the interrupt level costs
//! no system call. An ISR runs in the signal's handler, on the stack of what it interrupted, and
//! the kernel switches to another task from there: the frame of the signal stays on the stack of
//! the preempted task until that goes on.
//!
//! ```text
//! caller's stack          machine's stacks (idle, task 0, task 1 …)
//! start ───── begin ────► idle context: StartupHook, dispatch ──► tasks ◄─► tasks
//!   ▲                                                               │
//!   └───────── ShutdownOS (alone), end of a step (driven) ──────────┘
//! ```
//!
//! | module | what |
//! |---|---|
//! | `context` | the machine as the kernel sees it: the switch |
//! | `stacks` | stacks with guard pages, their use, and whose overflowed |
//! | `deadline` | when a timer must be set |
//! | `flood`, `gate` | what is told too often; who raises from outside |
//! | `alone` | a program of its own: POSIX timers, signals, an end that leaves nothing behind |
//! | `driven` | a module in a partition, whose leading thread lends the machine its time |
//! | `surroundings` | clock and memory: `linux` in a process, `image` in a program for a guest |
//!
//! Compiled without an operating system it is the kernel of a program for a guest: always driven,
//! by the guest's leading task, and interrupted by the guest's timer in place of signals.
//!
//! Limits:
//! - A task that is preempted inside of the C library keeps the library's locks; another task that
//!   needs one waits for ever. Call what locks (`malloc`, `printf`) in one task only, or with
//!   `SuspendOSInterrupts`.
//! - `errno` is one for all tasks. A preempted task finds its own again; one that called a service
//!   does not.
//! - A task does not call `fork`: the child has the tasks and none of the timers and threads that
//!   drive them. It starts a program with `posix_spawn`.
//! - Services know their callers by the stack. A task that runs a part of itself on a stack of its
//!   own making (`makecontext`) calls none from there.
//! - Shadow stacks (CET) must be off; see the processor's `switch`.
// UNSAFETY: switches contexts, and shares state with signal handlers of the same thread.
#![expect(unsafe_code, reason = "a machine inside of a thread switches its stacks")]

#[cfg_attr(target_os = "none", path = "image/alone.rs")]
pub mod alone;
mod context;
mod deadline;
pub mod driven;
mod flood;
mod gate;
mod refused;
mod stacks;
#[cfg_attr(not(target_os = "none"), path = "linux.rs")]
#[cfg_attr(target_os = "none", path = "image.rs")]
mod surroundings;

pub use driven::Services;
pub use refused::Refused;

use core::ffi::CStr;
use core::ptr;

use crate::check::check;
use crate::configuration::{Configuration, TASKS_MAX};
use crate::port::controller::{Controller, Interrupt, Seamless};
use crate::port::own::{Contexts, Own};
use crate::port::processor;
use crate::port::ticks::Ticks;
use crate::port::{ALL_HELD, Port as _};
use crate::system::System;
use alone::Alone;
use deadline::{Deadline, NEVER};
use driven::Driven;
use gate::Gate;
use processor::switch::{drop_and_resume, save_and_begin, save_and_resume};
use stacks::Stacks;

/// The level of the tick's interrupt.
const TICK_LEVEL: u8 = 1;

/// The idle context's place, behind those of the tasks.
const IDLE: usize = TASKS_MAX;

/// Places of `ways`.
const OUTSIDE: usize = 0;
const INSIDE: usize = 1;

/// The owner of the thread that the machine runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Driver {
    /// Nobody: it does not run.
    Nobody,
    /// A program of its own.
    Alone,
    /// A partition, by its steps.
    Driven,
}

/// The name of a task, where one is known.
pub type TaskName = fn(task: u8) -> Option<&'static CStr>;

/// A machine inside of one thread of a process.
pub struct Hosted {
    controller: Controller,
    stacks: Stacks,
    contexts: Contexts<{ TASKS_MAX + 1 }>,
    /// Outside: who called. Inside: what the machine was at when it was left.
    ways: Contexts<2>,
    /// The task whose stack is in use.
    entered: Own<Option<u8>>,
    system: Own<Option<&'static System<Hosted>>>,
    configuration: Own<&'static Configuration<'static>>,
    task_name: Own<Option<TaskName>>,
    driver: Own<Driver>,
    /// The argument of `ShutdownOS`, or the reason why there was no start.
    outcome: Own<Result<u8, Refused>>,
    ticks: Own<Ticks>,
    /// Late ticks for which one interrupt had not time enough.
    ticks_left: Own<u32>,
    /// The timer, and what it is needed for: the end of a budget, and the end of a step.
    deadline: Own<Deadline>,
    budget_ns: Own<u64>,
    until_ns: Own<u64>,
    gate: Gate,
    alone: Alone,
    driven: Driven,
}

impl Hosted {
    /// A machine that does not run.
    pub const fn new() -> Self {
        static NOTHING: Configuration<'static> = Configuration::EMPTY;
        Self {
            controller: Controller::new(Seamless),
            stacks: Stacks::new(),
            contexts: Contexts::new(),
            ways: Contexts::new(),
            entered: Own::new(None),
            system: Own::new(None),
            configuration: Own::new(&NOTHING),
            task_name: Own::new(None),
            driver: Own::new(Driver::Nobody),
            outcome: Own::new(Ok(0)),
            ticks: Own::new(Ticks::NONE),
            ticks_left: Own::new(0),
            deadline: Own::new(Deadline::NEVER),
            budget_ns: Own::new(NEVER),
            until_ns: Own::new(NEVER),
            gate: Gate::new(),
            alone: Alone::new(),
            driven: Driven::new(),
        }
    }

    /// Says how tasks are called, for messages.
    pub fn name_tasks(&self, task_name: TaskName) {
        self.task_name.set(Some(task_name));
    }

    /// The most bytes of its stack that a task has used so far; `None` where there is no such task,
    /// or nothing runs. Takes a while: not for a task with a deadline.
    pub fn stack_high_water(&self, task: u8) -> Option<usize> {
        self.stacks.high_water(task)
    }

    /// The task whose stack overflowed, where that is what made the machine's own thread fault: the
    /// address lies at the end of the stack of the task that runs. Where the operating system tells
    /// no address, because a signal found no room, it is the stack pointer.
    ///
    /// Asked by that thread, after its fault.
    pub fn task_of_guard(&self, address: usize) -> Option<u8> {
        let task = self.entered.get()?;
        self.stacks.is_end_of(task, address).then_some(task)
    }

    /// Returns the guard below a stack, by the stack's number: its first address, and its bytes.
    pub fn guard(&self, index: usize) -> Option<(usize, usize)> {
        self.stacks.guard(index)
    }

    /// Returns `true` if it was started and has not ended. Asked by the thread that starts it.
    pub fn runs(&self) -> bool {
        self.driver.get() != Driver::Nobody
    }

    /// Raises the interrupts of a source from the machine's own thread, as an instruction would:
    /// where the level allows, the ISR has run when this returns. From anywhere else it is
    /// [`raise`](Self::raise).
    #[inline]
    pub fn trigger(&self, source: u32) {
        if !self.is_inside() {
            self.raise(source);
        } else if self.pend_source(source) {
            self.take();
        }
    }

    /// Notes the interrupts of a source as pending. `false` where there is none.
    #[inline]
    fn pend_source(&self, source: u32) -> bool {
        let mut found = false;
        for (isr, entry) in (0..).zip(self.configuration.get().isrs) {
            if entry.source == source {
                found |= self.controller.pend(Interrupt::Isr(isr));
            }
        }
        found
    }

    /// Makes everything ready for [`enter`](Self::enter).
    fn prepare(
        &self,
        system: &'static System<Self>,
        configuration: &'static Configuration<'static>,
        driver: Driver,
    ) -> Result<(), Refused> {
        check(configuration)?;
        self.ticks.set(Ticks::of(configuration).ok_or(Refused::TickTooShort)?);
        self.ticks_left.set(0);
        let kernel_level = configuration.kernel_level();
        let levels = crate::stacks::levels(configuration.isrs.iter().map(|isr| isr.level));
        let bytes = configuration.tasks.iter().map(|task| task.stack_bytes);
        self.stacks.map(&bytes, levels)?;
        self.controller.connect(configuration.isrs, TICK_LEVEL, kernel_level);
        self.entered.set(None);
        self.system.set(Some(system));
        self.configuration.set(configuration);
        self.outcome.set(Ok(0));
        self.deadline.set(Deadline::NEVER);
        self.budget_ns.set(NEVER);
        self.until_ns.set(NEVER);
        self.driver.set(driver);
        Ok(())
    }

    /// Leaves the caller's stack for the idle context, which starts the kernel. Returns when the
    /// machine is left.
    fn enter(&self, mode: u8) {
        let outside = self.ways.place(OUTSIDE);
        let this = ptr::from_ref(self).expose_provenance();
        let top = self.stacks.idle_top();
        // SAFETY: the stack was mapped by `prepare`, and nothing runs on it.
        unsafe { save_and_begin(outside, top, begin_idle, this, usize::from(mode)) };
    }

    /// Leaves the machine, as it is, for whoever called. Returns when it is entered again.
    fn leave(&self) {
        let level = self.controller.level();
        self.hold_all();
        let (inside, outside) = (self.ways.place(INSIDE), self.ways.get(OUTSIDE));
        // SAFETY: outside was left by `enter` or by a step, and waits for this.
        unsafe { save_and_resume(inside, outside) };
        self.set_level(level);
    }

    /// Leaves the machine for good.
    fn leave_for_good(&self) -> ! {
        self.hold_all();
        // SAFETY: as in `leave`; nothing of this machine is entered again.
        unsafe { drop_and_resume(self.ways.get(OUTSIDE)) }
    }

    /// Nothing passes from here on, nor comes.
    fn hold_all(&self) {
        self.controller.raise_level(ALL_HELD);
        self.until_ns.set(NEVER);
        self.disarm();
    }

    fn system(&self) -> &'static System<Self> {
        self.system.get().expect("a machine that runs has a system")
    }

    /// Takes what is pending and passes.
    fn take(&self) {
        while let Some(taken) = self.controller.begin() {
            self.dispatch(taken.interrupt);
            self.controller.end(taken);
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
            Interrupt::Timer => self.expire(),
        }
    }

    fn tick(&self) {
        let mut ticks = self.ticks.get();
        let due = match self.driver.get() {
            Driver::Driven => self.driven.take_ticks(),
            Driver::Alone | Driver::Nobody => ticks.elapsed(self.now()),
        };
        self.ticks.set(ticks);
        let due = self.ticks_left.0.replace(0).saturating_add(due);
        let looks = !self.configuration.get().messages.is_empty();
        if due != 0 || looks {
            self.system().tick(due, ticks.last_ns.unwrap_or_default(), |left| {
                self.ticks_left.set(left);
                self.controller.pend(Interrupt::Tick);
            });
        }
    }

    /// The timer has expired, or may have: what it is needed for is looked at.
    fn expire(&self) {
        let now_ns = self.now();
        let mut deadline = self.deadline.get();
        deadline.expired(now_ns);
        self.deadline.set(deadline);
        let step_is_over = self.until_ns.get() <= now_ns;
        if self.budget_ns.get() <= now_ns {
            self.budget_ns.set(NEVER);
            if step_is_over {
                // The kernel may leave this context for good; the next one takes it up.
                self.controller.pend(Interrupt::Timer);
            }
            self.system().timer();
        } else if step_is_over {
            self.system().stop(|| self.leave());
        }
        self.arm();
    }

    /// Sets the timer to the next instant at which it is needed, where it would come too late.
    fn arm(&self) {
        let mut deadline = self.deadline.get();
        let instant = deadline.want(self.budget_ns.get().min(self.until_ns.get()));
        self.deadline.set(deadline);
        if let Some(instant) = instant {
            self.set_clock(Some(instant));
        }
    }

    /// Sets the timer to never, where it is set.
    fn disarm(&self) {
        if self.deadline.0.replace(Deadline::NEVER).is_armed() {
            self.set_clock(None);
        }
    }

    fn set_clock(&self, at_ns: Option<u64>) {
        match self.driver.get() {
            Driver::Alone => self.alone.set_clock(at_ns),
            Driver::Driven => self.driven.set_clock(at_ns),
            Driver::Nobody => {}
        }
    }
}

impl Default for Hosted {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for Hosted {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Hosted").field("driver", &self.driver.get()).finish_non_exhaustive()
    }
}

/// The first function of the idle context.
extern "C" fn begin_idle(this: usize, mode: usize) -> ! {
    let port = machine_at(this);
    let mode = u8::try_from(mode).expect("a mode that was a byte before");
    let system = port.system();
    if let Err(error) = system.start(port.configuration.get(), mode) {
        port.outcome.set(Err(error.into()));
        port.leave_for_good();
    }
    match port.driver.get() {
        Driver::Driven => port.leave(),
        Driver::Alone | Driver::Nobody => port.begin_ticks(),
    }
    system.run()
}

fn machine_at(this: usize) -> &'static Hosted {
    let place: *const Hosted = ptr::with_exposed_provenance(this);
    // SAFETY: the number of the machine that switched here, which is part of a system that lives
    // for ever.
    unsafe { &*place }
}
