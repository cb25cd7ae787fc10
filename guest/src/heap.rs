//! Memory that is taken and given back.
//!
//! There is none until an image [gives](give) some. One context uses it at a time: what runs
//! against a deadline takes none, and who does so while another is at it has failed, which is a
//! panic.
// UNSAFETY: an allocator.
#![expect(unsafe_code, reason = "an allocator makes memory of addresses")]

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{self, NonNull};
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};

use linked_list_allocator::Heap;

/// The heap, and whether somebody uses it.
struct Kept {
    heap: UnsafeCell<Heap>,
    is_used: AtomicBool,
}

// SAFETY: the flag lets one in at a time.
unsafe impl Sync for Kept {}

#[global_allocator]
static HEAP: Kept = Kept { heap: UnsafeCell::new(Heap::empty()), is_used: AtomicBool::new(false) };

impl Kept {
    /// Uses the heap; `None` where somebody else does.
    fn with<R>(&self, work: impl FnOnce(&mut Heap) -> R) -> Option<R> {
        if self.is_used.swap(true, Acquire) {
            return None;
        }
        // SAFETY: the flag was not set, so that this is the one reference.
        let heap = unsafe { &mut *self.heap.get() };
        let result = work(heap);
        self.is_used.store(false, Release);
        Some(result)
    }
}

// SAFETY: memory comes from the heap, which gives none twice.
unsafe impl GlobalAlloc for Kept {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let place = self.with(|heap| heap.allocate_first_fit(layout).ok()).flatten();
        place.map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        let Some(place) = NonNull::new(place) else { return };
        // SAFETY: our caller gives back what it was given, with its layout.
        let given_back = self.with(|heap| unsafe { heap.deallocate(place, layout) });
        assert!(given_back.is_some(), "one context uses the heap at a time");
    }
}

/// Gives the heap its memory.
///
/// # Safety
/// Called once; nothing else uses this memory, which is there for ever.
pub unsafe fn give(start: usize, bytes: usize) {
    HEAP.with(|heap| {
        // SAFETY: as our caller promises.
        unsafe { heap.init(ptr::with_exposed_provenance_mut(start), bytes) };
    });
}
