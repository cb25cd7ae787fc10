//! Stacks of tasks: one mapping, made at the start, each stack with a guard below it.
//!
//! ```text
//! bounds[0]      bounds[1]                        bounds[2]                     bounds[n]
//! │ guard │ idle │ guard │ for faults │ guard │ task 0       │ guard │ task 1 … │
//!         └ canary                            └ canary
//! ```
//!
//! A stack grows down. One that overflows faults in its guard, and the address says whose it was.
//! A guard is addresses without memory, so that it can be wide: a function with a large frame does
//! not jump over it. One with a frame that is larger than that is caught by the compiler's stack
//! probes (Rust has them; C with `-fstack-clash-protection`).
//!
//! If the operating system finds no room for a signal's frame on a stack, it tells no address. The
//! stack pointer is the witness then: it is less than such a frame away from the guard.
//!
//! All memory is written at the start, so that no page fault comes later, and with a pattern, so
//! that one can tell afterwards how deep a stack was used.
//!
//! [`crate::stacks`] computes their sizes.
//!
//! In a guest the memory is part of the program's image, and a guard is memory like any other until
//! the guest has cut it out of its tables: it asks for the guards when the kernel has been
//! initialised.
// UNSAFETY: maps memory and looks at it.
#![expect(unsafe_code, reason = "stacks are memory that the compiler does not know of")]

#[cfg(not(target_os = "none"))]
mod valgrind;

use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{Refused, surroundings};
use crate::configuration::TASKS_MAX;
#[cfg(not(target_os = "none"))]
use crate::stacks::OWN_STACKS as OWN;
#[cfg(target_os = "none")]
use crate::stacks::OWN_STACKS_OF_GUEST as OWN;
use crate::stacks::{OWN_BYTES, STACKS_BYTES_MAX};

/// The stack of the idle context.
const IDLE: usize = 0;
/// The stack on which faults are handled. In a guest they are, on one of the guest's own.
#[cfg(not(target_os = "none"))]
const FAULT: usize = 1;

/// Largest distance between the stack pointer and a signal's frame, in bytes: the red zone of the
/// function that is interrupted, and the loss by alignment.
const FRAME_GAP_BYTES: usize = 256;

/// The byte that a stack is filled with.
const PATTERN: u8 = 0xA5;
const PATTERN_WORD: u64 = u64::from_ne_bytes([PATTERN; 8]);

/// The mapped stacks of all contexts.
#[derive(Debug)]
pub(super) struct Stacks {
    /// First address of each stack's guard, which is the end of the stack before it; zero for none.
    bounds: [AtomicUsize; OWN + TASKS_MAX + 1],
    count: AtomicUsize,
    /// Bytes of each guard.
    guard: AtomicUsize,
    /// The lowest address of all, and the bytes; zero for none.
    lowest: AtomicUsize,
    bytes: AtomicUsize,
}

