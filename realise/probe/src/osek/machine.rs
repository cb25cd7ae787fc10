//! The kernel on its port, and the two ways to bring an interrupt.
// UNSAFETY: makes the system.
#![expect(unsafe_code, reason = "who makes a system promises who uses it")]

use std::sync::Arc;

use quietcore_osek::port::hosted::{Hosted, alone};
use quietcore_osek::system::System;

use super::measurement::{Job, Progress, SHARED, Yield};
use super::reading::Reading;
use super::{OsekError, Plan, program};
use crate::routines::{Bring, Kernel};

/// The kernel. There is one in a process, because its tasks have no parameters and know it by name.
// SAFETY: this probe calls its services, and its machine's `raise` and `trigger`.
pub(super) static SYSTEM: System<Hosted> = unsafe { System::new(Hosted::new()) };

/// The kernel on the hosted port.
pub(super) enum OnHost {}

impl Kernel for OnHost {
    type Port = Hosted;

    #[inline(always)]
    fn system() -> &'static System<Hosted> {
        &SYSTEM
    }
}

/// Brings interrupts through the virtual interrupt controller, without the operating system.
pub(super) enum BySoftware {}

impl Bring for BySoftware {
    #[inline(always)]
    fn bring(source: u32) {
        SYSTEM.port().trigger(source);
    }
}

/// Brings interrupts by a signal to the own thread, as other threads do it.
pub(super) enum BySignal {}

impl Bring for BySignal {
    #[inline(always)]
    fn bring(source: u32) {
        SYSTEM.port().raise(source);
    }
}

/// Calls `StartOS`, which returns after MainTask has carried out the plan and shut down.
pub(super) fn run<R: Reading>(
    plan: &Plan,
    hertz: u64,
    progress: &Arc<Progress>,
) -> Result<Yield, OsekError> {
    SHARED.prepare(Job {
        series: plan.series.clone(),
        warm_up: plan.warm_up,
        hertz,
        progress: Arc::clone(progress),
    });
    let configuration = program::tables::<R>(plan.variant);
    alone::start(&SYSTEM, configuration, 0)
        .map_err(|refused| OsekError::Start(refused.to_string()))?;
    SHARED.take().map_err(OsekError::Program)
}
