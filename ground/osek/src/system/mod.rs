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
//! | `time` | those of counters, alarms and schedule tables, and what expires |
//! | `interrupts` | those that hold interrupts back; ISRs as the port brings them |
//! | `dispatch` | the switch, with its hooks and accounts |

mod call;
mod cell;
mod dispatch;
mod interrupts;
mod masks;
mod services;
mod time;

pub use call::Call;

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::check::{Refusal, check};
use crate::configuration::{Checking, Configuration};
use crate::kernel::{Kernel, Place, Places};
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
    pub const fn new(port: P) -> Self {
        Self {
            cell: KernelCell::new(),
            masks: Masks::new(),
            last: LastCall::new(),
            kernel_level: AtomicU8::new(1),
            mode: AtomicU8::new(0),
            tick_ns: AtomicU64::new(0),
            timer_is_set: AtomicBool::new(false),
            accounting: AtomicBool::new(false),
            port,
        }
    }

    /// Its machine.
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
        check(configuration).map_err(StartError::Refused)?;
        if mode >= configuration.mode_count {
            return Err(StartError::UnknownMode(mode));
        }
        self.kernel_level.store(configuration.kernel_level(), Relaxed);
        self.mode.store(mode, Relaxed);
        self.accounting.store(configuration.accounting, Relaxed);
        self.masks.reset();
        self.timer_is_set.store(false, Relaxed);
        self.tick_ns.store(0, Relaxed);
        self.port.set_level(configuration.kernel_level());
        let now_ns = self.port.now();
        self.cell
            .with(|kernel| kernel.start(configuration, mode, now_ns))
            .map_err(|_| StartError::UnknownMode(mode))?;
        self.call_hook(configuration.hooks.startup, Place::StartupHook);
        self.cell.with(|kernel| kernel.enter(Place::Task));
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

    /// `ShutdownOS`: the shutdown hook, then the end of the machine.
    pub fn shut_down(&self, status: u8) -> ! {
        self.port.set_level(self.kernel_level());
        self.port.note_shut_down(status, self.cell.with(|kernel| kernel.running()));
        self.end(status)
    }

    /// The shutdown hook, then the end of the machine. Under the lock.
    fn end(&self, status: u8) -> ! {
        let hook = self.cell.with(|kernel| match kernel.enter(Place::ShutdownHook) {
            // The hook itself calls this: it is over.
            Place::ShutdownHook => None,
            _ => kernel.configuration().hooks.shutdown,
        });
        if let Some(hook) = hook {
            hook(status);
        }
        self.cell.with(|kernel| kernel.enter(Place::Outside));
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

    /// Whether jobs are accounted.
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
    /// [`Status::CallLevel`] from above the kernel's level, where the caller holds nothing back: an
    /// ISR of category 1, or nobody's task. The kernel may be at work beneath, so that it is not
    /// touched, not even for the error hook.
    #[inline]
    fn lock_for_caller(&self) -> Result<u8, Status> {
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

    /// Carries out a call from a place where it is allowed, and the switch that it may lead to.
    #[inline]
    fn serve<R>(
        &self,
        places: Places,
        call: impl Fn() -> Call,
        decide: impl FnOnce(&mut Kernel<'static>) -> Result<R, Status>,
    ) -> Result<R, Status> {
        let level = self.lock_for_caller()?;
        let result = self.decide(places, decide);
        if let Err(status) = &result {
            self.fail(&call(), *status);
        }
        self.dispatch_if_needed();
        self.unlock(level);
        result
    }

    #[inline]
    fn decide<R>(
        &self,
        places: Places,
        decide: impl FnOnce(&mut Kernel<'static>) -> Result<R, Status>,
    ) -> Result<R, Status> {
        if self.masks.hold_any() {
            return Err(Status::DisabledInterrupts);
        }
        self.cell.with(|kernel| {
            let extended = kernel.configuration().checking == Checking::Extended;
            if extended && !places.contain(kernel.place()) {
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
        let (place, hook) =
            self.cell.with(|kernel| (kernel.place(), kernel.configuration().hooks.error));
        self.port.note_error(&Fault { status, service: call.service, task });
        if matches!(place, Place::ErrorHook | Place::Outside) {
            return;
        }
        self.last.set(call);
        if let Some(hook) = hook {
            let former = self.cell.with(|kernel| kernel.enter(Place::ErrorHook));
            hook(status as u8);
            self.cell.with(|kernel| kernel.enter(former));
        }
    }

    /// Calls a hook, where there is one.
    #[inline]
    fn call_hook(&self, hook: Option<crate::configuration::Entry>, place: Place) {
        if let Some(hook) = hook {
            let former = self.cell.with(|kernel| kernel.enter(place));
            hook();
            self.cell.with(|kernel| kernel.enter(former));
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
