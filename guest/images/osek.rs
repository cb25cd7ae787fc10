//! The image of the probe `osek`: the ten routines of scordino2020 on the kernel's bare port.
//!
//! MainTask carries out all series, one after the other, each with a row of its own in the
//! statistics: a value is a count of the time stamp counter, and stands there as a release latency.
//!
//! If an interrupt comes by itself, the interrupted task waits for it in a loop of two loads.
// UNSAFETY: the boot calls this image by a name, and its task keeps what lives for ever.

#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "an image begins with a function that the boot calls by its name")]

use core::cell::UnsafeCell;
use core::fmt::Write as _;

use quietcore_boot::port;
use quietcore_exchange::{Recorder, Region, Release, TaskState};
use quietcore_guest::host;
use quietcore_guest::kernel::{self, Processor, SOURCE_VECTOR};
use quietcore_guest::probing::{Begin, Fenced, begin, counter, rest, ring};
use quietcore_osek::configuration::{Checking, Class, Configuration, Isr, Task};
use quietcore_osek::port::bare::Bare;
use quietcore_osek::system::System;
use quietcore_probe::guest::job::{GuestOsekJob, series};
use quietcore_probe::routines::program::{SOURCES, Stacks, isrs, source_of, tasks};
use quietcore_probe::routines::series::{BURST, Look, Progress, REST, run};
use quietcore_probe::routines::{Bring, Kernel, MARKS};
use quietcore_units::{Nanos, Routine, Trigger};

/// The stacks; MainTask's holds what records.
const STACKS: Stacks = Stacks { main: 64 << 10, other: 16 << 10 };
const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// Number of looks of the interrupted task for an interrupt that does not come: seconds, since the
/// timer of an emulated processor waits for a thread of a host that may have much to do.
const LOOKS_MAX: u32 = 1_000_000_000;

// SAFETY: nobody but the kernel's machine and this probe calls the methods that are the machine's.
static SYSTEM: System<Bare<Processor>> = unsafe { System::new(Bare::new(Processor::new())) };

enum Here {}

impl Kernel for Here {
    type Port = Bare<Processor>;

    #[inline(always)]
    fn system() -> &'static System<Bare<Processor>> {
        &SYSTEM
    }
}

static TASKS: [Task; 4] = tasks::<Here, Fenced>(main_task, 0, STACKS);
static ISRS: [Isr; SOURCES as usize] = isrs::<Here, Fenced>();

const fn configuration(checking: Checking, accounting: bool) -> Configuration<'static> {
    Configuration {
        class: Class::Ecc1,
        checking,
        accounting,
        tasks: &TASKS,
        isrs: &ISRS,
        ..Configuration::EMPTY
    }
}

/// Without and with extended status, each without and with accounting.
static CONFIGURATIONS: [Configuration<'static>; 4] = [
    configuration(Checking::Standard, false),
    configuration(Checking::Standard, true),
    configuration(Checking::Extended, false),
    configuration(Checking::Extended, true),
];

/// State of MainTask, which is there before the kernel starts.
struct Desk(UnsafeCell<Option<KernelMeasurement>>);

/// The measurement to be done, the region to write it to, and the counts of a burst.
struct KernelMeasurement {
    job: GuestOsekJob,
    region: Region<'static>,
    burst: u64,
}

// SAFETY: written before the kernel starts, and then used by MainTask alone.
unsafe impl Sync for Desk {}

static DESK: Desk = Desk(UnsafeCell::new(None));

enum BySoftware {}

impl Bring for BySoftware {
    #[inline(always)]
    fn bring(source: u32) {
        SYSTEM.port().trigger(source);
    }
}

enum ByLapic {}

impl Bring for ByLapic {
    #[inline(always)]
    fn bring(source: u32) {
        let before = MARKS.both();
        SYSTEM.port().board().apic().interrupt_self(SOURCE_VECTOR + source as u8);
        wait(before);
    }
}

enum ByTimer {}

impl Bring for ByTimer {
    #[inline(always)]
    fn bring(_: u32) {
        let before = MARKS.both();
        SYSTEM.port().board().apic().raise_timer();
        wait(before);
    }
}

enum ByDoorbell {}

