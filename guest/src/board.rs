//! The driver of the clock board.
//!
//! The board's register counts 10 ns from the interrupt on, and reading it never leaves the guest:
//! its value is made here, of the counter's value when the interrupt was raised, which lies in a
//! page that the guest can read, and of the counter's value now. See `quietcore_boot::board`.
// UNSAFETY: reads the board's page and writes its ports.
#![expect(unsafe_code, reason = "the board is reached at an address and by ports")]

use core::arch::asm;
use core::arch::x86_64::_rdtsc;
use core::ptr;
use core::sync::atomic::AtomicU64;

use quietcore_boot::HostPage;
use quietcore_boot::board::{BoardPage, PAGE_BYTES, Raised, Register, WORDS, control, port};

/// The clock board, as the guest drives it.
#[derive(Clone, Copy, Debug)]
pub struct Board {
    page: BoardPage<'static>,
    register: Register,
}

/// A value was refused by the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

impl Board {
    /// The board of a host that says that it has one; `None` where it says nothing, or where its
    /// page is none.
    pub fn attach(host: &HostPage) -> Option<Self> {
        let place = host.clock_board;
        if place.bytes < PAGE_BYTES || !place.address.is_multiple_of(PAGE_BYTES) {
            return None;
        }
        let words: *const [AtomicU64; WORDS] =
            ptr::with_exposed_provenance(usize::try_from(place.address).ok()?);
        // SAFETY: the host says that a page is there, which is aligned and is changed by others
        // only; every bit pattern is an atomic.
        let page = BoardPage::new(unsafe { &*words });
        page.is_one().then(|| Self { page, register: Register::new(host.counter_hz) })
    }

    /// Sets the period, in units of 10 ns.
    ///
    /// # Errors
    /// [`Refused`]: it is out of range.
    pub fn set_period(&self, units: u32) -> Result<(), Refused> {
        write(port::PERIOD, units);
        if read(port::CONTROL) & control::REFUSED == 0 { Ok(()) } else { Err(Refused) }
    }

    /// Switches the interrupts on, the first a period from now, or off. One that was raised before
    /// may still come.
    pub fn switch(&self, on: bool) {
        write(port::CONTROL, if on { control::ON } else { 0 });
    }

    /// Returns the last interrupt; `None` if it can't be read whole.
    #[inline]
    pub fn last(&self) -> Option<Raised> {
        self.page.last()
    }

    /// The register: how long ago the last interrupt was raised, in units of 10 ns.
    #[inline]
    pub fn register(&self) -> Option<u32> {
        let raised = self.page.last()?;
        // SAFETY: every processor with 64 bits has the counter.
        Some(self.register.value(raised, unsafe { _rdtsc() }))
    }
}

fn write(number: u16, value: u32) {
    // SAFETY: the port is the board's; what it does is an interrupt at most.
    unsafe { asm!("out dx, eax", in("dx") number, in("eax") value, options(nostack)) };
}

fn read(number: u16) -> u32 {
    let value: u32;
    // SAFETY: reading the board's ports changes nothing.
    unsafe { asm!("in eax, dx", in("dx") number, out("eax") value, options(nostack)) };
    value
}
