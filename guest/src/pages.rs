//! Memory behind the image, taken page by page and never given back, with guards.
//!
//! Memory is addressed as it is, by the boot's tables: the first 4 MiB in pages of 4 KiB, the rest
//! in pages of 2 MiB. Of the rest only what is there [is mapped](Window::map), and where a host
//! shares it elsewhere ([`devices`](crate::devices)), to there. Where a page is to be no memory,
//! the large one that it lies in is cut first, with a page of the rest for its table. The tables
//! are written in this order, whatever the compiler thinks of it: the processor reads them at any
//! instant.
// UNSAFETY: writes page tables.
#![expect(unsafe_code, reason = "the processor reads these tables")]

use core::arch::asm;
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use quietcore_boot::places;

/// The size of a page, in bytes.
pub const PAGE_BYTES: usize = 4096;
/// The size of a large one.
const LARGE_BYTES: usize = 2 << 20;
/// Entries of a table.
const ENTRIES: usize = 512;
/// Flags of a page that is present and writable.
const MAPPED: u64 = 0b11;
/// Flag of a page that is present.
const PRESENT: u64 = 1;
/// Nothing is executed there.
const NO_EXECUTE: u64 = 1 << 63;
/// The bits of an entry that are no address.
const RIGHTS: u64 = NO_EXECUTE | 0xFFF;
/// First address of the image, at which small pages end.
const IMAGE: usize = 1 << 20;
pub(crate) const SMALL_END: usize = 4 << 20;
/// The entry is a large page itself.
const LARGE: u64 = 1 << 7;

// SAFETY: what the assembler, the linker or the image defines under these names is of these types.
unsafe extern "C" {
    safe static quietcore_guest_code_end: u8;
    safe static quietcore_guest_constants_end: u8;
    safe static quietcore_guest_image_end: u8;
    safe static quietcore_guest_pd: u8;
    safe static quietcore_guest_first: u8;
}

/// Gives each part of the image the rights that it needs: code is not written, constants neither,
/// and data are not executed.
pub(crate) fn protect() {
    let first = (&raw const quietcore_guest_first).expose_provenance();
    let code_end = (&raw const quietcore_guest_code_end).expose_provenance();
    let constants_end = (&raw const quietcore_guest_constants_end).expose_provenance();
    for page in (IMAGE..SMALL_END).step_by(PAGE_BYTES) {
        let rights = match page {
            _ if page < code_end => PRESENT,
            _ if page < constants_end => PRESENT | NO_EXECUTE,
            _ => MAPPED | NO_EXECUTE,
        };
        // SAFETY: the entry of a page; each is needed in this way by what lies in it.
        unsafe { entry_of(first, page / PAGE_BYTES).write_volatile(page as u64 | rights) };
    }
    forget();
}

/// Returns `true` if an address is code of the image.
pub(crate) fn is_code_of_image(address: u64) -> bool {
    let end = (&raw const quietcore_guest_code_end).expose_provenance() as u64;
    (IMAGE as u64..end).contains(&address)
}

/// Touches each page of memory that the host shares, so that no cycle is the first to do so and
/// leaves the guest for it.
pub(crate) fn touch(address: u64, bytes: u64) {
    let end = address.saturating_add(bytes);
    for page in (address..end).step_by(PAGE_BYTES) {
        let place: *const u8 = ptr::with_exposed_provenance(page as usize);
        // SAFETY: memory that the host says is there; what is read is not used.
        let _ = unsafe { place.read_volatile() };
    }
}

/// Makes a page no memory: who touches it crashes. `table` gives a page for a table, where one is
/// needed; `None` where it has none.
///
/// # Safety
/// Nothing uses the page, which is one of the guest's own memory.
pub(crate) unsafe fn cut_out(page: usize, table: impl FnOnce() -> Option<usize>) -> Option<()> {
    let large = page / LARGE_BYTES;
    let entry = entry_of((&raw const quietcore_guest_pd).expose_provenance(), large);
    // SAFETY: an entry of the boot's tables, which this module alone changes.
    let was = unsafe { entry.read_volatile() };
    let table = if was & LARGE == 0 {
        (was & !RIGHTS) as usize
    } else {
        let table = table()?;
        for index in 0..ENTRIES {
            let page = (was & !RIGHTS) + (index * PAGE_BYTES) as u64;
            // SAFETY: a page that was just taken.
            unsafe { entry_of(table, index).write_volatile(page | MAPPED | NO_EXECUTE) };
        }
        // SAFETY: the new table maps what the large page did.
        unsafe { entry.write_volatile(table as u64 | MAPPED) };
        table
    };
    // SAFETY: as above; nobody uses the page, as our caller promises.
    unsafe { entry_of(table, page / PAGE_BYTES % ENTRIES).write_volatile(0) };
    // SAFETY: forgets what the processor knows of the page.
    unsafe { asm!("invlpg [{}]", in(reg) page, options(nostack, preserves_flags)) };
    Some(())
}

