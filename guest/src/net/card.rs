//! A network card that the host has given this guest: its registers, which are mapped here, and
//! its memory, which the card reaches by itself.
//!
//! The host's IOMMU lets it reach the guest's memory and no other. The guest has no such unit of
//! its own, so that the card's addresses are the guest's.
// UNSAFETY: reads and writes registers of a device.
#![expect(unsafe_code, reason = "registers of a device are beyond what Rust knows")]

use core::arch::x86_64::_rdtsc;
use core::ptr;
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
    fence,
};

use quietcore_boot::{CardFamily, HostPage};
use quietcore_units::Nanos;
use quietcore_wire::intel::{Card, CardAccess, REGISTER_BYTES, Register, Rings};

use super::NetError;
use crate::clock::Clock;
use crate::devices::UNCACHED;
use crate::devices::pci::Function;
use crate::pages::{PAGE_BYTES, map_first};

/// Address at which the guest has the card's registers: pages of the first 4 MiB that are nothing
/// else.
const PLACE: u64 = 0x1_0000;
/// The base register of the registers' memory, in both families.
const REGISTERS: u8 = 0;

static RINGS: Rings = Rings::new();
static TAKEN: AtomicBool = AtomicBool::new(false);

/// A card of this guest.
pub(super) type GuestCard = Card<Mapped>;

/// Registers that are mapped at [`PLACE`], and the guest's clock.
#[derive(Debug)]
pub(super) struct Mapped {
    clock: Clock,
}

/// Opens the first card at these places of the bus; `None` if there is none.
///
/// # Errors
/// [`NetError`].
pub(super) fn find(
    devices: impl IntoIterator<Item = u8>,
    clock: Clock,
) -> Option<Result<GuestCard, NetError>> {
    let known = |device| {
        let function = Function::at(device, 0);
        CardFamily::of(function.read(0)).map(|family| (function, family))
    };
    let (function, family) = devices.into_iter().find_map(known)?;
    let memory = function.memory(REGISTERS).ok_or(NetError::Registers);
    Some(memory.and_then(|memory| open(memory, family, clock)))
}

/// Opens the card that the host has given this guest, by its page; `None` if it has given none.
///
/// # Errors
/// [`NetError`].
pub(super) fn of_host(host: &HostPage, clock: Clock) -> Option<Result<GuestCard, NetError>> {
    if host.card.bytes < REGISTER_BYTES {
        return None;
    }
    let family = CardFamily::of(host.card_kind).ok_or(NetError::Registers);
    Some(family.and_then(|family| open(host.card.address, family, clock)))
}

/// Opens a card whose registers are at this physical address.
fn open(memory: u64, family: CardFamily, clock: Clock) -> Result<GuestCard, NetError> {
    if TAKEN.swap(true, Relaxed) {
        return Err(NetError::Taken);
    }
    for offset in (0..REGISTER_BYTES).step_by(PAGE_BYTES) {
        // SAFETY: these pages are nothing else, and the card's registers are there.
        unsafe { map_first(PLACE + offset, memory + offset, UNCACHED) };
    }
    let base = (&raw const RINGS).expose_provenance() as u64;
    Card::open(Mapped { clock }, family, &RINGS, base).map_err(NetError::Card)
}

impl CardAccess for Mapped {
    fn read(&mut self, register: Register) -> u32 {
        // SAFETY: a register of the card, whose driver this is.
        unsafe { place(register).read_volatile() }
    }

    fn write(&mut self, register: Register, value: u32) {
        // The card may read what was written before as soon as it is told.
        fence(SeqCst);
        // SAFETY: as above.
        unsafe { place(register).write_volatile(value) }
    }

    #[inline]
    fn now(&self) -> Nanos {
        // SAFETY: every processor with 64 bits has the counter.
        Nanos::new(self.clock.now_by(|| unsafe { _rdtsc() }))
    }
}

fn place(register: Register) -> *mut u32 {
    ptr::with_exposed_provenance_mut((PLACE + u64::from(register.offset())) as usize)
}
