//! Calls of the hypervisor, by the numbers of its public headers (`xen/include/public/`).
//!
//! Xen fills a page with its calls, 32 bytes each: number in no register, arguments in `rdi`, `rsi`
//! and `rdx`, result in `rax`; negative results are errors.
// UNSAFETY: calls what the hypervisor has written.
#![expect(unsafe_code, reason = "the hypervisor is reached by code of its own")]

use core::arch::{asm, global_asm};
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};

/// Numbers of calls (`xen.h`).
const MEMORY: u64 = 12;
const GRANTS: u64 = 20;
const SCHEDULE: u64 = 29;
const EVENTS: u64 = 32;
const GUEST: u64 = 34;
const CALL_BYTES: u64 = 32;

/// This guest itself (`xen.h`, `DOMID_SELF`), and the host.
const SELF: u16 = 0x7FF0;
const HOST: u16 = 0;

/// Operations of those (`memory.h`, `grant_table.h`, `sched.h`, `event_channel.h`, `hvm/hvm_op.h`).
const ADD_TO_PHYSICAL: u64 = 7;
const SPACE_OF_SHARED_PAGE: u32 = 0;
const MAP_GRANT: u64 = 0;
const YIELD: u64 = 0;
const SHUT_DOWN: u64 = 2;
const POWERED_OFF: u32 = 0;
const BIND: u64 = 0;
const SEND: u64 = 4;
const UNMASK: u64 = 9;
const GET_PARAMETER: u64 = 1;
const SET_UPCALL_VECTOR: u64 = 23;

/// Parameters of this guest (`hvm/params.h`).
#[derive(Clone, Copy, Debug)]
pub(super) enum Parameter {
    StorePage = 1,
    StoreChannel = 2,
    ConsolePage = 17,
    ConsoleChannel = 18,
}

/// The request to map a granted page (`grant_table.h`, `gnttab_map_grant_ref`).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct MapGrant {
    address: u64,
    flags: u32,
    reference: u32,
    domain: u16,
    /// Zero if it is mapped.
    pub(super) status: i16,
    handle: u32,
    bus_address: u64,
}

impl MapGrant {
    /// Mapped for this guest's processor, to be read and written.
    const FOR_PROCESSOR: u32 = 1 << 1;

    /// Requests the host's page of this reference at an address of this guest.
    pub(super) fn new(address: u64, reference: u32) -> Self {
        Self { address, flags: Self::FOR_PROCESSOR, reference, domain: HOST, ..Self::default() }
    }
}

const _: () = assert!(size_of::<MapGrant>() == 32);

static ARE_ENABLED: AtomicBool = AtomicBool::new(false);

global_asm!(
    r#"
    .text
    .balign 4096
    .globl quietcore_guest_hypercalls
quietcore_guest_hypercalls:
    .zero 4096
"#
);

// SAFETY: what the assembler defines under this name is of this type.
unsafe extern "C" {
    safe static quietcore_guest_hypercalls: u8;
}

/// Has the hypervisor write its calls.
///
/// # Safety
/// The model-specific register of this number is the hypervisor's for that.
pub(super) unsafe fn enable(register: u32) {
    let page = (&raw const quietcore_guest_hypercalls).expose_provenance() as u64;
    // SAFETY: as our caller promises; the page is this guest's, and nothing else is in it.
    unsafe {
        asm!(
            "wrmsr",
            in("ecx") register, in("eax") page as u32, in("edx") (page >> 32) as u32,
            options(nostack),
        );
    }
    ARE_ENABLED.store(true, Release);
}

/// Returns `true` if there are calls.
pub(super) fn are_enabled() -> bool {
    ARE_ENABLED.load(Acquire)
}

/// Returns a parameter of this guest; `None` if the hypervisor has none.
pub(super) fn parameter(which: Parameter) -> Option<u64> {
    #[repr(C)]
    struct Asked {
        domain: u16,
        index: u32,
        value: u64,
    }
    let mut asked = Asked { domain: SELF, index: which as u32, value: 0 };
    // SAFETY: the layout of the operation.
    unsafe { operation(GUEST, GET_PARAMETER, &mut asked) }?;
    Some(asked.value).filter(|value| *value != 0)
}

