//! The machine without contexts, and a program whose functions are set by each test.
// UNSAFETY: a port's switch is an unsafe function, even one that switches nothing.
#![expect(unsafe_code, reason = "the trait of ports asks for an unsafe function")]

use core::any::Any;
use std::boxed::Box;
use std::cell::{Cell, RefCell};
use std::format;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::string::String;
use std::sync::Mutex;
use std::vec::Vec;

use quietcore_units::KernelJob;

use crate::configuration::{Configuration, Hooks, Isr, Message};
use crate::port::{Enter, Fault, Leave, Port};
use crate::system::System;

/// Signals, and groups, that others may send.
const MESSAGES: usize = 4;

pub(super) type Tested = &'static System<Machine>;

/// A point at which the program can do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    Startup,
    Shutdown,
    Error,
    PreTask,
    PostTask,
    Callback,
    Isr0,
    Isr1,
}

/// The actions of the program at that point.
pub(super) type Body = fn(Tested);

std::thread_local! {
    static SYSTEM: Cell<Option<Tested>> = const { Cell::new(None) };
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static BODIES: RefCell<Vec<(Site, Body)>> = const { RefCell::new(Vec::new()) };
    /// Interrupts that are held back.
    static PENDING: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static LEVEL: Cell<u8> = const { Cell::new(0) };
    static NOW_NS: Cell<u64> = const { Cell::new(1000) };
    static TIMER_NS: Cell<Option<u64>> = const { Cell::new(None) };
    static STACKS_ARE_INTACT: Cell<bool> = const { Cell::new(true) };
    /// Sendings of each message, by its number; those of groups behind.
    static SENT: Cell<[u64; 2 * MESSAGES]> = const { Cell::new([0; 2 * MESSAGES]) };
    static IS_INSIDE: Cell<bool> = const { Cell::new(true) };
    /// An ISR of category 1, and after how many uses of the level it comes.
    static CATEGORY_1: Cell<Option<(u32, Body)>> = const { Cell::new(None) };
}

/// The level of the ISR of category 1.
pub(super) const CATEGORY_1_LEVEL: u8 = 40;

/// Values that live as long as the program, as a configuration does. Nothing is ever taken out.
static KEPT: Mutex<Vec<&'static (dyn Any + Send + Sync)>> = Mutex::new(Vec::new());

/// Keeps a value for ever.
pub(super) fn keep<T: Any + Send + Sync>(value: T) -> &'static T {
    let kept: &'static T = Box::leak(Box::new(value));
    KEPT.lock().expect("nobody panics with it").push(kept);
    kept
}

/// The machine. Its state is of the thread, so that tests don't meet.
pub(super) struct Machine;

impl Port for Machine {
    fn is_inside(&self) -> bool {
        IS_INSIDE.get()
    }

    fn level(&self) -> u8 {
        let level = LEVEL.get();
        count_use();
        level
    }

    fn set_level(&self, level: u8) {
        count_use();
        LEVEL.set(level);
        count_use();
        let configuration = system().cell.with(|kernel| kernel.configuration());
        loop {
            let next = PENDING.with_borrow_mut(|pending| {
                let level_of = |isr: &u8| configuration.isrs[usize::from(*isr)].level;
                let place = (0..pending.len()).max_by_key(|place| level_of(&pending[*place]))?;
                (level_of(&pending[place]) > LEVEL.get()).then(|| pending.remove(place))
            });
            let Some(isr) = next else { return };
            take(isr, &configuration.isrs[usize::from(isr)]);
        }
    }

    fn now(&self) -> u64 {
        NOW_NS.get()
    }

    fn set_timer(&self, at_ns: Option<u64>) {
        TIMER_NS.set(at_ns);
        note(match at_ns {
            Some(at_ns) => format!("timer at {at_ns}"),
            None => "no timer".into(),
        });
    }

    unsafe fn switch(&self, leave: Leave, enter: Enter) {
        let entered = match enter {
            Enter::Begin(task, _) => format!("begin {task}"),
            Enter::Resume(task) => format!("resume {task}"),
            Enter::Idle => "idle".into(),
        };
        note(format!("leave {leave:?}, {entered}"));
    }

    fn idle(&self) {
        note(format!("idle at level {}", LEVEL.get()));
        resume_unwind(Box::new("idle"));
    }

    fn stack_is_intact(&self, _: u8) -> bool {
        STACKS_ARE_INTACT.get()
    }

    fn message_count(&self, message: &Message) -> u64 {
        let of_groups = if message.is_group { MESSAGES } else { 0 };
        SENT.get()[of_groups + usize::from(message.number)]
    }

    fn pend_isr(&self, isr: u8) {
        PENDING.with_borrow_mut(|pending| pending.push(isr));
    }

    fn note_job(&self, job: &KernelJob) {
        let (kind, task) = (if job.waits == 1 { "waits" } else { "ended" }, job.task);
        let (released_ns, finished_ns) = (job.released_ns, job.finished_ns);
        note(format!("job of {task} {kind}, from {released_ns} to {finished_ns}"));
    }

    fn note_error(&self, fault: &Fault) {
        let task = fault.task.map_or("nobody".into(), |task| format!("task {task}"));
        note(format!("{:?} in {:?}, {task}", fault.status, fault.service));
    }

    fn shut_down(&self, status: u8) -> ! {
        note(format!("shut down with {status} at level {}", LEVEL.get()));
        resume_unwind(Box::new("shut down"));
    }
}

