//! The cycle of a program that is a kernel, as it runs in the leading task of a guest.
// UNSAFETY: what is known of the cycle is the leading task's, which no type of Rust says.
#![expect(unsafe_code, reason = "who is the leading task is found out before its cells are used")]

use quietcore_exchange::com::Shelter;
use quietcore_scan::kernel::{self, CycleHost, Inside, Leading};
use quietcore_units::Nanos;

use crate::partition::board;
use crate::partition::calls::SHELTER;

/// The leading task's knowledge of its cycle.
struct Kept(Leading);

// SAFETY: used by the leading task alone.
unsafe impl Sync for Kept {}

static LEADING: Kept = Kept(Leading::new());

/// The guest as its program's kernel sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guest;

impl CycleHost for Guest {
    #[inline]
    fn leading<R>(&self, work: impl FnOnce(&Leading) -> R) -> Option<R> {
        board::leader_runs().then(|| work(&LEADING.0))
    }

    fn interrupt_at(&self, instant: Option<Nanos>) {
        if board::leader_runs() {
            board::interrupt_at(instant.map(Nanos::get));
        }
    }

    fn now(&self) -> Nanos {
        Nanos::new(board::now())
    }

    fn clock(&self) -> Nanos {
        self.now()
    }

    fn shelter(&self) -> Shelter {
        SHELTER
    }
}

/// The cycle of a kernel in this guest.
pub(crate) type KernelCycle = kernel::KernelCycle<'static, Guest>;

/// The leading task is about to run the step of a build.
#[inline]
pub(crate) fn enter(build: Inside) {
    Guest.leading(|lead| lead.enter(build));
}

/// The step of a build was ended by a fault.
pub(crate) fn stop_timer() {
    Guest.interrupt_at(None);
}
