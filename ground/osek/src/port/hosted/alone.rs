//! A machine that is alone: a program of its own, ticked by a timer of its own.
//!
//! | interrupt | signal | raised by |
//! |---|---|---|
//! | tick | `SIGRTMAX - 1` | a POSIX timer, periodic, by absolute time |
//! | timer | `SIGRTMAX - 2` | a POSIX timer, once |
//! | what other threads raise | `SIGRTMAX - 3`, the doorbell | [`Hosted::raise`] |
//! | ISR of source `s` below 27 | `SIGRTMIN + s` | anybody |
//!
//! The standard's `StartOS` does not return. Here it does, after `ShutdownOS`: the program goes on
//! behind it, and nothing is left of the machine: no timer, no handler, no memory.
//!
//! Idle is `pause`. It can't miss a wake-up: an interrupt that comes before it is carried out to
//! its end there and then, tasks included, so that nothing is left to be looked at.
//!
//! ```
//! use quietcore_osek::configuration::{Configuration, Kind, Task};
//! use quietcore_osek::port::hosted::{Hosted, alone};
//! use quietcore_osek::system::System;
//!
//! // SAFETY: this program calls its services only.
//! static SYSTEM: System<Hosted> = unsafe { System::new(Hosted::new()) };
//! static TASKS: [Task; 1] = [Task {
//!     entry: only,
//!     events: 0,
//!     budget_ns: 0,
//!     inter_arrival_ns: 0,
//!     autostart: 1,
//!     stack_bytes: 16384,
//!     priority: 1,
//!     running_level: 1,
//!     activations: 1,
//!     kind: Kind::Basic,
//! }];
//! static CONFIGURATION: Configuration<'static> =
//!     Configuration { tasks: &TASKS, ..Configuration::EMPTY };
//!
//! extern "C" fn only() {
//!     SYSTEM.shut_down(7);
//! }
//!
//! assert_eq!(alone::start(&SYSTEM, &CONFIGURATION, 0), Ok(7));
//! ```
// UNSAFETY: makes timers, and shares the machine with signal handlers.
#![expect(unsafe_code, reason = "timers are made by the C library")]

mod doorbell;
mod signals;