impl Stacks {
    pub(super) const fn new() -> Self {
        Self {
            bounds: [const { AtomicUsize::new(0) }; OWN + TASKS_MAX + 1],
            count: AtomicUsize::new(0),
            guard: AtomicUsize::new(0),
            lowest: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Maps and fills all stacks: the kernel's own, and for each task its `bytes` and the reserve
    /// for interrupts of so many different levels.
    ///
    /// # Errors
    /// [`Refused`] where there is no such memory; then there are none.
    pub(super) fn map(
        &self,
        bytes: &(impl Iterator<Item = u32> + Clone),
        levels: usize,
    ) -> Result<(), Refused> {
        self.unmap();
        let machine = surroundings::machine();
        let guard = machine.guard_bytes();
        self.guard.store(guard, Relaxed);
        let sizes = || {
            let own = [OWN_BYTES; OWN].into_iter();
            let all = own.chain(bytes.clone().map(|bytes| bytes as usize));
            all.map(|bytes| machine.stack_bytes(bytes, levels))
        };
        let total = sizes().try_fold(0, |sum: usize, bytes| sum.checked_add(bytes));
        let total = total.filter(|total| *total <= STACKS_BYTES_MAX);
        let total = total.ok_or(Refused::StacksTooLarge)?;
        let start = surroundings::reserve(total)?;
        self.bounds[0].store(start.addr().get(), Relaxed);
        let mut at = start;
        for (index, size) in sizes().enumerate() {
            // SAFETY: the sizes add up to what was mapped.
            let lowest = unsafe { at.add(guard) };
            if let Err(refused) = surroundings::fill(lowest, size - guard, PATTERN) {
                self.bounds[index + 1].store(start.addr().get() + total, Relaxed);
                self.count.store(index + 1, Relaxed);
                self.unmap();
                return Err(refused);
            }
            // SAFETY: as above.
            at = unsafe { at.add(size) };
            self.bounds[index + 1].store(at.addr().get(), Relaxed);
            self.count.store(index + 1, Relaxed);
            #[cfg(not(target_os = "none"))]
            valgrind::register_stack(lowest.as_ptr(), at.as_ptr());
        }
        self.lowest.store(start.addr().get(), Relaxed);
        self.bytes.store(total, Relaxed);
        Ok(())
    }

    /// Gives all stacks back. The caller is on none of them.
    pub(super) fn unmap(&self) {
        let count = self.count.swap(0, Relaxed);
        if count == 0 {
            return;
        }
        let start = self.bounds[0].load(Relaxed);
        let bytes = self.bounds[count].load(Relaxed) - start;
        self.bytes.store(0, Relaxed);
        self.lowest.store(0, Relaxed);
        // Exactly what `map` reserved, and nothing uses it, as our caller knows.
        surroundings::give_back(ptr::with_exposed_provenance_mut(start), bytes);
    }

    /// Returns the guard below a stack: its first address, and its bytes.
    pub(super) fn guard(&self, index: usize) -> Option<(usize, usize)> {
        let is_there = index < self.count.load(Relaxed);
        is_there.then(|| (self.bounds[index].load(Relaxed), self.guard.load(Relaxed)))
    }

    /// Returns the upper end of a task's stack: the address above its highest byte.
    #[inline]
    pub(super) fn top(&self, task: u8) -> *mut u8 {
        self.top_of(OWN + usize::from(task))
    }

    /// Returns the upper end of the idle context's stack.
    pub(super) fn idle_top(&self) -> *mut u8 {
        self.top_of(IDLE)
    }

    #[cfg(not(target_os = "none"))]
    /// The stack on which faults are handled: its lowest byte, and its size.
    pub(super) fn fault_stack(&self) -> (*mut u8, usize) {
        let lowest = self.lowest(FAULT);
        let bytes = self.bounds[FAULT + 1].load(Relaxed) - lowest;
        (ptr::with_exposed_provenance_mut(lowest), bytes)
    }

    #[inline]
    fn top_of(&self, index: usize) -> *mut u8 {
        ptr::with_exposed_provenance_mut(self.bounds[index + 1].load(Relaxed))
    }

    /// The lowest address of a stack that may be used.
    #[inline]
    fn lowest(&self, index: usize) -> usize {
        self.bounds[index].load(Relaxed) + self.guard.load(Relaxed)
    }

    /// Returns `true` if the last word of a task's stack is as it was filled.
    #[inline]
    pub(super) fn is_intact(&self, task: u8) -> bool {
        let place: *const u64 = ptr::with_exposed_provenance(self.lowest(OWN + usize::from(task)));
        // SAFETY: the kernel asks for its tasks only, which have mapped stacks; volatile, because
        // the compiler does not know that the stack's owner writes there.
        unsafe { place.read_volatile() == PATTERN_WORD }
    }

    /// The most bytes of its stack that a task has used so far, reserve included. It looks at
    /// the whole stack, word by word.
    pub(super) fn high_water(&self, task: u8) -> Option<usize> {
        let index = OWN + usize::from(task);
        if index >= self.count.load(Relaxed) {
            return None;
        }
        let top = self.bounds[index + 1].load(Relaxed);
        let lowest = self.lowest(index);
        let untouched = (lowest..top).step_by(size_of::<u64>()).take_while(|address| {
            let word: *const u64 = ptr::with_exposed_provenance(*address);
            // SAFETY: within the stack, which is mapped.
            unsafe { word.read_volatile() == PATTERN_WORD }
        });
        Some(top - lowest - untouched.count() * size_of::<u64>())
    }

    /// Returns `true` if an address lies in one of the stacks. Any thread may ask for one of its
    /// own at any time, and a thread's own stack lies outside of these: nothing lies within the
    /// first bytes of memory, which is what is seen half of the way.
    #[inline]
    pub(super) fn contain(&self, address: usize) -> bool {
        address.wrapping_sub(self.lowest.load(Relaxed)) < self.bytes.load(Relaxed)
    }

    /// Returns `true` if an address lies in the guard of a task's stack, or so close above it that
    /// no frame of a signal has room there. No memory access of a program faults above it.
    pub(super) fn is_end_of(&self, task: u8, address: usize) -> bool {
        let index = OWN + usize::from(task);
        let end = self.lowest(index) + surroundings::machine().frame_bytes + FRAME_GAP_BYTES;
        let is_there = index < self.count.load(Relaxed);
        is_there && (self.bounds[index].load(Relaxed)..end).contains(&address)
    }
}

// Miri maps no memory.
#[cfg(test)]
#[cfg(not(miri))]
mod tests;
