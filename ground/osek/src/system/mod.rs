//! A kernel on a machine: call levels, hooks, errors, and the switch of contexts.
//!
//! ```text
//! task ── ActivateTask ──► lock ─ kernel decides ─ unlock ──► task goes on
//!                                       │
//!                          PostTaskHook ─ dispatch ─ PreTaskHook ─ port switches ──► other task
//!                                                                       │
//! task ◄── ActivateTask returns ── unlock ◄── … is resumed ◄────────────┘
//! ```
//!
//! *Lock* means that the interrupt level is the kernel's. The kernel's state is used under it only;
//! functions of the program are called without a reference to it. An ISR that ends switches as a
//! service does, on the stack of the task that it interrupted.
//!
//! | module | what |
//! |---|---|
//! | `services` | the services of tasks, resources and events |
//! | `messages` | notifications of messages from outside |
//! | `time` | those of counters, alarms and schedule tables, and what expires |
//! | `interrupts` | those that hold interrupts back; ISRs as the port brings them |
//! | `dispatch` | the switch, with its hooks and accounts |
//!
//! A call by who is not inside of the machine, as another thread of the program is, ends before it
//! touches anything: with [`Status::CallLevel`], or with nothing done.
// UNSAFETY: a system is shared by contexts that no type of Rust keeps apart.
#![expect(unsafe_code, reason = "who makes a system promises who uses it")]

mod call;
mod cell;
mod dispatch;
mod interrupts;
mod masks;
mod messages;
mod services;
mod time;

pub use call::Call;

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::check::{Refusal, check};
use crate::configuration::{Checking, Configuration};
use crate::kernel::{CallLevel, CallLevels, Kernel};
use crate::port::{Fault, Port};
use crate::status::{Service, Status};
use call::LastCall;
use cell::KernelCell;
use masks::Masks;

/// A kernel and the machine that it runs on.
pub struct System<P> {
    cell: KernelCell,
    masks: Masks,
    last: LastCall,
    kernel_level: AtomicU8,
    mode: AtomicU8,
    /// The instant at which the tick that is being worked off was due; zero outside of one.
    tick_ns: AtomicU64,
    timer_is_set: AtomicBool,
    /// The timer came while an ISR ran: the budget is looked at when that ends.
    timer_is_late: AtomicBool,
    accounting: AtomicBool,
    port: P,
}

/// Why a system did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// The configuration can't work.
    Refused(Refusal),
    /// There is no such application mode.
    UnknownMode(u8),
}

impl core::fmt::Display for StartError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "{refusal}"),
            Self::UnknownMode(mode) => write!(f, "there is no application mode {mode}"),
        }
    }
}

impl core::error::Error for StartError {}

impl<P: Port> System<P> {
    /// A system that has not started.
    ///
    /// # Safety
    /// Its services may be called from anywhere, by any thread: who is not inside of the machine,
    /// as [`Port::is_inside`] says, is refused before anything is touched. But what a machine does
    /// is done by the machine alone: nobody else calls the methods of [`Port`], nor
    /// [`System::start`], [`System::run`], [`System::interrupt`], [`System::tick`],
    /// [`System::timer`], [`System::stop`], [`System::stack_fault`] and [`System::missing_end`].
    /// And the port keeps what its trait says: one context at a time is inside, and only
    /// interrupts above the level come in between.
    pub const unsafe fn new(port: P) -> Self {
        Self {
            cell: KernelCell::new(),
            masks: Masks::new(),
            last: LastCall::new(),
            kernel_level: AtomicU8::new(1),
            mode: AtomicU8::new(0),
            tick_ns: AtomicU64::new(0),
            timer_is_set: AtomicBool::new(false),
            timer_is_late: AtomicBool::new(false),
            accounting: AtomicBool::new(false),
            port,
        }
    }

    /// Returns the machine that the system runs on.
    pub fn port(&self) -> &P {
        &self.port
    }

