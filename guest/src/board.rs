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
use quietcore_boot::board::{
    BoardPage, OrderWord, PAGE_BYTES, PERIOD_MAX, PERIOD_MIN, Raised, Register, WORDS, control,
    port,
};

use crate::devices;

/// The clock board, as the guest drives it.
#[derive(Clone, Copy, Debug)]
pub struct Board {
    page: BoardPage<'static>,
    register: Register,
    /// The place of orders to a host that hears no port.
    orders: Option<OrderWord<'static>>,
}

/// A value was refused by the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

impl Board {
    /// The board of a host that says that it has one; `None` where it says nothing, or where its
    /// page is none.
    ///
    /// # Safety
    /// Called once, with interrupts off, by a guest without programs.
    pub unsafe fn attach(host: &HostPage) -> Option<Self> {
        let place = host.clock_board;
        if place.bytes < PAGE_BYTES || !place.address.is_multiple_of(PAGE_BYTES) {
            return None;
        }
        let is_device = devices::are_here();
        if is_device {
            // SAFETY: as our caller promises.
            unsafe { devices::show_board() }?;
        }
        let words: *const [AtomicU64; OrderWord::INDEX + 1] =
            ptr::with_exposed_provenance(usize::try_from(place.address).ok()?);
        // SAFETY: the host says that a page is there, which is aligned; every bit pattern is an
        // atomic.
        let words = unsafe { &*words };
        let page = BoardPage::new(words.first_chunk::<WORDS>()?);
        let orders = is_device.then_some(OrderWord::new(&words[OrderWord::INDEX]));
        page.is_one().then(|| Self { page, register: Register::new(host.counter_hz), orders })
    }

    /// Sets the period, in units of 10 ns.
    ///
    /// # Errors
    /// [`Refused`]: it is out of range.
    pub fn set_period(&self, units: u32) -> Result<(), Refused> {
        if let Some(orders) = self.orders {
            let is_possible = (PERIOD_MIN..=PERIOD_MAX).contains(&units);
            return is_possible.then(|| orders.set_period(units)).ok_or(Refused);
        }
        write(port::PERIOD, units);
        if read(port::CONTROL) & control::REFUSED == 0 { Ok(()) } else { Err(Refused) }
    }

    /// Switches the interrupts on, the first a period from now, or off. One that was raised before
    /// may still come.
    pub fn switch(&self, on: bool) {
        match self.orders {
            Some(orders) => orders.switch(on),
            None => write(port::CONTROL, if on { control::ON } else { 0 }),
        }
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
