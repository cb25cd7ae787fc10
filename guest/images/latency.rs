//! The image of the probe `latency`: the measured loop of a process, in a guest that has its
//! processor to itself.
//!
//! It sleeps by the local controller's timer and a halt, each of which KVM may leave the guest for,
//! and spins on the time stamp counter, for which nothing does.
// UNSAFETY: lets interrupts in, and is called by a name.

#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "an image lets interrupts in")]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use quietcore_boot::port;
use quietcore_clock::Clock;
use quietcore_exchange::{Recorder, SLOT_COUNT};
use quietcore_guest::apic::{Apic, TIMER_VECTOR};
use quietcore_guest::clock::Clock as HostClock;
use quietcore_guest::interrupts;
use quietcore_guest::probing::{Begin, begin, halt};
use quietcore_probe::guest::job::GuestLatencyJob;
use quietcore_probe::latency::{self, Whole};
use quietcore_units::Nanos;

/// Time from being ready to the first release.
const START_DELAY: Nanos = Nanos::from_millis(5);

/// Counts the interrupts of the timer.
static WAKES: AtomicU64 = AtomicU64::new(0);

/// The host's monotonic clock, on which this guest waits.
struct Waiting {
    apic: Apic,
    cpu: u32,
}

impl Clock for Waiting {
    #[inline]
    fn now(&self) -> Nanos {
        Nanos::new(self.apic.now())
    }

    fn sleep_until(&self, due: Nanos) {
        if self.now() >= due {
            return;
        }
        let before = WAKES.load(Relaxed);
        self.apic.set_timer(Some(due.get()));
        while WAKES.load(Relaxed) == before {
            halt();
        }
        self.apic.end_of_interrupt();
    }

    fn cpu(&self) -> u32 {
        self.cpu
    }
}

#[unsafe(no_mangle)]
extern "C" fn quietcore_guest_main() -> u8 {
    let Begin { host, job, region } = match begin::<GuestLatencyJob>() {
        Ok(begin) => begin,
        Err(status) => return status,
    };
    let Some(task) = region.task(0) else { return port::REFUSED };
    // SAFETY: the one processor, with interrupts off.
    let apic = unsafe { Apic::switch_on(HostClock::new(&host)) };
    interrupts::on_interrupt(|vector, interrupted| {
        interrupted.leave_halt();
        if vector == TIMER_VECTOR {
            WAKES.store(WAKES.load(Relaxed) + 1, Relaxed);
        }
    });
    let clock = Waiting { apic, cpu: job.cpu };
    let slot_cycles = job.cycles.div_ceil(SLOT_COUNT as u64);
    let mut recorder = Recorder::new(task, job.period, slot_cycles);
    let cost = latency::own_cost(&clock, &mut recorder);
    recorder.set_own_cost(cost);
    let whole = Whole {
        first_release: clock.now() + START_DELAY,
        period: job.period,
        cycles: job.cycles,
        warm_up_cycles: job.warm_up_cycles,
        wake: job.wake,
        injection: job.injection,
        cpu: Some(job.cpu),
    };
    latency::carry_out(&clock, &whole, &mut recorder, || region.stop_requested(), |_, _| {});
    port::ENDED
}
