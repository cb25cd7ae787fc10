//! The common part of the probes' images: their job, and the exchange that takes what they measure.
// UNSAFETY: the exchange and the job are memory that the host shares.
#![expect(unsafe_code, reason = "memory that the host shares is at addresses that it says")]

use core::arch::asm;
use core::arch::x86_64::_rdtsc;
use core::fmt::Write as _;
use core::ptr::{self, NonNull};
use core::sync::atomic::AtomicU64;

use quietcore_boot::post::Taker;
use quietcore_boot::{AddressRange, HostPage, places, port};
use quietcore_exchange::Region;
use quietcore_probe::guest::job::{DOORBELL_BYTES, JOB_BYTES_MAX, decode};
use quietcore_probe::routines::Reading;
use serde::de::DeserializeOwned;

use crate::apic::{Apic, TIMER_VECTOR};
use crate::pages::Window;
use crate::{devices, host, interrupts};

/// The begin of a probe.
#[derive(Clone, Copy, Debug)]
pub struct Begin<T> {
    /// The page of the host.
    pub host: HostPage,
    /// The measurement to be done.
    pub job: T,
    /// The region to write it to.
    pub region: Region<'static>,
}

/// Reads host page and job and attaches to the exchange. Called once, before anything else looks at
/// what the host shares.
///
/// # Errors
/// The status to end with, after the console was told why.
pub fn begin<T: DeserializeOwned>() -> Result<Begin<T>, u8> {
    let refused = |why: core::fmt::Arguments<'_>| {
        // There is nobody to be told that the console failed.
        let _ = writeln!(host::Console, "{why}");
        port::REFUSED
    };
    // SAFETY: nothing has looked at what the host wrote yet, and the boot has left interrupts off.
    let page = host::page()
        .or_else(|why| if unsafe { devices::introduce() } { host::page() } else { Err(why) });
    let page = page.map_err(|why| refused(format_args!("{why}")))?;
    // SAFETY: what the host says is there.
    unsafe {
        Window::Post.map(page.job.bytes, || None);
        Window::Exchange.map(page.exchange.bytes, || None);
    }
    let mut place = [0; JOB_BYTES_MAX];
    let letter = Taker::new(words(page.job)).map(|mut post| post.take(&mut place).map(copied));
    let job = match letter {
        Some(Ok(bytes)) => decode(&place[..bytes]),
        Some(Err(why)) => return Err(refused(format_args!("{why}"))),
        None => return Err(refused(format_args!("there is no job for this guest"))),
    };
    let job = job.map_err(|why| refused(format_args!("{why}")))?;
    let base = ptr::with_exposed_provenance_mut(page.exchange.address as usize);
    let base = NonNull::new(base).ok_or_else(|| refused(format_args!("there is no exchange")))?;
    // SAFETY: the host says that so many bytes are there, for as long as this guest runs; it and
    // this guest reach them by atomics.
    let region = unsafe { Region::attach(base, page.exchange.bytes as usize) };
    let region = region.map_err(|why| refused(format_args!("{why}")))?;
    Ok(Begin { host: page, job, region })
}

fn copied(letter: Option<&[u8]>) -> usize {
    letter.map_or(0, <[u8]>::len)
}

/// Memory that the host shares, as words; none where the place is.
fn words(place: AddressRange) -> &'static [AtomicU64] {
    let address = place.address as usize;
    if address == 0 || !address.is_multiple_of(align_of::<AtomicU64>()) {
        return &[];
    }
    let words = place.bytes as usize / size_of::<AtomicU64>();
    // SAFETY: as above; every bit pattern is an atomic.
    unsafe { core::slice::from_raw_parts(ptr::with_exposed_provenance(address), words) }
}

/// Has the host's thread sleep for a moment: by the port of our own host, and else by waiting for
/// the timer of `apic` until `pause` has passed, in ns. The timer raises [`TIMER_VECTOR`] then. To
/// be called with interrupts let in.
pub fn rest(apic: &Apic, pause: u64) {
    if devices::are_here() {
        apic.set_timer_vector(TIMER_VECTOR);
        sleep_until(apic, apic.now().saturating_add(pause));
        return;
    }
    // SAFETY: the port is the host's, which ignores it where it does not know it.
    unsafe {
        asm!(
            "out dx, al",
            in("dx") port::REST, in("al") 0_u8,
            options(nomem, nostack, preserves_flags),
        );
    }
}

/// Lets interrupts in until one has come. Called with them off, and returns so; the handler calls
/// [`Interrupted::leave_halt`](crate::interrupts::Interrupted::leave_halt).
pub fn halt() {
    interrupts::wait();
    // SAFETY: they were off before.
    unsafe { asm!("cli", options(nomem, nostack)) };
}

/// Sleeps until an instant, in ns of the clock, by the timer of `apic`, which raises
/// [`TIMER_VECTOR`]. To be called with interrupts let in, and returns so.
pub fn sleep_until(apic: &Apic, instant: u64) {
    // SAFETY: held back, so that the timer can't go off before the halt that it is to end, …
    unsafe { asm!("cli", options(nomem, nostack)) };
    while apic.now() < instant {
        apic.set_timer(Some(instant));
        halt();
    }
    // SAFETY: … and let in as they were before.
    unsafe { asm!("sti", options(nomem, nostack)) };
}

/// The counter between two fences, as a process reads it for spans of some nanoseconds: what is
/// before has ended, and what is after has not begun.
#[derive(Debug)]
pub enum Fenced {}

impl Reading for Fenced {
    #[inline(always)]
    fn begin() -> u64 {
        fenced()
    }

    #[inline(always)]
    fn end() -> u64 {
        fenced()
    }
}

#[inline(always)]
fn fenced() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: every processor with 64 bits has these instructions.
    unsafe {
        asm!(
            "lfence", "rdtsc", "lfence",
            out("eax") low, out("edx") high,
            options(nostack, preserves_flags),
        );
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Writes to the port at which the host's KVM raises the interrupt of a source.
pub fn ring(source: u32) {
    let place = places::DOORBELLS as usize + source as usize * DOORBELL_BYTES;
    let place: *mut u32 = ptr::with_exposed_provenance_mut(place);
    // SAFETY: the address is no memory; what is written there is an interrupt at most.
    unsafe { place.write_volatile(1) };
}

/// The time stamp counter, as it is, in the middle of other instructions.
#[inline(always)]
pub fn counter() -> u64 {
    // SAFETY: every processor with 64 bits has it.
    unsafe { _rdtsc() }
}
