//! The image of the probe `ethercat`: a task of the OSEK kernel brings the SubDevices behind the
//! network device to OP, and measures the round trips of its cycles.
//!
//! The task has the processor to itself. It waits for a frame by looking for it, as a program's
//! fieldbus does, and for a release by a halt, which the timer ends.
// UNSAFETY: the boot calls this image by a name, and its task keeps what lives for ever.

#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "an image begins with a function that the boot calls by its name")]

extern crate alloc;

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::fmt::Write as _;

use quietcore_boot::{HostPage, port};
use quietcore_clock::Clock;
use quietcore_exchange::Region;
use quietcore_fieldbus::{Bus, BusError, BusJob};
use quietcore_guest::apic::Apic;
use quietcore_guest::clock::Clock as HostClock;
use quietcore_guest::kernel::{self, Processor};
use quietcore_guest::net::Network;
use quietcore_guest::probing::{Begin, begin, sleep_until};
use quietcore_guest::{heap, host};
use quietcore_osek::configuration::{Class, Configuration, Kind, Task};
use quietcore_osek::port::bare::Bare;
use quietcore_osek::system::System;
use quietcore_probe::ethercat::rows::RowLog;
use quietcore_probe::ethercat::{End, Plan, measure};
use quietcore_units::Nanos;

/// The stack of the task: a bring-up wants 640 KiB.
const STACK_BYTES: u32 = 1 << 20;
/// Memory for the SubDevices and what a bring-up allocates.
const HEAP_BYTES: usize = 4 << 20;

// SAFETY: nobody but the kernel's machine calls the methods that are the machine's.
static SYSTEM: System<Bare<Processor>> = unsafe { System::new(Bare::new(Processor::new())) };

static TASKS: [Task; 1] = [Task {
    entry: main_task,
    events: 0,
    budget_ns: 0,
    inter_arrival_ns: 0,
    autostart: 1,
    stack_bytes: STACK_BYTES,
    priority: 1,
    running_level: 1,
    activations: 1,
    kind: Kind::Basic,
}];
static CONFIGURATION: Configuration<'static> =
    Configuration { class: Class::Bcc1, tasks: &TASKS, ..Configuration::EMPTY };

/// The memory of the heap.
#[repr(align(4096))]
struct Memory(UnsafeCell<[u8; HEAP_BYTES]>);

// SAFETY: given to the heap before the kernel starts, which lets one in at a time.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory(UnsafeCell::new([0; HEAP_BYTES]));

/// The measurement, which is there before the kernel starts.
struct Desk(UnsafeCell<Option<RoundTripMeasurement>>);

// SAFETY: written before the kernel starts, and then used by the one task.
unsafe impl Sync for Desk {}

static DESK: Desk = Desk(UnsafeCell::new(None));

/// The measurement to be done, and the region to write it to.
struct RoundTripMeasurement {
    plan: Plan,
    region: Region<'static>,
    host: HostPage,
}

/// The clock of the task.
struct TaskClock(Apic);

impl Clock for TaskClock {
    #[inline]
    fn now(&self) -> Nanos {
        Nanos::new(self.0.now())
    }

    fn sleep_until(&self, due: Nanos) {
        sleep_until(&self.0, due.get());
    }

    fn cpu(&self) -> u32 {
        0
    }
}

extern "C" fn main_task() {
    // SAFETY: this task alone uses it.
    if let Some(work) = unsafe { (*DESK.0.get()).take() }
        && let Err(why) = work.carry_out()
    {
        let _ = writeln!(host::Console, "{why}");
        SYSTEM.shut_down(port::REFUSED);
    }
    SYSTEM.shut_down(port::ENDED);
}

impl RoundTripMeasurement {
    /// Brings the SubDevices to OP and measures, or says why that can't be.
    fn carry_out(&self) -> Result<(), String> {
        let Self { plan, region, host } = self;
        let mut log = RowLog::new(*region, plan).ok_or("the exchange has another shape")?;
        let network = Network::of_partition(HostClock::new(host)).map_err(|it| it.to_string())?;
        let cycle = plan.bring_up_cycle_in_guest();
        let job = BusJob { cycle, lost_after: 1, subdevices: Vec::new() };
        let job = job.to_bytes().map_err(|error| error.to_string())?;
        let clock = TaskClock(SYSTEM.port().board().apic());
        let mut bus = match Bus::bring_up_job(network, &job, *region, rest) {
            Ok(bus) => bus,
            Err(BusError::Stopped) => {
                log.end(End { elapsed: Nanos::ZERO, stopped: true });
                return Ok(());
            }
            Err(error) => return Err(error.to_string()),
        };
        let maindevice = bus.maindevice_mut();
        log.begin(maindevice.subdevices().len() as u16);
        let end = measure(maindevice, &clock, plan, &mut log, || region.stop_requested());
        log.end(end);
        Ok(())
    }
}

/// Rests during the bring-up, so that others get the CPU.
fn rest(until: Nanos) {
    sleep_until(&SYSTEM.port().board().apic(), until.get());
}

#[unsafe(no_mangle)]
extern "C" fn quietcore_guest_main() -> u8 {
    let Begin { host, job: plan, region } = match begin::<Plan>() {
        Ok(begin) => begin,
        Err(status) => return status,
    };
    // SAFETY: once, with memory that nothing else uses.
    unsafe { heap::give(MEMORY.0.get().expose_provenance(), HEAP_BYTES) };
    // SAFETY: the kernel has not started, so that nobody uses it yet.
    unsafe { *DESK.0.get() = Some(RoundTripMeasurement { plan, region, host }) };
    // SAFETY: the image begins here, once, with interrupts off.
    let refused = unsafe { kernel::run(&SYSTEM, &CONFIGURATION, 0, &host) };
    let _ = writeln!(host::Console, "{refused:?}");
    port::REFUSED
}