    /// The first half of `StartOS`: everything is as configured, the startup hook has run, and what
    /// starts by itself is ready. The port calls [`System::run`] then, in the idle context.
    ///
    /// # Errors
    /// [`StartError`]; nothing has run then.
    pub fn start(
        &self,
        configuration: &'static Configuration<'static>,
        mode: u8,
    ) -> Result<(), StartError> {
        // The port may have done so for its own sake. The kernel relies on it all the same.
        check(configuration).map_err(StartError::Refused)?;
        self.kernel_level.store(configuration.kernel_level(), Relaxed);
        self.accounting.store(configuration.accounting, Relaxed);
        self.masks.reset();
        self.timer_is_set.store(false, Relaxed);
        self.timer_is_late.store(false, Relaxed);
        self.tick_ns.store(0, Relaxed);
        self.port.set_level(configuration.kernel_level());
        let now_ns = self.port.now();
        self.cell
            .with(|kernel| kernel.start(configuration, mode, now_ns))
            .map_err(|_| StartError::UnknownMode(mode))?;
        self.mode.store(mode, Relaxed);
        // From here on errors have a hook, also those of the startup hook.
        self.cell.with(|kernel| kernel.enter(CallLevel::Task));
        self.call_hook(configuration.hooks.startup, CallLevel::StartupHook);
        Ok(())
    }

    /// The idle context: runs what is ready, then waits for interrupts, for ever.
    pub fn run(&self) -> ! {
        loop {
            self.lock();
            self.dispatch_if_needed();
            self.unlock(0);
            self.port.idle();
        }
    }

    /// `ShutdownOS`: the shutdown hook, then the end of the machine. Returns only to a stranger,
    /// and has done nothing then.
    pub fn shut_down(&self, status: u8) {
        if !self.port.is_inside() {
            return;
        }
        self.port.set_level(self.kernel_level());
        self.port.note_shut_down(status, self.cell.with(|kernel| kernel.running()));
        self.end(status)
    }

    /// The shutdown hook, then the end of the machine. Under the lock.
    fn end(&self, status: u8) -> ! {
        let hook = self.cell.with(|kernel| match kernel.enter(CallLevel::ShutdownHook) {
            // The hook itself calls this: it is over.
            CallLevel::ShutdownHook => None,
            _ => kernel.configuration().hooks.shutdown,
        });
        if let Some(hook) = hook {
            hook(status);
        }
        self.cell.with(|kernel| kernel.enter(CallLevel::Outside));
        self.port.shut_down(status)
    }

    /// The number of the service in which the last error was found.
    pub fn error_service(&self) -> u8 {
        self.last.service()
    }

    /// A parameter of that call; zero where it has none of this index.
    pub fn error_parameter(&self, index: usize) -> u64 {
        self.last.parameter(index)
    }

    /// The task that ran when the machine was left, from outside of it; `None` where it was idle.
    pub fn task_under_way(&self) -> Option<u8> {
        self.cell.with(|kernel| kernel.running())
    }

    #[inline]
    fn kernel_level(&self) -> u8 {
        self.kernel_level.load(Relaxed)
    }

    /// Returns `true` if execution times of jobs are accounted.
    #[inline]
    fn accounts(&self) -> bool {
        self.accounting.load(Relaxed)
    }

    /// Holds back what would use the kernel. Returns the level before.
    #[inline]
    fn lock(&self) -> u8 {
        let before = self.port.level();
        let kernel_level = self.kernel_level();
        if before < kernel_level {
            self.port.set_level(kernel_level);
        }
        before
    }

    /// Locks for a service that was called. Returns the level before.
    ///
    /// # Errors
    /// [`Status::CallLevel`] to a stranger, and from above the kernel's level, where the caller
    /// holds nothing back: an ISR of category 1, or nobody's task. The kernel may be at work
    /// meanwhile or beneath, so that it is not touched, not even for the error hook.
    #[inline]
    fn lock_for_caller(&self) -> Result<u8, Status> {
        if !self.port.is_inside() {
            return Err(Status::CallLevel);
        }
        let before = self.lock();
        if before > self.kernel_level() && !self.masks.hold_any() {
            return Err(Status::CallLevel);
        }
        Ok(before)
    }

    #[inline]
    fn unlock(&self, level: u8) {
        self.port.set_level(level);
    }