/// Puts the page that this guest shares with the hypervisor to an address.
pub(super) fn share_page(address: u64) -> Option<()> {
    #[repr(C)]
    struct Asked {
        domain: u16,
        size: u16,
        space: u32,
        index: u64,
        page: u64,
    }
    let page = address >> 12;
    let mut asked = Asked { domain: SELF, size: 0, space: SPACE_OF_SHARED_PAGE, index: 0, page };
    // SAFETY: the layout of the operation; there is nothing else at that address.
    unsafe { operation(MEMORY, ADD_TO_PHYSICAL, &mut asked) }
}

/// Maps pages that the host grants; each has its status then. Returns `None` where the call itself
/// is refused.
///
/// # Safety
/// Nothing else is at their addresses.
pub(super) unsafe fn map_grants(pages: &mut [MapGrant]) -> Option<()> {
    let arguments = [MAP_GRANT, pages.as_mut_ptr().expose_provenance() as u64, pages.len() as u64];
    // SAFETY: the layout of the operation, and as our caller promises.
    (unsafe { call(GRANTS, arguments) } == 0).then_some(())
}

/// Binds a channel to the host's end of it.
pub(super) fn bind(port: u32) -> Option<u32> {
    #[repr(C)]
    struct Asked {
        domain: u16,
        remote: u32,
        own: u32,
    }
    let mut asked = Asked { domain: HOST, remote: port, own: 0 };
    // SAFETY: the layout of the operation.
    unsafe { operation(EVENTS, BIND, &mut asked) }?;
    Some(asked.own)
}

/// Tells the other end of a channel; one without an end hears nothing.
pub(super) fn notify(mut channel: u32) {
    // SAFETY: the layout of the operation.
    let _ = unsafe { operation(EVENTS, SEND, &mut channel) };
}

/// Has a channel tell this guest, at once if it has something to tell.
pub(super) fn unmask(mut channel: u32) -> Option<()> {
    // SAFETY: the layout of the operation.
    unsafe { operation(EVENTS, UNMASK, &mut channel) }
}

/// Has events raise a vector of the local interrupt controller.
pub(super) fn raise_at_events(vector: u8) -> Option<()> {
    #[repr(C)]
    struct Asked {
        processor: u32,
        vector: u8,
    }
    // SAFETY: the layout of the operation; the vector has an entry.
    unsafe { operation(GUEST, SET_UPCALL_VECTOR, &mut Asked { processor: 0, vector }) }
}

/// Lets others run on this processor's CPU.
pub(super) fn let_others_run() {
    // SAFETY: it has no argument.
    let _ = unsafe { call(SCHEDULE, [YIELD, 0, 0]) };
}

/// Ends this guest; returns only where that is refused.
pub(super) fn shut_down() {
    let mut reason = POWERED_OFF;
    // SAFETY: the layout of the operation.
    let _ = unsafe { operation(SCHEDULE, SHUT_DOWN, &mut reason) };
}

/// Makes a call of an operation with its argument; `None` if it is refused.
///
/// # Safety
/// The argument has the layout that the operation wants, and what it does is wanted.
unsafe fn operation<A>(number: u64, operation: u64, argument: &mut A) -> Option<()> {
    let place = (&raw mut *argument).expose_provenance() as u64;
    // SAFETY: as our caller promises.
    (unsafe { call(number, [operation, place, 0]) } >= 0).then_some(())
}

/// Makes a call and returns its result, which is negative where it is refused.
///
/// # Safety
/// The arguments are those of the call, and calls are enabled.
unsafe fn call(number: u64, arguments: [u64; 3]) -> i64 {
    let first = (&raw const quietcore_guest_hypercalls).expose_provenance() as u64;
    let result: i64;
    // SAFETY: the hypervisor's code, which changes the registers of arguments and of the result.
    unsafe {
        asm!(
            "call {place}",
            place = in(reg) first + number * CALL_BYTES,
            inout("rdi") arguments[0] => _,
            inout("rsi") arguments[1] => _,
            inout("rdx") arguments[2] => _,
            out("rax") result, out("rcx") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    result
}
