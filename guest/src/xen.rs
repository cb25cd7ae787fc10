//! A host that is dom0 of Xen: how this guest hears of it, and is heard.
//!
//! ```text
//! store ring ◄─► quietcore/N ─► grants ─► addresses from 4 GiB on: memory that the host shares
//!           ◄─► quietcore/doorbell ─► event channel ─► vector of the host's call
//! console ring ─► text                shutdown ─► end
//! ```
//!
//! | module | what |
//! |---|---|
//! | `hypercall` | calls of the hypervisor, by their numbers in Xen's public headers |
//! | `store` | Xen's store, read |
//! | `grants` | memory that the host grants, mapped |
//!
//! The local interrupt controller and the counter are the processor's, as everywhere: Xen has both
//! in a guest of kind PVH. So neither its timer nor its clock is used.
// UNSAFETY: memory that is shared with the hypervisor is reached at its addresses.
#![expect(unsafe_code, reason = "the hypervisor's pages are beyond what Rust knows")]

mod grants;
mod hypercall;
mod store;

use core::arch::x86_64::__cpuid;
use core::ptr;
use core::sync::atomic::{
    AtomicU8, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use quietcore_boot::vector::ATTENTION;
use quietcore_boot::xen::{DOORBELL, Ring, number};

use crate::interrupts::without_interrupts;
use hypercall::Parameter;

pub(crate) use grants::area;

/// Leaf by which hypervisors say who they are, with Xen's name; the register of the hypercalls'
/// page is in the one after the next.
const HYPERVISOR: u32 = 0x4000_0000;
const NAME: [u32; 3] = [0x566E_6558, 0x6558_4D4D, 0x4D4D_566E];
const CALLS: u32 = 0x4000_0002;

/// Page of the guest at which the hypervisor's shared page is put: one of the boot's tables for
/// devices, at which no domain has any.
const SHARED: u64 = 0xFE00_0000;
/// In that page (Xen, `xen/include/public/xen.h`, `shared_info`): what is pending for the first
/// processor and in which words, the pending channels, and those that tell nobody.
const PENDING: u64 = SHARED;
const PENDING_WORDS: u64 = SHARED + 8;
const CHANNELS: u64 = SHARED + 2048;
const MASKS: u64 = SHARED + 2560;
/// Words of channels, of 64 each.
const CHANNEL_WORDS: u64 = 64;

/// Bytes of the console's rings: what is typed, which is never read, and what is written.
const TYPED_BYTES: u64 = 1024;
const WRITTEN_BYTES: u32 = 2048;
/// Tries to write to a console that is full, each of which lets others run.
const CONSOLE_TRIES: u32 = 2_000;

/// Page of the console and its channel; the page is zero where this guest has no console of Xen's.
static CONSOLE: AtomicU64 = AtomicU64::new(0);
static CONSOLE_CHANNEL: AtomicU32 = AtomicU32::new(0);
/// The channel of the host's call, which the guest does not have before it is zero no more.
static CALLED_BY: AtomicU32 = AtomicU32::new(0);

/// Looks for Xen, and makes its calls and its console usable. Returns without effect where there is
/// another host.
///
/// # Safety
/// Called once, with interrupts off, before anything else of this module.
pub(crate) unsafe fn begin() {
    let name = __cpuid(HYPERVISOR);
    if [name.ebx, name.ecx, name.edx] != NAME {
        return;
    }
    // SAFETY: Xen says that this is its register.
    unsafe { hypercall::enable(__cpuid(CALLS).ebx) };
    let console = hypercall::parameter(Parameter::ConsolePage).and_then(place_of_page);
    let channel = hypercall::parameter(Parameter::ConsoleChannel);
    if let (Some(console), Some(channel)) = (console, channel) {
        CONSOLE_CHANNEL.store(channel as u32, Relaxed);
        CONSOLE.store(console, Release);
    }
}

/// Returns `true` if the host is dom0 of Xen.
pub(crate) fn is_here() -> bool {
    hypercall::are_enabled()
}

/// Returns the address of one of the pages that the hypervisor has made for this guest; `None` if
/// the boot's tables do not map it as memory of devices.
fn place_of_page(page: u64) -> Option<u64> {
    (0xF_E000..0xF_F000).contains(&page).then_some(page << 12)
}

/// Writes text to the console. Returns `false` where there is none of Xen's. What a host that does
/// not read leaves no room for is lost.
pub(crate) fn say(text: &[u8]) -> bool {
    let console = CONSOLE.load(Acquire);
    if console == 0 {
        return false;
    }
    let indices = console + TYPED_BYTES + u64::from(WRITTEN_BYTES) + 8;
    // SAFETY: the page of the console, as its layout is (Xen, `xen/include/public/io/console.h`).
    let ring = unsafe { ring(console + TYPED_BYTES, WRITTEN_BYTES, indices) };
    let channel = CONSOLE_CHANNEL.load(Relaxed);
    let (mut rest, mut tries) = (text, 0);
    while !rest.is_empty() && tries < CONSOLE_TRIES {
        // An interrupt may write, too.
        let written = without_interrupts(|| ring.write(rest));
        rest = &rest[written..];
        if written == 0 {
            tries += 1;
            hypercall::let_others_run();
        }
        hypercall::notify(channel);
    }
    true
}

/// Has the host's call raise [`ATTENTION`]. Returns `None` where the host has announced no channel.
pub(crate) fn hear_calls() -> Option<()> {
    let mut value = [0; 16];
    let port = number(store::read(DOORBELL.as_bytes(), &mut value)?)?;
    hypercall::share_page(SHARED)?;
    for word in 0..CHANNEL_WORDS {
        at::<AtomicU64>(MASKS + 8 * word).store(u64::MAX, Relaxed);
    }
    let channel = hypercall::bind(port)?;
    if u64::from(channel) >= CHANNEL_WORDS * 64 {
        return None;
    }
    CALLED_BY.store(channel, Release);
    hypercall::raise_at_events(ATTENTION)?;
    hypercall::unmask(channel)
}

/// Lets the next call come, once one was heard; to be called before looking at what it is for.
#[inline]
pub(crate) fn acknowledge() {
    let channel = CALLED_BY.load(Relaxed);
    if channel == 0 {
        return;
    }
    at::<AtomicU8>(PENDING).store(0, Relaxed);
    // An exchange is a barrier: who sets a word's bit after it, raises anew.
    at::<AtomicU64>(PENDING_WORDS).swap(0, Acquire);
    let word = at::<AtomicU64>(CHANNELS + 8 * u64::from(channel / 64));
    word.fetch_and(!(1 << (channel % 64)), Acquire);
}

/// Ends this guest; returns only where the hypervisor does not end it.
pub(crate) fn end() {
    hypercall::shut_down();
}

/// The ring of so many bytes at an address, whose two indices are at another.
///
/// # Safety
/// There is such a ring in a page that is mapped for ever, and which all reach by atomics.
unsafe fn ring(bytes: u64, count: u32, indices: u64) -> Ring<'static> {
    let first = ptr::with_exposed_provenance(bytes as usize);
    // SAFETY: as our caller promises.
    let bytes: &[AtomicU8] = unsafe { core::slice::from_raw_parts(first, count as usize) };
    Ring::new(bytes, at(indices), at(indices + 4))
}

/// An atomic of a page that is shared with the hypervisor.
fn at<A>(address: u64) -> &'static A {
    let place: *const A = ptr::with_exposed_provenance(address as usize);
    // SAFETY: an aligned word of a page that is mapped for ever, and which all reach by atomics.
    unsafe { &*place }
}
