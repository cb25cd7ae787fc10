//! Interrupts: the services that hold them back (OSEK OS 2.2.3, 13.3), and ISRs.

use core::sync::atomic::Ordering::Relaxed;

use super::System;
use super::masks::Masks;
use crate::port::Port;
use crate::status::Status;

impl<P: Port> System<P> {
    /// `DisableAllInterrupts`: holds back all interrupts. Does not nest.
    #[inline]
    pub fn disable_all_interrupts(&self) {
        self.mask(|masks| masks.disable(&self.port));
    }

    /// `EnableAllInterrupts`: the end of what `DisableAllInterrupts` began.
    #[inline]
    pub fn enable_all_interrupts(&self) {
        self.mask(|masks| masks.enable(&self.port));
    }

    /// `SuspendAllInterrupts`: holds back all interrupts. Nests.
    #[inline]
    pub fn suspend_all_interrupts(&self) {
        self.mask(|masks| masks.suspend_all(&self.port));
    }

    /// `ResumeAllInterrupts`: the end of what `SuspendAllInterrupts` began.
    #[inline]
    pub fn resume_all_interrupts(&self) {
        self.mask(|masks| masks.resume_all(&self.port));
    }

    /// `SuspendOSInterrupts`: holds back interrupts of category 2. Nests.
    #[inline]
    pub fn suspend_os_interrupts(&self) {
        self.mask(|masks| masks.suspend_kernel(&self.port, self.kernel_level()));
    }

    /// `ResumeOSInterrupts`: the end of what `SuspendOSInterrupts` began.
    #[inline]
    pub fn resume_os_interrupts(&self) {
        self.mask(|masks| masks.resume_kernel(&self.port));
    }

    /// Changes the masks, but not for a stranger, who would hold back the tasks' interrupts.
    #[inline]
    fn mask(&self, change: impl FnOnce(&Masks)) {
        if self.port.is_inside() {
            change(&self.masks);
        }
    }

    /// An interrupt of category 2. The port calls it on the stack of what was interrupted, with the
    /// interrupt level raised to the ISR's, and goes back to the level before when it returns.
    /// Where another task has to run, it returns when the interrupted one goes on.
    ///
    /// An ISR of category 1 is the port's alone: the kernel is not told of it.
    #[inline]
    pub fn interrupt(&self, isr: u8) {
        self.as_isr(Some(isr), || {
            let configured = self.cell.with(|kernel| kernel.configuration().isrs[usize::from(isr)]);
            self.unlock(configured.level);
            (configured.entry)();
        });
    }

    /// Runs something as an ISR of category 2: under the lock at first, whose level it may lower to
    /// its own.
    pub(super) fn as_isr(&self, isr: Option<u8>, body: impl FnOnce()) {
        self.lock();
        let now = || if self.accounts() { self.port.now() } else { 0 };
        let began_ns = now();
        let interrupted = self.cell.with(|kernel| kernel.enter_isr(isr, began_ns));
        body();
        self.lock();
        self.let_go_for_who_ended();
        let ended_ns = now();
        if self.cell.with(|kernel| kernel.leave_isr(interrupted, ended_ns)) {
            self.fail_by_itself(Status::Resource);
        }
        if self.timer_is_late.load(Relaxed) {
            self.timer();
        }
        self.dispatch_if_needed();
    }
}
