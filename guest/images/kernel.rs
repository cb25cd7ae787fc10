//! An image with the kernel in it: an alarm every 1 ms activates a task, which preempts an endless
//! one; the fiftieth job ends the guest.
// UNSAFETY: the boot calls this image by a name.

#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "an image begins with a function that the boot calls by its name")]

use core::fmt::Write as _;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use quietcore_boot::HostPage;
use quietcore_guest::host;
use quietcore_guest::kernel::{self, Processor};
use quietcore_osek::configuration::{
    Action, ActionKind, Alarm, Class, Configuration, Counter, Kind, Task,
};
use quietcore_osek::port::bare::Bare;
use quietcore_osek::system::System;

/// Used in place of the host's page if there is none.
const GUESS: HostPage = HostPage { memory_bytes: 16 << 20, ..HostPage::of_counter(1_000_000_000) };

// SAFETY: nobody but the kernel's machine calls the methods that are the machine's.
static SYSTEM: System<Bare<Processor>> = unsafe { System::new(Bare::new(Processor::new())) };

static ROUNDS: AtomicU64 = AtomicU64::new(0);
static JOBS: AtomicU64 = AtomicU64::new(0);

const fn task(entry: extern "C" fn(), priority: u8, autostart: u32, activations: u8) -> Task {
    Task {
        entry,
        events: 0,
        budget_ns: 0,
        inter_arrival_ns: 0,
        autostart,
        stack_bytes: 4096,
        priority,
        running_level: priority,
        activations,
        kind: Kind::Basic,
    }
}

/// An emulator of this guest may stand still for a while: then many ticks are due at once.
static TASKS: [Task; 2] = [task(endless, 1, 1, 1), task(periodic, 2, 0, 255)];
static COUNTERS: [Counter; 1] = [Counter {
    max_allowed: 999,
    ticks_per_base: 1,
    min_cycle: 1,
    hardware: true,
    tick_ns: 1_000_000,
}];
static ALARMS: [Alarm; 1] = [Alarm {
    action: Action { kind: ActionKind::ActivateTask, object: 1, events: 0, callback: None },
    counter: 0,
    autostart: 1,
    first: 1,
    cycle: 1,
}];
static CONFIGURATION: Configuration<'static> = Configuration {
    class: Class::Bcc2,
    tasks: &TASKS,
    counters: &COUNTERS,
    alarms: &ALARMS,
    ..Configuration::EMPTY
};

extern "C" fn endless() {
    loop {
        ROUNDS.fetch_add(1, Relaxed);
    }
}

extern "C" fn periodic() {
    if JOBS.fetch_add(1, Relaxed) == 49 {
        let went_on = ROUNDS.load(Relaxed) > 0;
        let _ = writeln!(host::Console, "fifty jobs; the endless task went on: {went_on}");
        SYSTEM.shut_down(7);
    }
    let _ = SYSTEM.terminate_task();
}

#[unsafe(no_mangle)]
extern "C" fn quietcore_guest_main() -> u8 {
    let page = host::page().unwrap_or(GUESS);
    // SAFETY: the image begins here, once, with interrupts off.
    let refused = unsafe { kernel::run(&SYSTEM, &CONFIGURATION, 0, &page) };
    let _ = writeln!(host::Console, "{refused:?}");
    1
}