/// Addresses of which the guest has the first ones, as many as its host says. The boot's tables map
/// those of its own memory, and none of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// Its own memory, from where the small pages end.
    Memory,
    /// The memory of the post.
    Post,
    /// The data of the program in this slot.
    Data(u8),
    /// The memory of the exchange.
    Exchange,
    /// Code and constants of the program in this slot.
    Code(u8),
    /// The memory of the channels.
    Channels,
}

/// A table of small pages.
#[repr(C, align(4096))]
struct Table(UnsafeCell<[u64; ENTRIES]>);

// SAFETY: only written here, by the one who has the tables, and read by the processor.
unsafe impl Sync for Table {}

/// Number of the windows.
const WINDOWS: usize = 8;

/// For the last large page of each window, which is there in part.
static ENDS: [Table; WINDOWS] = [const { Table(UnsafeCell::new([0; ENTRIES])) }; WINDOWS];

/// Distance from each window's own addresses to those of what it shows: zero, unless the host
/// shares that elsewhere.
static SHIFTS: [AtomicU64; WINDOWS] = [const { AtomicU64::new(0) }; WINDOWS];

impl Window {
    /// Its number, its first address, the address behind it, and what may be done there.
    fn place(self) -> (usize, u64, u64, u64) {
        const DATA: u64 = MAPPED | NO_EXECUTE;
        match self {
            Self::Memory => (0, SMALL_END as u64, places::MEMORY_END, DATA),
            Self::Post => (1, places::POST, places::POST + places::POST_BYTES_MAX, DATA),
            Self::Data(slot) => {
                let slot = usize::from(slot & 1);
                let start = places::PROGRAM_DATA[slot];
                (2 + slot, start, start + places::PROGRAM_DATA_BYTES_MAX, DATA)
            }
            Self::Exchange => (4, places::EXCHANGE, places::PROGRAM_CODE[0], DATA),
            Self::Code(slot) => {
                let slot = usize::from(slot & 1);
                let start = places::PROGRAM_CODE[slot];
                (5 + slot, start, start + places::PROGRAM_CODE_BYTES_MAX, PRESENT)
            }
            Self::Channels => (7, places::CHANNELS, places::CHANNELS_END, DATA),
        }
    }

    /// Has the window show what is at a physical address, from the next [`map`](Self::map) on.
    pub(crate) fn show(self, physical: u64) {
        let (number, start, ..) = self.place();
        SHIFTS[number].store(physical.wrapping_sub(start), Relaxed);
    }

    /// Maps its first `bytes`, without a guard between them, and nothing behind them: who goes
    /// there crashes. What is mapped is always the first part, so that all is nothing from where
    /// nothing begins. `table` gives an empty page for a table, where the window shows what begins
    /// within a large page.
    ///
    /// Returns `None` where there is no page for a table.
    ///
    /// # Safety
    /// The host says that so many bytes are there, and nobody uses what is behind them.
    pub(crate) unsafe fn map(self, bytes: u64, table: impl Fn() -> Option<usize>) -> Option<()> {
        let (number, start, end, rights) = self.place();
        let shift = SHIFTS[number].load(Relaxed);
        let behind = start.saturating_add(bytes.next_multiple_of(PAGE_BYTES as u64)).min(end);
        let directory = (&raw const quietcore_guest_pd).expose_provenance();
        let own = ENDS[number].0.get().expose_provenance();
        for large in (start..end).step_by(LARGE_BYTES) {
            let entry = entry_of(directory, large as usize / LARGE_BYTES);
            let physical = large.wrapping_add(shift);
            // SAFETY: an entry of the boot's tables, which this module alone changes.
            let was = unsafe { entry.read_volatile() };
            let cut = (was & !RIGHTS) as usize;
            let is_cut = was & PRESENT != 0 && was & LARGE == 0 && cut != own;
            let is_whole = large + LARGE_BYTES as u64 <= behind;
            let now = if large >= behind {
                if was == 0 {
                    break;
                }
                0
            } else if is_cut {
                fill(cut, physical, behind - large, rights);
                was
            } else if is_whole && physical.is_multiple_of(LARGE_BYTES as u64) {
                physical | rights | LARGE
            } else {
                let table = if is_whole { table()? } else { own };
                fill(table, physical, behind - large, rights);
                table as u64 | MAPPED
            };
            // SAFETY: it maps what the host says is there.
            unsafe { entry.write_volatile(now) };
        }
        forget();
        Some(())
    }
}