/// The level was read or is changed: the ISR of category 1 comes if it is its turn and it passes.
fn count_use() {
    match CATEGORY_1.get() {
        Some((0, body)) if LEVEL.get() < CATEGORY_1_LEVEL => {
            CATEGORY_1.set(None);
            let before = LEVEL.replace(CATEGORY_1_LEVEL);
            body(system());
            LEVEL.set(before);
        }
        Some((left, body)) => CATEGORY_1.set(Some((left.saturating_sub(1), body))),
        None => {}
    }
}

/// Has an ISR of category 1 come after so many uses of the level.
pub(super) fn interrupt_after(uses: u32, body: Body) {
    CATEGORY_1.set(Some((uses, body)));
}

/// Returns `true` if an interrupt is still to come, and takes it away.
pub(super) fn take_interrupt() -> bool {
    CATEGORY_1.take().is_some()
}

fn take(isr: u8, configured: &Isr) {
    let before = LEVEL.replace(configured.level);
    system().interrupt(isr);
    LEVEL.set(before);
}

/// The machine is asked for an interrupt.
pub(super) fn raise(isr: u8) {
    PENDING.with_borrow_mut(|pending| pending.push(isr));
    system().port.set_level(LEVEL.get());
}

/// Lets `ns` nanoseconds go by.
pub(super) fn pass(ns: u64) {
    NOW_NS.set(NOW_NS.get() + ns);
}

/// The timer comes when it was asked for; time goes on until then.
pub(super) fn let_timer_come() {
    let at_ns = TIMER_NS.take().expect("the timer is set");
    NOW_NS.set(NOW_NS.get().max(at_ns));
    let system = system();
    let before = LEVEL.replace(system.kernel_level());
    system.timer();
    LEVEL.set(before);
}

/// Somebody sends a signal, or a group.
pub(super) fn send(number: usize, is_group: bool) {
    let mut sent = SENT.get();
    sent[number + if is_group { MESSAGES } else { 0 }] += 1;
    SENT.set(sent);
}

pub(super) fn spoil_stacks() {
    STACKS_ARE_INTACT.set(false);
}

/// Has something done by nobody of the machine.
pub(super) fn as_stranger<R>(act: impl FnOnce() -> R) -> R {
    IS_INSIDE.set(false);
    let done = act();
    IS_INSIDE.set(true);
    done
}

pub(super) fn set_level_to(level: u8) {
    LEVEL.set(level);
}

pub(super) fn level() -> u8 {
    LEVEL.get()
}

fn system() -> Tested {
    SYSTEM.get().expect("a test has made one")
}

pub(super) fn note(line: impl Into<String>) {
    LOG.with_borrow_mut(|log| log.push(line.into()));
}

/// Takes the notes since the last call.
pub(super) fn log() -> Vec<String> {
    LOG.take()
}

/// Has something done at a site from now on.
pub(super) fn at(site: Site, body: Body) {
    BODIES.with_borrow_mut(|bodies| bodies.push((site, body)));
}

/// Returns how a part of a story ended that does not return.
pub(super) fn ends_with(story: impl FnOnce()) -> &'static str {
    let thrown = catch_unwind(AssertUnwindSafe(story)).expect_err("it does not return");
    thrown.downcast_ref::<&str>().copied().unwrap_or("something else")
}

/// A system that has not started.
pub(super) fn new_system() -> Tested {
    // SAFETY: a system and its machine are used by one thread, which has their state.
    let system = keep(unsafe { System::new(Machine) });
    SYSTEM.set(Some(system));
    BODIES.take();
    PENDING.take();
    LEVEL.set(0);
    NOW_NS.set(1000);
    TIMER_NS.set(None);
    STACKS_ARE_INTACT.set(true);
    IS_INSIDE.set(true);
    SENT.set([0; 2 * MESSAGES]);
    log();
    system
}

/// Starts a system, without hooks before that, and runs what starts by itself.
pub(super) fn start(configuration: Configuration<'static>) -> Tested {
    let system = new_system();
    system.start(keep(configuration), 0).expect("the configuration can work");
    let _ = ends_with(|| system.run());
    log();
    system
}

fn act(site: Site) {
    let body = BODIES.with_borrow(|bodies| {
        bodies.iter().rev().find(|(other, _)| *other == site).map(|(_, body)| *body)
    });
    match body {
        Some(body) => body(system()),
        None => note(format!("{site:?}")),
    }
}

extern "C" fn startup() {
    act(Site::Startup);
}

extern "C" fn shutdown(status: u8) {
    note(format!("ShutdownHook({status})"));
    act(Site::Shutdown);
}

extern "C" fn error(status: u8) {
    note(format!("ErrorHook({status})"));
    act(Site::Error);
}

extern "C" fn pre_task() {
    act(Site::PreTask);
}

extern "C" fn post_task() {
    act(Site::PostTask);
}

pub(super) extern "C" fn callback() {
    act(Site::Callback);
}

pub(super) extern "C" fn isr_0() {
    act(Site::Isr0);
}

pub(super) extern "C" fn isr_1() {
    act(Site::Isr1);
}

/// Hooks of all five kinds.
pub(super) const HOOKS: Hooks = Hooks {
    startup: Some(startup),
    shutdown: Some(shutdown),
    error: Some(error),
    pre_task: Some(pre_task),
    post_task: Some(post_task),
};

/// Those for errors and the end.
pub(super) const ERROR_HOOKS: Hooks = Hooks {
    startup: None,
    shutdown: Some(shutdown),
    error: Some(error),
    pre_task: None,
    post_task: None,
};
