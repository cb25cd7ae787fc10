//! Memory that the host shares as devices on the PCI bus, where it can't put it at the addresses of
//! the host page: see [`quietcore_boot::devices`]. Where the host is dom0 of Xen, such memory is
//! granted instead, and all else is the same.
//!
//! ```text
//! host page? ── it is there ───────────────────────────► as the microVM has it
//!     └─ none ─► control device ─► records, introduction ─► host page
//!                                └► windows show what the devices have
//! ```
//!
//! Firmware has given the devices their addresses. They are left there: the guest's own tables put
//! what they have where it is expected.
// UNSAFETY: registers of devices are reached, and their memory is taken for what the host says.
#![expect(unsafe_code, reason = "devices are beyond what Rust knows")]

pub(crate) mod pci;

use core::arch::x86_64::{__cpuid, _mm_lfence, _rdtsc};
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use quietcore_boot::devices::{
    ALIGNMENT, BOARD, BOARD_PLACE, CONTROL, END, EXCHANGE, FIRST_CHANNEL, INTRODUCTION,
    INTRODUCTION_WORDS, IVSHMEM, Introduction, MEMORY_REGISTER, POST_OFFSET, RECORDS,
    RECORDS_BYTES, RECORDS_PLACE, function_of,
};
use quietcore_boot::{AddressRange, board, vector};

use crate::pages::{PAGE_BYTES, Window, map_first, map_part};
use crate::xen;
use pci::Function;

/// Addresses at which the guest has the introduction, and the registers of the doorbell's
/// interrupts: pages of the first 4 MiB that are nothing else.
const INTRODUCTION_PLACE: u64 = 0x9000;
const VECTORS_PLACE: u64 = 0xA000;

/// Address at which it has a page of code for a moment, to write to it.
const CODE_PLACE: u64 = BOARD_PLACE;

/// Addresses at which it has the registers of the network's device, and how many bytes of those.
pub(crate) const NETWORK_PLACE: u64 = 0xC000;
pub(crate) const NETWORK_BYTES: u64 = 0x4000;

/// Leaf by which hypervisors say who they are, and QEMU's name where it emulates the processor.
const HYPERVISOR: u32 = 0x4000_0000;
const EMULATOR: [u32; 3] = [0x5447_4354, 0x4354_4743, 0x4743_5447];

/// Rights of a page of registers: nothing of it is kept in a cache.
pub(crate) const UNCACHED: u64 = 0x18;

/// Addresses of the code slots on the bus; zero if the host has put them at their places.
static CODE_AT: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
/// Memory of the guest's own for the code of a slot, and its bytes; zero where there is none.
static CODE_OWN: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
static CODE_ROOM: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
/// Address of the exchange on the bus; zero if the host has put it at its place.
static EXCHANGE_AT: AtomicU64 = AtomicU64::new(0);

/// Looks for the control device, and has the host write its page. Returns `true` if there is one:
/// the windows of post, exchange and code show what the devices have from then on.
///
/// # Safety
/// Called once, with interrupts off, before anything else looks at the host's records.
pub(crate) unsafe fn introduce() -> bool {
    // SAFETY: as our caller promises.
    let Some((control, memory)) = (unsafe { shared(CONTROL) }) else { return false };
    let pages = (0..RECORDS_BYTES).step_by(PAGE_BYTES);
    for (page, offset) in pages.map(|offset| (RECORDS_PLACE + offset, RECORDS + offset)) {
        // SAFETY: nothing has looked at these pages yet; the device has as many.
        unsafe { map_first(page, memory + offset, 0) };
    }
    // SAFETY: pages that are nothing else.
    unsafe {
        map_first(INTRODUCTION_PLACE, memory + INTRODUCTION, 0);
        if let Some((control, registers)) = control.and_then(|it| Some((it, it.vectors()?))) {
            map_first(VECTORS_PLACE, registers & !(PAGE_BYTES as u64 - 1), UNCACHED);
            control.direct_first_vector(
                VECTORS_PLACE + registers % PAGE_BYTES as u64,
                vector::ATTENTION,
            );
        }
    }
    if control.is_none() && xen::hear_calls().is_none() {
        return false;
    }
    let words: *const [AtomicU64; INTRODUCTION_WORDS] =
        ptr::with_exposed_provenance(INTRODUCTION_PLACE as usize);
    // SAFETY: mapped for ever, and both sides reach it by atomics.
    let introduction = Introduction::new(unsafe { &*words });
    let Some(code) = introduction.code() else { return false };
    Window::Post.show(memory + POST_OFFSET);
    for (slot, offset) in (0..).zip(code) {
        Window::Code(slot).show(memory + offset);
        CODE_AT[usize::from(slot)].store(memory + offset, Relaxed);
    }
    // SAFETY: as our caller promises.
    if let Some((_, exchange)) = unsafe { shared(EXCHANGE) } {
        Window::Exchange.show(exchange);
        EXCHANGE_AT.store(exchange, Relaxed);
    }
    introduction.ask(|| {
        // SAFETY: every processor with 64 bits has the counter, and the fences, which keep the
        // processor from reading it earlier or later.
        unsafe {
            _mm_lfence();
            let counter = _rdtsc();
            _mm_lfence();
            counter
        }
    });
    true
}

