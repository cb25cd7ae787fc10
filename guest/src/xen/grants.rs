//! Memory that the host grants, mapped at addresses of which this guest has none else: from 4 GiB
//! on, one area after the other. Its tables show it where it is expected.
// UNSAFETY: maps pages, and reads those with references.
#![expect(unsafe_code, reason = "the host's pages are beyond what Rust knows")]

use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use quietcore_boot::devices::ALIGNMENT;
use quietcore_boot::places::PAGE_BYTES;
use quietcore_boot::xen::{Announcement, REFERENCES_PER_DIRECTORY, VALUE_BYTES_MAX, area_key};

use super::hypercall::{self, MapGrant};
use super::store;
use crate::pages::map_first;

/// First address of all areas.
const FIRST: u64 = 1 << 32;
/// Address at which the guest has a directory for a moment: a page that is nothing else.
const DIRECTORY_PLACE: u64 = 0xB000;
/// Pages that one call maps.
const BATCH: usize = 64;

/// Address of the next area.
static NEXT: AtomicU64 = AtomicU64::new(FIRST);

/// Maps the area of this number and returns its physical address; `None` if the host has announced
/// none, or does not grant it.
///
/// # Safety
/// Called once for each area, while nothing else uses the addresses for directories.
pub(crate) unsafe fn area(number: usize) -> Option<u64> {
    let mut value = [0; VALUE_BYTES_MAX];
    let announced = Announcement::parse(store::read(&area_key(number), &mut value)?)?;
    let pages = announced.pages() as usize;
    let start = take(announced.pages().into());
    for (number, directory) in announced.directories().iter().enumerate() {
        let place = take(1);
        // SAFETY: an address that was just taken.
        unsafe { map(place, &[*directory]) }?;
        // SAFETY: as our caller promises.
        unsafe { map_first(DIRECTORY_PLACE, place, 0) };
        let first = number * REFERENCES_PER_DIRECTORY;
        let count = REFERENCES_PER_DIRECTORY.min(pages - first);
        let at = start + first as u64 * PAGE_BYTES;
        // SAFETY: addresses that were just taken; the directory is mapped.
        unsafe { map_listed(at, count) }?;
    }
    Some(start)
}

/// Maps the pages that the directory lists, from an address on.
///
/// # Safety
/// Nothing is at these addresses, and the directory is mapped.
unsafe fn map_listed(at: u64, count: usize) -> Option<()> {
    let listed: *const u32 = ptr::with_exposed_provenance(DIRECTORY_PLACE as usize);
    let mut references = [0; BATCH];
    for first in (0..count).step_by(BATCH) {
        let batch = &mut references[..BATCH.min(count - first)];
        for (index, reference) in (first..).zip(&mut *batch) {
            // SAFETY: within the page.
            *reference = unsafe { listed.add(index).read_volatile() };
        }
        // SAFETY: as our caller promises.
        unsafe { map(at + first as u64 * PAGE_BYTES, batch) }?;
    }
    Some(())
}

/// Maps pages one behind the other.
///
/// # Safety
/// Nothing is at their addresses.
unsafe fn map(at: u64, references: &[u32]) -> Option<()> {
    let mut pages = [MapGrant::default(); BATCH];
    let pages = pages.get_mut(..references.len())?;
    for (index, (page, reference)) in pages.iter_mut().zip(references).enumerate() {
        *page = MapGrant::new(at + index as u64 * PAGE_BYTES, *reference);
    }
    // SAFETY: as our caller promises.
    unsafe { hypercall::map_grants(pages) }?;
    pages.iter().all(|page| page.status == 0).then_some(())
}

/// Takes the addresses of so many pages, which begin as large pages do.
fn take(pages: u64) -> u64 {
    NEXT.fetch_add((pages * PAGE_BYTES).next_multiple_of(ALIGNMENT), Relaxed)
}
