//! Memory behind the image, taken page by page and never given back, with guards.
//!
//! Memory is addressed as it is, in pages of 2 MiB that the boot's tables map. Where a page of 4
//! KiB is to be no memory, the large one that it lies in is cut first, with a page of the rest for
//! its table. The tables are written in this order, whatever the compiler thinks of it: the
//! processor reads them at any instant.
// UNSAFETY: writes page tables.
#![expect(unsafe_code, reason = "the processor reads these tables")]

use core::arch::asm;
use core::ptr;

/// The size of a page, in bytes.
pub const PAGE_BYTES: usize = 4096;
/// The size of a large one.
const LARGE_BYTES: usize = 2 << 20;
/// Entries of a table.
const ENTRIES: usize = 512;
/// Present and writable.
const MAPPED: u64 = 0b11;
/// The entry is a large page itself.
const LARGE: u64 = 1 << 7;

// SAFETY: what the assembler, the linker or the image defines under these names is of these types.
unsafe extern "C" {
    safe static quietcore_guest_image_end: u8;
    safe static quietcore_guest_pd: u8;
}

/// The memory behind the image.
#[derive(Debug)]
pub struct Pages {
    next: usize,
    end: usize,
}

impl Pages {
    /// All of it, of a guest with so many bytes of memory.
    ///
    /// # Safety
    /// Called once: what it gives is used by nobody else. The guest has this memory.
    pub unsafe fn behind_image(memory_bytes: u64) -> Self {
        let next = (&raw const quietcore_guest_image_end).expose_provenance();
        Self { next, end: usize::try_from(memory_bytes).unwrap_or(0) }
    }

    /// The address of memory of at least so many bytes, all zero; `None` where there is no more.
    pub fn take(&mut self, bytes: usize) -> Option<usize> {
        let address = self.next;
        let next = address.checked_add(bytes.next_multiple_of(PAGE_BYTES))?;
        (next <= self.end).then(|| {
            self.next = next;
            address
        })
    }

    /// The address of a page that is no memory: who touches it crashes.
    pub fn take_guard(&mut self) -> Option<usize> {
        let address = self.take(PAGE_BYTES)?;
        let large = address / LARGE_BYTES;
        let entry = entry_of((&raw const quietcore_guest_pd).expose_provenance(), large);
        // SAFETY: an entry of the boot's tables, which this alone changes.
        let was = unsafe { entry.read_volatile() };
        let table = if was & LARGE == 0 {
            (was & !0xFFF) as usize
        } else {
            let table = self.take(PAGE_BYTES)?;
            for index in 0..ENTRIES {
                let page = large * LARGE_BYTES + index * PAGE_BYTES;
                // SAFETY: a page that was just taken.
                unsafe { entry_of(table, index).write_volatile(page as u64 | MAPPED) };
            }
            // SAFETY: the new table maps what the large page did.
            unsafe { entry.write_volatile(table as u64 | MAPPED) };
            table
        };
        // SAFETY: as above; nobody uses the page, which was just taken.
        unsafe { entry_of(table, address / PAGE_BYTES % ENTRIES).write_volatile(0) };
        // SAFETY: forgets what the processor knows of the page.
        unsafe { asm!("invlpg [{}]", in(reg) address, options(nostack, preserves_flags)) };
        Some(address)
    }
}

fn entry_of(table: usize, index: usize) -> *mut u64 {
    ptr::with_exposed_provenance_mut(table + index * size_of::<u64>())
}