/// Maps pages of a window one by one, to where a part of what it shows is: a channel.
///
/// Returns `None` where there is no page for a table.
///
/// # Safety
/// The host shares these pages, and nobody uses others at these addresses.
pub(crate) unsafe fn map_part(
    address: u64,
    bytes: u64,
    physical: u64,
    table: impl Fn() -> Option<usize>,
) -> Option<()> {
    let directory = (&raw const quietcore_guest_pd).expose_provenance();
    let shift = physical.wrapping_sub(address);
    for page in (address..address.saturating_add(bytes)).step_by(PAGE_BYTES) {
        let entry = entry_of(directory, page as usize / LARGE_BYTES);
        // SAFETY: an entry of the boot's tables, which this module alone changes.
        let was = unsafe { entry.read_volatile() };
        let small = if was == 0 { table()? } else { (was & !RIGHTS) as usize };
        let to = page.wrapping_add(shift) | MAPPED | NO_EXECUTE;
        // SAFETY: as our caller promises; the table is empty, or has other parts of the window.
        unsafe {
            entry_of(small, page as usize / PAGE_BYTES % ENTRIES).write_volatile(to);
            entry.write_volatile(small as u64 | MAPPED);
        }
    }
    forget();
    Some(())
}

/// Maps a page of the first 4 MiB that is no memory of the image, to be read and written; its
/// `rights` are those of a device's registers where it is no memory.
///
/// # Safety
/// There is such a page, and nobody uses another at that address.
pub(crate) unsafe fn map_first(page: u64, physical: u64, rights: u64) {
    let first = (&raw const quietcore_guest_first).expose_provenance();
    let to = physical | MAPPED | NO_EXECUTE | rights;
    // SAFETY: as our caller promises.
    unsafe { entry_of(first, page as usize / PAGE_BYTES).write_volatile(to) };
    forget();
}

/// Maps the first `bytes` of a large page, which are at `physical`, in small ones, and no others.
/// Guards are only in windows whose size does not change.
fn fill(table: usize, physical: u64, bytes: u64, rights: u64) {
    let here = (bytes as usize).min(LARGE_BYTES) / PAGE_BYTES;
    for index in 0..ENTRIES {
        let entry = entry_of(table, index);
        let page = physical.wrapping_add((index * PAGE_BYTES) as u64);
        let small = if index < here { page | rights } else { 0 };
        // SAFETY: an entry of a table of this module's.
        unsafe {
            if index >= here && entry.read_volatile() == 0 {
                break;
            }
            entry.write_volatile(small);
        }
    }
}

/// Has the processor forget what it knew of the tables.
fn forget() {
    // SAFETY: the same tables.
    unsafe {
        asm!("mov {0}, cr3", "mov cr3, {0}", out(reg) _, options(nostack, preserves_flags));
    }
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

    /// All that is left: its address and its bytes.
    pub fn take_rest(&mut self) -> (usize, usize) {
        let start = core::mem::replace(&mut self.next, self.end);
        (start, self.end.saturating_sub(start))
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
        // SAFETY: the page was just taken.
        unsafe { cut_out(address, || self.take(PAGE_BYTES)) }?;
        Some(address)
    }
}

fn entry_of(table: usize, index: usize) -> *mut u64 {
    ptr::with_exposed_provenance_mut(table + index * size_of::<u64>())
}