impl Bring for ByDoorbell {
    #[inline(always)]
    fn bring(source: u32) {
        let before = MARKS.both();
        ring(source);
        wait(before);
    }
}

/// Waits until an ISR, or a task that it activated, has made its reading.
#[inline(always)]
fn wait(before: (u64, u64)) {
    for _ in 0..LOOKS_MAX {
        if MARKS.both() != before {
            return;
        }
    }
}

extern "C" fn main_task() {
    // SAFETY: this task alone uses it.
    if let Some(work) = unsafe { (*DESK.0.get()).take() } {
        let rows = (0..).zip(series(work.job.doorbells));
        for (row, (routine, way)) in rows {
            if !measure(&work, row, routine, way) {
                break;
            }
        }
        let failed = MARKS.take_failed();
        if failed != 0 {
            let _ = writeln!(host::Console, "a service of the kernel failed with status {failed}");
            SYSTEM.shut_down(port::REFUSED);
        }
    }
    SYSTEM.shut_down(port::ENDED);
}

/// Measures a series. Returns whether to go on.
fn measure(work: &KernelMeasurement, row: u32, routine: Routine, way: Option<Trigger>) -> bool {
    let KernelMeasurement { job, region, burst } = work;
    let Some(task) = region.task(row) else { return false };
    let mut recorder = Recorder::new(task, Nanos::from_secs(60), job.loops);
    recorder.set_state(TaskState::Running);
    let apic = SYSTEM.port().board().apic();
    let own_vector = match (way, source_of(routine)) {
        (Some(Trigger::Timer), Some(source)) => Some(SOURCE_VECTOR + source as u8),
        _ => None,
    };
    if let Some(vector) = own_vector {
        apic.set_timer_vector(vector);
    }
    let mut rest_at = None;
    let look = |progress: Progress| {
        if region.stop_requested() {
            return Look::Stop;
        }
        // Not at the beginning, as on the host.
        if progress.done > 0 {
            let now = counter();
            if now >= *rest_at.get_or_insert(now.saturating_add(*burst)) {
                rest(&apic, REST.get());
                if let Some(vector) = own_vector {
                    apic.set_timer_vector(vector);
                }
                rest_at = None;
                return Look::WarmUp(job.warm_up);
            }
        }
        Look::GoOn
    };
    let mut taken = 0;
    let take = |count| {
        taken += 1;
        recorder.record(&Release::unawaited(Nanos::ZERO, Nanos::new(count), 0));
    };
    let (warm_up, loops) = (job.warm_up, job.loops);
    let finishes = match way {
        // No series of a guest has signals, which are an operating system's.
        None | Some(Trigger::Software | Trigger::Signal) => {
            run::<Here, Fenced, BySoftware>(routine, warm_up, loops, look, take)
        }
        Some(Trigger::Lapic) => run::<Here, Fenced, ByLapic>(routine, warm_up, loops, look, take),
        Some(Trigger::Timer) => run::<Here, Fenced, ByTimer>(routine, warm_up, loops, look, take),
        Some(Trigger::Doorbell) => {
            run::<Here, Fenced, ByDoorbell>(routine, warm_up, loops, look, take)
        }
    };
    let is_whole = finishes && taken == loops;
    recorder.set_state(match (finishes, is_whole) {
        (true, true) => TaskState::Finished,
        (true, false) => TaskState::Stopped,
        _ => TaskState::Failed,
    });
    is_whole
}

#[unsafe(no_mangle)]
extern "C" fn quietcore_guest_main() -> u8 {
    let Begin { host, job, region } = match begin::<GuestOsekJob>() {
        Ok(begin) => begin,
        Err(status) => return status,
    };
    let burst = host.counter_hz / (NANOS_PER_SECOND / BURST.get());
    // SAFETY: the kernel has not started, so that nobody uses it yet.
    unsafe { *DESK.0.get() = Some(KernelMeasurement { job, region, burst }) };
    let which = usize::from(job.extended) * 2 + usize::from(job.accounting);
    // SAFETY: the image begins here, once, with interrupts off.
    let refused = unsafe { kernel::run(&SYSTEM, &CONFIGURATIONS[which], 0, &host) };
    let _ = writeln!(host::Console, "{refused:?}");
    port::REFUSED
}