/// Has the page of the clock board at [`BOARD_PLACE`], and the host's call come as its interrupt.
/// Returns `None` where there is no device for that.
///
/// # Safety
/// Called once, with interrupts off, by a guest without programs.
pub(crate) unsafe fn show_board() -> Option<()> {
    let (control, memory) = device(CONTROL)?;
    let registers = control.vectors()?;
    // SAFETY: the page is nothing else where there are no programs; the registers were mapped when
    // the host introduced itself.
    unsafe {
        map_first(BOARD_PLACE, memory + BOARD, 0);
        control.direct_first_vector(VECTORS_PLACE + registers % PAGE_BYTES as u64, board::VECTOR);
    }
    Some(())
}

/// Returns `true` if the host shares its memory as devices.
pub(crate) fn are_here() -> bool {
    EXCHANGE_AT.load(Relaxed) != 0
}

/// Has the window of a program's data show a section of the exchange, where that is a device.
pub(crate) fn show_data(slot: u8, offset: u64) {
    let exchange = EXCHANGE_AT.load(Relaxed);
    if exchange != 0 {
        Window::Data(slot).show(exchange + offset);
    }
}

/// Takes the code of a slot into memory of the guest's own, where Xen grants it: such pages can't
/// be executed. `pages` gives memory, which is never given back. Returns `None` where there is
/// none.
pub(crate) fn take_code(
    slot: u8,
    bytes: u64,
    pages: impl FnOnce(usize) -> Option<usize>,
) -> Option<()> {
    if !xen::is_here() {
        return Some(());
    }
    let (own, room) = (&CODE_OWN[usize::from(slot & 1)], &CODE_ROOM[usize::from(slot & 1)]);
    if room.load(Relaxed) < bytes {
        own.store(pages(usize::try_from(bytes).ok()?)? as u64, Relaxed);
        room.store(bytes, Relaxed);
    }
    let (own, code) = (own.load(Relaxed), CODE_AT[usize::from(slot & 1)].load(Relaxed));
    for page in (0..bytes).step_by(PAGE_BYTES) {
        // SAFETY: the page is in the slot, and nothing else is at the address.
        unsafe { map_first(CODE_PLACE, code + page, 0) };
        let from: *const u8 = ptr::with_exposed_provenance(CODE_PLACE as usize);
        let to: *mut u8 = ptr::with_exposed_provenance_mut((own + page) as usize);
        // SAFETY: both are whole pages, of which nobody else has the second.
        unsafe { to.copy_from_nonoverlapping(from, PAGE_BYTES) };
    }
    Window::Code(slot).show(own);
    Some(())
}

/// Writes the words of a code slot that is a device's once more, where QEMU emulates the processor:
/// it has translated what was there before, and does not see that the host has written.
pub(crate) fn renew_code(slot: u8, bytes: u64) {
    let code = CODE_AT[usize::from(slot & 1)].load(Relaxed);
    let name = __cpuid(HYPERVISOR);
    if code == 0 || [name.ebx, name.ecx, name.edx] != EMULATOR {
        return;
    }
    for page in (0..bytes).step_by(PAGE_BYTES) {
        // SAFETY: the page is in the slot, and nothing else is at the address.
        unsafe { map_first(CODE_PLACE, code + page, 0) };
        let words: *mut u64 = ptr::with_exposed_provenance_mut(CODE_PLACE as usize);
        for index in 0..PAGE_BYTES / size_of::<u64>() {
            // SAFETY: a word of the page, which nobody else writes before the program runs.
            unsafe { words.add(index).write_volatile(words.add(index).read_volatile()) };
        }
    }
}

/// Maps channels that are devices; `table` gives an empty page for a table. Returns `false` where
/// the host has put them at their addresses.
///
/// # Errors
/// The number of the channel that has no device, or for which there is no table.
///
/// # Safety
/// The host says that these channels are there, and nobody uses their addresses.
pub(crate) unsafe fn map_channels(
    places: impl Iterator<Item = AddressRange>,
    table: impl Fn() -> Option<usize>,
) -> Result<bool, usize> {
    if !are_here() {
        return Ok(false);
    }
    for (number, place) in places.enumerate() {
        // SAFETY: each is asked for once, and nothing else runs.
        let (_, memory) = unsafe { shared(FIRST_CHANNEL + number) }.ok_or(number)?;
        // SAFETY: as our caller promises.
        unsafe { map_part(place.address, place.bytes, memory, &table) }.ok_or(number)?;
    }
    Ok(true)
}

/// Leaves the status of a guest that ends for a host that hears no port.
pub(crate) fn note_end(status: u8) {
    if are_here() {
        let place =
            ptr::with_exposed_provenance_mut((INTRODUCTION_PLACE + END - INTRODUCTION) as usize);
        // SAFETY: a word of the page that is mapped since the memory is here, reached by atomics.
        let word = unsafe { AtomicU64::from_ptr(place) };
        word.store(u64::from(status) + 1, Relaxed);
    }
}

/// Memory that the host shares under this number: its device, unless Xen grants it, and its place.
///
/// # Safety
/// Called once for each number, while nothing else runs.
unsafe fn shared(number: usize) -> Option<(Option<Function>, u64)> {
    if xen::is_here() {
        // SAFETY: as our caller promises.
        return Some((None, unsafe { xen::area(number) }?));
    }
    device(number).map(|(device, memory)| (Some(device), memory))
}

/// A device with shared memory, and where that is.
fn device(number: usize) -> Option<(Function, u64)> {
    let (device, function) = function_of(number)?;
    let device = Function::find(device, function, IVSHMEM)?;
    let memory = device.memory(MEMORY_REGISTER)?;
    let is_aligned = number >= FIRST_CHANNEL || memory.is_multiple_of(ALIGNMENT);
    is_aligned.then_some((device, memory))
}
