//! The signal handlers of a machine that is alone.
//!
//! The kernel's own signals can't pile up: each timer has one on its way at most, and the doorbell
//! is rung once until it is answered. So their handlers block nothing, and a task that one of them
//! leads to runs with no signal blocked.
//!
//! Signals of sources come from outside and do pile up. When the thread was away for a while, each
//! of those that came meanwhile would get a frame on the stack, one on top of the other, before any
//! handler runs. So they are blocked while their handler begins, and let in when the level is that
//! of the interrupt being taken: then those that follow are noted and return. That is one system
//! call for an interrupt that is taken.
//!
//! Fault signals are handled on a stack of their own: that of the task may be what is exhausted.
// UNSAFETY: installs signal handlers, and runs in them.
#![expect(unsafe_code, reason = "signal handlers are given to the C library")]

use core::ffi::{c_int, c_void};
use core::mem::{MaybeUninit, zeroed};
use core::ptr;
use core::sync::atomic::Ordering::Acquire;

use super::super::{Hosted, Own, Refused, surroundings};
use super::MACHINE;
use crate::port::Port as _;
use crate::port::controller::Interrupt;

/// Signals that no source has, the highest ones: those of the machine, and one that Valgrind keeps
/// for itself.
const OWN: c_int = 4;
/// Most signals that there are.
const SIGNALS: usize = 65;
/// The code of a fault whose address the operating system doesn't tell: also of one that comes of a
/// signal for whose frame the stack had no room.
const SI_KERNEL: c_int = 0x80;
/// The signals of a fault that an overflowing stack leads to.
const FAULTS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The signal of the tick.
pub(super) fn tick() -> c_int {
    libc::SIGRTMAX() - 1
}

/// The signal of the timer.
pub(super) fn clock() -> c_int {
    libc::SIGRTMAX() - 2
}

/// The signal by which other threads say that they raised something.
pub(super) fn doorbell() -> c_int {
    libc::SIGRTMAX() - 3
}

/// The signal of a source, where it has one.
fn of_source(source: u32) -> Option<c_int> {
    let signal = c_int::try_from(source).ok()?.checked_add(libc::SIGRTMIN())?;
    (signal <= libc::SIGRTMAX() - OWN).then_some(signal)
}

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The signal handlers that were in place before.
#[derive(Debug)]
pub(super) struct Handlers {
    actions: [Own<Option<libc::sigaction>>; SIGNALS],
    fault_stack: Own<Option<libc::stack_t>>,
    /// The signals of sources and of the machine.
    ours: Own<libc::sigset_t>,
    /// The signals that were blocked.
    blocked: Own<Option<libc::sigset_t>>,
}

impl Handlers {
    pub(super) const fn new() -> Self {
        // SAFETY: all zero is the empty set.
        let none: libc::sigset_t = unsafe { MaybeUninit::zeroed().assume_init() };
        Self {
            actions: [const { Own::new(None) }; SIGNALS],
            fault_stack: Own::new(None),
            ours: Own::new(none),
            blocked: Own::new(None),
        }
    }

    /// Installs the handlers of the machine: its own, those of the sources that have a signal, and
    /// those of faults, on the stack given.
    ///
    /// # Errors
    /// [`Refused::System`]; [`restore`](Self::restore) then undoes what was done.
    pub(super) fn install(
        &self,
        sources: impl Iterator<Item = u32> + Clone,
        fault_stack: (*mut u8, usize),
    ) -> Result<(), Refused> {
        let sources = sources.filter_map(of_source);
        let own = [tick(), clock(), doorbell()];
        let none = self.ours.get();
        let mut ours = none;
        for signal in own.into_iter().chain(sources.clone()) {
            // SAFETY: `ours` is a live set; the number is that of a signal.
            unsafe { libc::sigaddset(&raw mut ours, signal) };
        }
        self.ours.set(ours);
        let to_caller = libc::SA_NODEFER | libc::SA_RESTART;
        for signal in own {
            self.replace(signal, on_machine, to_caller, none)?;
        }
        for signal in sources {
            self.replace(signal, on_source, libc::SA_RESTART, ours)?;
        }
        let stack =
            libc::stack_t { ss_sp: fault_stack.0.cast(), ss_flags: 0, ss_size: fault_stack.1 };
        // SAFETY: all zero is a valid `stack_t`.
        let mut before: libc::stack_t = unsafe { zeroed() };
        // SAFETY: the stack is mapped as long as the machine runs; `restore` takes it back.
        if unsafe { libc::sigaltstack(&raw const stack, &raw mut before) } != 0 {
            return Err(Refused::system("sigaltstack"));
        }
        self.fault_stack.set(Some(before));
        for signal in FAULTS {
            self.replace(signal, on_fault, libc::SA_NODEFER | libc::SA_ONSTACK, none)?;
        }
        self.blocked.set(Some(self.let_in()));
        Ok(())
    }

