//! State that one thread, or one processor, alone uses.
// UNSAFETY: shares what no type of Rust says to be one thread's.
#![expect(
    unsafe_code,
    reason = "one thread, whose contexts take turns, is known to the machine only"
)]

use core::cell::{Cell, UnsafeCell};
use core::mem::transmute;
use core::ptr;

use super::processor::switch::{
    Context, Start, drop_and_begin, drop_and_resume, save_and_begin, save_and_resume,
};
use crate::configuration::Entry;

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

/// The way in which the next context is entered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ContextEntry {
    /// `start(this, entry)` begins on the stack that ends below `top`.
    Begin {
        /// The upper end of the stack.
        top: *mut u8,
        /// The function that it begins with.
        start: Start,
        /// The machine, for `start`.
        this: usize,
        /// The function of the task, for `start`.
        entry: Entry,
    },
    /// The one that was left in this place goes on.
    Resume(usize),
}

/// The function of a task, from what a [`Start`] gets of it.
///
/// # Safety
/// `entry` is the second argument of a `Start` that [`Contexts::go`] began.
pub(crate) unsafe fn entry_of(entry: usize) -> Entry {
    let entry: *const () = ptr::with_exposed_provenance(entry);
    // SAFETY: `go` made the number from such a function.
    unsafe { transmute::<*const (), Entry>(entry) }
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

    /// Goes on in another context. This one is left in the place of `leave`, and this returns when
    /// it is resumed; without a place it is over.
    ///
    /// # Safety
    /// What is resumed was left before and not resumed since. What begins has a stack that nothing
    /// else uses, but for a context that is over with this.
    #[inline]
    pub(crate) unsafe fn go(&self, leave: Option<usize>, way: ContextEntry) {
        match (leave.map(|index| self.place(index)), way) {
            (None, ContextEntry::Begin { top, start, this, entry }) => {
                let entry = (entry as *const ()).expose_provenance();
                // SAFETY: as our caller promises.
                unsafe { drop_and_begin(top, start, this, entry) }
            }
            (Some(place), ContextEntry::Begin { top, start, this, entry }) => {
                let entry = (entry as *const ()).expose_provenance();
                // SAFETY: as our caller promises; the place is this context's.
                unsafe { save_and_begin(place, top, start, this, entry) };
            }
            // SAFETY: as our caller promises.
            (None, ContextEntry::Resume(index)) => unsafe { drop_and_resume(self.get(index)) },
            (Some(place), ContextEntry::Resume(index)) => {
                // SAFETY: as our caller promises; the place is this context's.
                unsafe { save_and_resume(place, self.get(index)) };
            }
        }
    }
}