use core::ffi::c_int;
use core::fmt::Write as _;
use core::ptr;
use core::sync::atomic::{
    AtomicI32, AtomicPtr,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use super::flood::Flood;
use super::{Driver, Hosted, Own, Refused};
use crate::configuration::Configuration;
use crate::port::{Fault, Port as _};
use crate::status::{Service, Status};
use crate::system::System;
use crate::text::Text;
use doorbell::Doorbell;
use signals::Handlers;

/// The machine that is alone in this process.
pub(super) static MACHINE: AtomicPtr<Hosted> = AtomicPtr::new(ptr::null_mut());

/// Most errors that are written in a second: more, nobody reads.
const WRITTEN_MAX: u32 = 100;

/// Time for which other threads are let run, in ns.
const GIVE_WAY_NS: u64 = 50_000;

/// The part of the machine that is needed only where it is alone.
#[derive(Debug)]
pub(super) struct Alone {
    tick: Own<Option<Timer>>,
    clock: Own<Option<Timer>>,
    /// The number of the machine's thread.
    thread_id: AtomicI32,
    doorbell: Doorbell,
    /// Limits the errors written to standard error.
    flood: Own<Flood>,
    /// The handlers before the machine's.
    handlers: Handlers,
}

impl Alone {
    pub(super) const fn new() -> Self {
        Self {
            tick: Own::new(None),
            clock: Own::new(None),
            thread_id: AtomicI32::new(0),
            doorbell: Doorbell::new(),
            flood: Own::new(Flood::new(WRITTEN_MAX)),
            handlers: Handlers::new(),
        }
    }

    pub(super) fn set_clock(&self, at_ns: Option<u64>) {
        if let Some(clock) = self.clock.get() {
            clock.set(at_ns.unwrap_or(0), 0);
        }
    }

    /// The doorbell is answered.
    pub(super) fn answer(&self) {
        self.doorbell.answer();
    }

    fn ring(&self) {
        if !self.doorbell.ring() {
            return;
        }
        let thread_id = self.thread_id.load(Relaxed);
        // SAFETY: plain numbers; the handler is in place as long as the gate is open.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread_id, signals::doorbell()) };
    }

    /// Returns `true` if the caller is the machine's thread.
    pub(super) fn is_thread(&self) -> bool {
        self.thread_id.load(Relaxed) == thread_id()
    }

    fn make_timers(&self) -> Result<(), Refused> {
        let thread_id = thread_id();
        self.thread_id.store(thread_id, Relaxed);
        self.tick.set(Some(Timer::new(signals::tick(), thread_id)?));
        self.clock.set(Some(Timer::new(signals::clock(), thread_id)?));
        Ok(())
    }

    fn delete_timers(&self) {
        for timer in [&self.tick, &self.clock] {
            if let Some(timer) = timer.0.take() {
                timer.delete();
            }
        }
    }
}

/// The number of this thread.
fn thread_id() -> c_int {
    // SAFETY: asks for a number.
    unsafe { libc::gettid() }
}

/// A timer of the operating system that sends a signal to one thread.
#[derive(Clone, Copy, Debug)]
struct Timer(libc::timer_t);

impl Timer {
    fn new(signal: c_int, thread_id: c_int) -> Result<Self, Refused> {
        // SAFETY: all zero is a valid `sigevent`.
        let mut event: libc::sigevent = unsafe { core::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_notify_thread_id = thread_id;
        let mut timer = ptr::null_mut();
        let clock = libc::CLOCK_MONOTONIC;
        // SAFETY: both pointers are live for the call.
        let made = unsafe { libc::timer_create(clock, &raw mut event, &raw mut timer) };
        if made == 0 { Ok(Self(timer)) } else { Err(Refused::system("timer_create")) }
    }

    /// Expires at an instant, and every `period_ns` then; zero for never.
    fn set(self, at_ns: u64, period_ns: u64) {
        let setting =
            libc::itimerspec { it_interval: timespec(period_ns), it_value: timespec(at_ns) };
        let absolute = libc::TIMER_ABSTIME;
        // SAFETY: the timer was made by `new`; the setting is live for the call.
        unsafe { libc::timer_settime(self.0, absolute, &raw const setting, ptr::null_mut()) };
    }

    fn delete(self) {
        // SAFETY: the timer was made by `new`, and its owner forgets it with this.
        unsafe { libc::timer_delete(self.0) };
    }
}

fn timespec(ns: u64) -> libc::timespec {
    // Both fit: the first is below 2^35, the second below 10^9.
    libc::timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

/// Runs the kernel in the calling thread. Returns what `ShutdownOS` got, after it.
///
/// # Errors
/// [`Refused`] where it can't start; then nothing is left, either.
pub fn start(
    system: &'static System<Hosted>,
    configuration: &'static Configuration<'static>,
    mode: u8,
) -> Result<u8, Refused> {
    let port = system.port();
    let place = ptr::from_ref(port).cast_mut();
    let claimed = MACHINE.compare_exchange(ptr::null_mut(), place, AcqRel, Relaxed);
    if claimed.is_err() || port.driver.get() != Driver::Nobody {
        if claimed.is_ok() {
            MACHINE.store(ptr::null_mut(), Release);
        }
        return Err(Refused::AlreadyRuns);
    }
    let outcome = port.run_alone(system, configuration, mode);
    MACHINE.store(ptr::null_mut(), Release);
    outcome
}

impl Hosted {
    fn run_alone(
        &self,
        system: &'static System<Self>,
        configuration: &'static Configuration<'static>,
        mode: u8,
    ) -> Result<u8, Refused> {
        self.prepare(system, configuration, Driver::Alone)?;
        let sources = configuration.isrs.iter().map(|isr| isr.source);
        let ready = self
            .alone
            .handlers
            .install(sources, self.stacks.fault_stack())
            .and_then(|()| self.alone.make_timers());
        let outcome = ready.and_then(|()| {
            self.gate.open();
            self.enter(mode);
            self.gate.close(give_way);
            self.outcome.get()
        });
        // First what sends signals, then what takes them.
        self.alone.delete_timers();
        self.driver.set(Driver::Nobody);
        self.alone.handlers.restore();
        self.alone.answer();
        write_untold(self.alone.flood.0.replace(Flood::new(WRITTEN_MAX)).take_untold());
        self.stacks.unmap();
        outcome
    }

    /// Begins to count time, and sets the timer.
    pub(super) fn begin_ticks(&self) {
        let mut ticks = self.ticks.get();
        let now_ns = self.now();
        ticks.begin(now_ns);
        self.ticks.set(ticks);
        if let (Some(timer), 1..) = (self.alone.tick.get(), ticks.period_ns) {
            timer.set(now_ns + ticks.period_ns, ticks.period_ns);
        }
    }

    /// Raises the interrupts of a source. Any thread may call it; where no machine runs, nothing
    /// happens. A machine that is driven takes it at the next service, or in its next step.
    pub fn raise(&self, source: u32) {
        let raise = || {
            if self.pend_source(source) && MACHINE.load(Acquire) == ptr::from_ref(self).cast_mut() {
                self.alone.ring();
            }
        };
        if self.is_inside() {
            // The machine runs, and does not end before its own task comes back from here; or that
            // never does, because what it raises ends it.
            raise();
        } else {
            self.gate.pass(raise);
        }
    }

    /// Writes what the kernel found by itself to standard error, with the task's name. What a
    /// service found is told to its caller and to the error hook.
    ///
    /// Interrupts are held back meanwhile; so of an error in a loop not all are written.
    pub(super) fn write_fault(&self, fault: &Fault) {
        if fault.service != Service::None {
            return;
        }
        let mut flood = self.alone.flood.get();
        let passed = flood.pass(self.now());
        self.alone.flood.set(flood);
        // The last of all is written in any case.
        if passed.is_none() && fault.status != Status::StackFault {
            return;
        }
        write_untold(passed.unwrap_or(0));
        let name = fault.task.and_then(|task| (self.task_name.get()?)(task)?.to_str().ok());
        write_fault(fault, name);
    }

    /// A task's stack overflowed: nothing can go on in it. Ends the machine.
    pub(super) fn end_overflowed(&self, task: u8) -> ! {
        self.system().stack_fault(task)
    }
}

/// Waits for an interrupt.
pub(super) fn wait() {
    // SAFETY: it waits for a signal, and has no conditions.
    unsafe { libc::pause() };
}

/// Lets other threads run, those of a lower priority among them.
pub(super) fn give_way() {
    let time = timespec(GIVE_WAY_NS);
    // SAFETY: the time is live for the call.
    unsafe { libc::nanosleep(&raw const time, ptr::null_mut()) };
}

/// Says how many errors were not written.
fn write_untold(count: u64) {
    if count != 0 {
        let mut text = Text::<128>::new();
        // A text that is too long is cut, which is no error.
        let _ = writeln!(text, "quietcore-osek: {count} more errors came too fast to be written");
        write_error(text.as_bytes());
    }
}

fn write_fault(fault: &Fault, name: Option<&str>) {
    let what = match fault.status {
        Status::StackFault => "its stack overflowed; the kernel is shut down",
        Status::MissingEnd => "it returned without TerminateTask or ChainTask",
        Status::ProtectionTime => "it used up its execution budget and was ended",
        Status::DisabledInterrupts => "an ISR or a hook ended with interrupts held back",
        Status::Resource => "an ISR ended with a resource occupied",
        _ => "the kernel found an error",
    };
    let mut text = Text::<256>::new();
    // As above.
    let _ = write!(text, "quietcore-osek: ");
    if let Some(task) = fault.task {
        let _ = write!(text, "task {task} ({}): ", name.unwrap_or("?"));
    }
    let _ = writeln!(text, "{what} (status {})", fault.status as u8);
    write_error(text.as_bytes());
}

/// Writes to standard error.
pub(crate) fn write_error(bytes: &[u8]) {
    // SAFETY: the bytes are live for the call.
    unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}