    /// Carries out a call from a call level that allows it, and the switch that it may lead to.
    #[inline]
    fn serve<R>(
        &self,
        levels: CallLevels,
        call: impl Fn() -> Call,
        decide: impl FnOnce(&mut Kernel<'static>) -> Result<R, Status>,
    ) -> Result<R, Status> {
        self.serve_and(levels, call, decide, |_, before| before)
    }

    /// As [`Self::serve`]; where the kernel has agreed, something more is done before the switch.
    /// That knows the level of the caller, and says which it is to have.
    #[inline]
    fn serve_and<R>(
        &self,
        levels: CallLevels,
        call: impl Fn() -> Call,
        decide: impl FnOnce(&mut Kernel<'static>) -> Result<R, Status>,
        then: impl FnOnce(&R, u8) -> u8,
    ) -> Result<R, Status> {
        let before = self.lock_for_caller()?;
        let result = self.decide(levels, decide);
        let level = match &result {
            Ok(decided) => then(decided, before),
            Err(status) => {
                self.fail(&call(), *status);
                before
            }
        };
        self.dispatch_if_needed();
        self.unlock(level);
        result
    }

    #[inline]
    fn decide<R>(
        &self,
        levels: CallLevels,
        decide: impl FnOnce(&mut Kernel<'static>) -> Result<R, Status>,
    ) -> Result<R, Status> {
        if self.masks.hold_any() {
            return Err(Status::DisabledInterrupts);
        }
        self.cell.with(|kernel| {
            let extended = kernel.configuration().checking == Checking::Extended;
            if extended && !levels.contain(kernel.call_level()) {
                return Err(Status::CallLevel);
            }
            decide(kernel)
        })
    }

    /// The instant of a release that happens now; zero where jobs are not accounted.
    #[inline]
    fn release_ns(&self) -> u64 {
        if !self.accounts() {
            return 0;
        }
        match self.tick_ns.load(Relaxed) {
            0 => self.port.now(),
            due_ns => due_ns,
        }
    }

    /// Tells of an error: the port, and the error hook unless it is the hook's own.
    #[cold]
    fn fail(&self, call: &Call, status: Status) {
        let task = match status {
            // Not who asked for it: that one is held to no inter-arrival time.
            Status::ProtectionArrival => Some(call.parameters[0] as u8),
            _ => self.cell.with(|kernel| kernel.running()),
        };
        self.fail_in(call, status, task);
    }

    /// As [`Self::fail`], in a task that may be another than the one that runs.
    #[cold]
    fn fail_in(&self, call: &Call, status: Status, task: Option<u8>) {
        let (level, hook) =
            self.cell.with(|kernel| (kernel.call_level(), kernel.configuration().hooks.error));
        self.port.note_error(&Fault { status, service: call.service, task });
        if matches!(level, CallLevel::ErrorHook | CallLevel::Outside) {
            return;
        }
        self.last.set(call);
        if let Some(hook) = hook {
            let former = self.cell.with(|kernel| kernel.enter(CallLevel::ErrorHook));
            hook(status as u8);
            self.cell.with(|kernel| kernel.enter(former));
        }
    }

    /// Calls a hook, where there is one. No task or ISR that holds interrupts back comes to where
    /// one is called.
    #[inline]
    fn call_hook(&self, hook: Option<crate::configuration::Entry>, level: CallLevel) {
        if let Some(hook) = hook {
            let former = self.cell.with(|kernel| kernel.enter(level));
            hook();
            self.cell.with(|kernel| kernel.enter(former));
            self.let_go_for_who_ended();
        }
    }

    /// An ISR or a hook may have ended with interrupts held back, which would stop everything else.
    #[inline]
    fn let_go_for_who_ended(&self) {
        if self.masks.hold_any() {
            self.masks.reset();
            self.port.set_level(self.kernel_level());
            self.fail_by_itself(Status::DisabledInterrupts);
        }
    }

    /// An error that no service found: the kernel itself did.
    fn fail_by_itself(&self, status: Status) {
        self.fail(&Call::new(Service::None, [0; 3]), status);
    }
}

impl<P> core::fmt::Debug for System<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("System").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
