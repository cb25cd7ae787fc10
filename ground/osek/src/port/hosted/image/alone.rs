//! A machine that is alone: in a guest there is none, as it needs an operating system.
//!
//! The members of such a machine are empty here, so that all else need not know.

use super::{Hosted, Refused};
use crate::configuration::Configuration;
use crate::port::{Fault, Port as _};
use crate::system::System;

/// The part of the machine that is needed only where it is alone.
#[derive(Debug)]
pub(super) struct Alone;

impl Alone {
    pub(super) const fn new() -> Self {
        Self
    }

    pub(super) fn set_clock(&self, _: Option<u64>) {}
}

/// Refuses to run the kernel in the calling thread.
///
/// # Errors
/// [`Refused::NoProcess`], always.
pub fn start(
    _: &'static System<Hosted>,
    _: &'static Configuration<'static>,
    _: u8,
) -> Result<u8, Refused> {
    Err(Refused::NoProcess)
}

impl Hosted {
    pub(super) fn begin_ticks(&self) {}

    /// Raises the interrupts of a source. It is taken at the next service, or in the next step.
    pub fn raise(&self, source: u32) {
        let raise = || {
            self.pend_source(source);
        };
        if self.is_inside() { raise() } else { self.gate.pass(raise) }
    }

    pub(super) fn write_fault(&self, _: &Fault) {}
}

/// Waits for an interrupt.
pub(super) fn wait() {
    core::hint::spin_loop();
}

/// Lets others run: there are none that could be waited for.
pub(super) fn give_way() {
    core::hint::spin_loop();
}

/// There is nobody who reads it.
pub(crate) fn write_error(_: &[u8]) {}
