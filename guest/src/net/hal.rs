//! Gives the library of drivers what it asks of this machine: memory is addressed as it is, by the
//! device too, and rings are pages of the image.
// UNSAFETY: says to a library where memory is that a device uses.
#![expect(unsafe_code, reason = "the library's face to a machine is an unsafe trait")]

use core::cell::UnsafeCell;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::devices::{NETWORK_BYTES, NETWORK_PLACE};
use virtio_drivers::{BufferDirection, Hal, PAGE_SIZE, PhysAddr};

/// Pages for rings: two queues of two each.
const PAGES: usize = 4;

#[repr(C, align(4096))]
struct Page(UnsafeCell<[u8; PAGE_SIZE]>);

// SAFETY: each page is given to one owner, who alone reaches it.
unsafe impl Sync for Page {}

static RINGS: [Page; PAGES] = [const { Page(UnsafeCell::new([0; PAGE_SIZE])) }; PAGES];
/// The first page that is nobody's.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Physical address of the registers that are mapped at [`NETWORK_PLACE`]; zero if there are none.
static REGISTERS: AtomicU64 = AtomicU64::new(0);

/// Notes that the registers at this physical address are mapped at [`NETWORK_PLACE`].
pub(super) fn map_registers(physical: u64) {
    REGISTERS.store(physical, Relaxed);
}

/// Physical addresses are addresses, but for registers that are mapped elsewhere.
#[derive(Debug)]
pub(super) struct Identity;

// SAFETY: the pages are all zero, page by page apart, and given once; what is mapped is mapped as
// it is, so that what is shared needs no other address and no copy.
unsafe impl Hal for Identity {
    fn dma_alloc(pages: usize, _: BufferDirection) -> (PhysAddr, NonNull<u8>) {
        let taken = NEXT.fetch_update(Relaxed, Relaxed, |next| {
            next.checked_add(pages).filter(|end| *end <= PAGES)
        });
        let Ok(first) = taken else { return (0, NonNull::dangling()) };
        let place = NonNull::from(&RINGS[first]).cast::<u8>();
        (place.as_ptr().expose_provenance() as PhysAddr, place)
    }

    unsafe fn dma_dealloc(_: PhysAddr, _: NonNull<u8>, _: usize) -> i32 {
        // There is one device in the life of a guest; its rings stay its own.
        0
    }

    unsafe fn mmio_phys_to_virt(place: PhysAddr, _: usize) -> NonNull<u8> {
        let offset = place.wrapping_sub(REGISTERS.load(Relaxed));
        let place = if offset < NETWORK_BYTES { NETWORK_PLACE + offset } else { place };
        NonNull::new(core::ptr::with_exposed_provenance_mut(place as usize))
            .expect("no device is at address zero")
    }

    unsafe fn share(buffer: NonNull<[u8]>, _: BufferDirection) -> PhysAddr {
        buffer.cast::<u8>().as_ptr().expose_provenance() as PhysAddr
    }

    unsafe fn unshare(_: PhysAddr, _: NonNull<[u8]>, _: BufferDirection) {}
}
