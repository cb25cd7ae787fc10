//! ISRs of category 2, which the kernel is told of (OSEK OS 2.2.3, 6).

use super::resources::NO_RESOURCE;
use super::{CallLevel, Current, Kernel};

/// The kernel's state of an ISR.
#[derive(Clone, Copy, Debug)]
pub(super) struct IsrState {
    /// The resource that it took last.
    pub(super) resource: u8,
}

impl IsrState {
    pub(super) const NEW: Self = Self { resource: NO_RESOURCE };
}

/// The state that an ISR interrupted, to be given back when it ends.
#[derive(Clone, Copy, Debug)]
pub struct Interrupted {
    call_level: CallLevel,
    isr: Option<u8>,
    interrupt_level: u8,
}

impl Kernel<'_> {
    /// An ISR of category 2 begins: one of the table, or the kernel's own for `None`.
    #[inline]
    pub fn enter_isr(&mut self, isr: Option<u8>, now_ns: u64) -> Interrupted {
        if let (Current::Task(task), None) = (self.current, self.isr)
            && self.call_level == CallLevel::Task
        {
            self.note_execution(task, now_ns);
        }
        let interrupted = Interrupted {
            call_level: self.call_level,
            isr: self.isr,
            interrupt_level: self.interrupt_level,
        };
        self.call_level = CallLevel::Isr2;
        self.isr = isr;
        if let Some(isr) = isr {
            self.interrupt_level = self.configuration.isrs[usize::from(isr)].level;
        }
        interrupted
    }

    /// It ends. Returns whether it kept a resource, which is taken from it.
    #[inline]
    pub fn leave_isr(&mut self, interrupted: Interrupted, now_ns: u64) -> bool {
        let kept = self.isr.is_some_and(|isr| self.take_back(isr));
        self.call_level = interrupted.call_level;
        self.isr = interrupted.isr;
        self.interrupt_level = interrupted.interrupt_level;
        if self.call_level == CallLevel::Task {
            self.since_ns = now_ns;
        }
        kept
    }

    fn take_back(&mut self, isr: u8) -> bool {
        let mut kept = false;
        while self.isrs[usize::from(isr)].resource != NO_RESOURCE {
            self.give_back(self.isrs[usize::from(isr)].resource);
            kept = true;
        }
        kept
    }
}
