//! The kernel's state, as services share it.
// UNSAFETY: hands out a mutable reference behind a shared one.
#![expect(unsafe_code, reason = "one core, and interrupts held back, stand in for a lock")]

use core::cell::UnsafeCell;

use crate::kernel::Kernel;

/// The kernel of a system.
pub(super) struct KernelCell(UnsafeCell<Kernel<'static>>);

// SAFETY: a system runs on one core, in one thread, whose contexts take turns: who is not one of
// them is turned away before it comes here. The only thing that comes in between are its own
// interrupts, and `with` is called with those held back. Both is what `System::new` asks for.
unsafe impl Sync for KernelCell {}

impl KernelCell {
    pub(super) const fn new() -> Self {
        Self(UnsafeCell::new(Kernel::new()))
    }

    /// Looks at the kernel, or changes it.
    ///
    /// To be called at the kernel's interrupt level at least, with a closure that calls no function
    /// of the program and switches no context. Private to the system, which keeps to both.
    #[inline]
    pub(super) fn with<R>(&self, use_kernel: impl FnOnce(&mut Kernel<'static>) -> R) -> R {
        // SAFETY: nothing else has a reference: interrupts that would call the kernel are held
        // back, services called from above that level are refused before they come here, and the
        // closure neither calls `with` again nor leaves this context.
        let kernel = unsafe { &mut *self.0.get() };
        use_kernel(kernel)
    }
}