    fn replace(
        &self,
        signal: c_int,
        handler: Handler,
        flags: c_int,
        mask: libc::sigset_t,
    ) -> Result<(), Refused> {
        let place = &self.actions[signal as usize];
        if place.get().is_some() {
            return Ok(()); // Two ISRs of one source.
        }
        // SAFETY: all zero is a valid `sigaction`.
        let mut action: libc::sigaction = unsafe { zeroed() };
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = flags | libc::SA_SIGINFO;
        action.sa_mask = mask;
        // SAFETY: as above.
        let mut before: libc::sigaction = unsafe { zeroed() };
        // SAFETY: the handler is safe to be called at any instant: it only uses what is made for
        // it.
        if unsafe { libc::sigaction(signal, &raw const action, &raw mut before) } != 0 {
            return Err(Refused::system("sigaction"));
        }
        place.set(Some(before));
        Ok(())
    }

    /// Puts back what was in place before.
    pub(super) fn restore(&self) {
        if let Some(blocked) = self.blocked.0.take() {
            // First this: what is still on its way finds the handlers of the machine.
            // SAFETY: the set is live for the call.
            unsafe {
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const blocked, ptr::null_mut())
            };
        }
        for signal in 1..SIGNALS {
            self.restore_one(signal as c_int);
        }
        if let Some(before) = self.fault_stack.0.take() {
            // SAFETY: what `sigaltstack` told before; no handler runs on the one of the machine.
            unsafe { libc::sigaltstack(&raw const before, ptr::null_mut()) };
        }
        // SAFETY: all zero is the empty set.
        self.ours.set(unsafe { zeroed() });
    }

    fn restore_one(&self, signal: c_int) {
        if let Some(before) = self.actions[signal as usize].0.take() {
            // SAFETY: what `sigaction` told before.
            unsafe { libc::sigaction(signal, &raw const before, ptr::null_mut()) };
        }
    }

    /// Blocks none of the machine's signals any more. Returns what was blocked before.
    fn let_in(&self) -> libc::sigset_t {
        let ours = self.ours.get();
        let mut before = ours;
        // SAFETY: both sets are live for the call.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const ours, &raw mut before) };
        before
    }
}

fn machine() -> Option<&'static Hosted> {
    // SAFETY: null, or a machine that is part of a system, which lives for ever.
    unsafe { MACHINE.load(Acquire).as_ref() }
}

/// Tick, timer and doorbell, all sent to the machine's thread.
extern "C" fn on_machine(signal: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    let Some(port) = machine() else { return };
    let before = surroundings::errno();
    if signal == tick() {
        port.controller.pend(Interrupt::Tick);
    } else if signal == clock() {
        port.controller.pend(Interrupt::Timer);
    } else {
        // First this, then a look at what is pending: nobody is missed.
        port.alone.answer();
    }
    // Before the first task and after the last one the thread is on its own stack, and nothing
    // passes.
    if port.is_inside() {
        port.take();
    }
    surroundings::set_errno(before);
}

/// The signal of a source, sent by anybody to this thread or to the process.
extern "C" fn on_source(signal: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    let Some(port) = machine() else { return };
    let before = surroundings::errno();
    let source = (signal - libc::SIGRTMIN()) as u32;
    if port.is_inside() {
        port.pend_source(source);
        if let Some(taken) = port.controller.begin() {
            port.alone.handlers.let_in();
            port.dispatch(taken.interrupt);
            port.controller.end(taken);
            port.take();
        }
    } else {
        port.raise(source);
    }
    surroundings::set_errno(before);
}

/// A fault. At the end of the stack of the task that runs it is an overflow, which ends the
/// machine. Else it is not ours: it happens again, with the handler that was in place before.
extern "C" fn on_fault(signal: c_int, information: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(port) = machine() else { return };
    // SAFETY: the operating system gives a live structure.
    let code = unsafe { (*information).si_code };
    let address = match code {
        // SAFETY: the operating system gives a live structure.
        SI_KERNEL => Some(unsafe { interrupted_stack(context) }),
        // SAFETY: as above; what the operating system found has an address.
        1.. => Some(unsafe { (*information).si_addr() }.addr()),
        // Somebody sent it.
        _ => None,
    };
    let address = address.filter(|_| port.alone.is_thread());
    match address.and_then(|address| port.task_of_guard(address)) {
        Some(task) => port.end_overflowed(task),
        None => port.alone.handlers.restore_one(signal),
    }
    if code <= 0 {
        // It would not happen again by itself.
        // SAFETY: the number of a signal.
        unsafe { libc::raise(signal) };
    }
}

/// The stack pointer of what a signal interrupted.
///
/// # Safety
/// The third argument of a signal's handler.
unsafe fn interrupted_stack(context: *const c_void) -> usize {
    let context: *const libc::ucontext_t = context.cast();
    // SAFETY: as our caller promises.
    let registers = unsafe { &(*context).uc_mcontext };
    registers.gregs[libc::REG_RSP as usize] as usize
}
