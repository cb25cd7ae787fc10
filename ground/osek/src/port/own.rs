//! What one thread, or one processor, alone uses.
// UNSAFETY: shares what no type of Rust says to be one thread's.
#![expect(
    unsafe_code,
    reason = "one thread, whose contexts take turns, is known to the machine only"
)]

use core::cell::{Cell, UnsafeCell};

use super::processor::switch::Context;

/// Something that a machine's thread alone uses, its signal handlers included; on the bare machine
/// its processor, with its interrupts.
///
/// Handlers use it only where the interrupt level says that nobody else does.
pub(crate) struct Own<T>(pub(crate) Cell<T>);

// SAFETY: see the type: one thread.
unsafe impl<T> Sync for Own<T> {}

impl<T: Copy> Own<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Cell::new(value))
    }

    #[inline]
    pub(crate) fn get(&self) -> T {
        self.0.get()
    }

    #[inline]
    pub(crate) fn set(&self, value: T) {
        self.0.set(value);
    }
}

impl<T> core::fmt::Debug for Own<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Own") // Nobody else may look inside.
    }
}

/// Contexts that were left.
#[derive(Debug)]
pub(crate) struct Contexts<const COUNT: usize>(UnsafeCell<[Context; COUNT]>);

// SAFETY: used by the machine's thread alone, in a switch, of which there is one at a time.
unsafe impl<const COUNT: usize> Sync for Contexts<COUNT> {}

impl<const COUNT: usize> Contexts<COUNT> {
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new([Context::NONE; COUNT]))
    }

    /// The place of a context.
    #[inline]
    pub(crate) fn place(&self, index: usize) -> *mut Context {
        assert!(index < COUNT, "there is a place for each context");
        self.0.get().cast::<Context>().wrapping_add(index)
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Context {
        // SAFETY: within the array, and nobody writes it now.
        unsafe { self.place(index).read() }
    }
}
