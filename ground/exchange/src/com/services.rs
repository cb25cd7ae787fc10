//! The functions that a built program gets from whoever loaded it.
//!
//! The layout is that of `struct quietcore_services` in `include/quietcore_services.h`. Members are
//! added at the end and `version` raised; a program built for an older version finds what it knows
//! where it was.
//!
// UNSAFETY: C calls these functions with raw pointers, which are checked against null and used as
// far as the signal's own size says.
#![expect(unsafe_code, reason = "called by C through raw pointers")]

use core::ffi::c_void;
use core::hint::black_box;
use core::marker::PhantomData;
use core::ptr;
use core::slice;

use quietcore_units::{KernelJob, Nanos};

use crate::com::ComStatus;
use crate::com::kernel::KernelHost;
use crate::com::table::{ComTable, SignalState};
use crate::primitive::words::WORD_BYTES;

/// The version of the table of functions.
pub const SERVICES_VERSION: u32 = 5;

/// Messages are touched at this distance before their queue is claimed, so that a program which
/// points to where nothing is crashes while it holds no claim: it may be another build that runs
/// next, in the same process. For the same reason it is not ended in a claim; see `Shelter`.
const PAGE_BYTES: usize = 4096;

/// The state that the functions of a program work on.
#[derive(Clone, Copy, Debug)]
pub struct Provision<'a, 'map> {
    /// The signals and groups of the program.
    pub table: &'a ComTable<'map>,
    /// The cycle that it runs in, where it is a kernel.
    pub kernel: &'a dyn KernelHost,
}

/// The functions by which a program reaches its channels, and a kernel its cycle.
#[derive(Debug)]
#[repr(C)]
pub struct Services<'a> {
    version: u32,
    bytes: u32,
    context: *const c_void,
    send_signal: unsafe extern "C" fn(*const c_void, u16, *const c_void) -> u8,
    receive_signal: unsafe extern "C" fn(*const c_void, u16, *mut c_void) -> u8,
    send_group: unsafe extern "C" fn(*const c_void, u16) -> u8,
    receive_group: unsafe extern "C" fn(*const c_void, u16) -> u8,
    send_message: unsafe extern "C" fn(*const c_void, u16, *const c_void, u16) -> u8,
    receive_message: unsafe extern "C" fn(*const c_void, u16, *mut c_void, *mut u16) -> u8,
    signal_state: unsafe extern "C" fn(*const c_void, u16, *mut SignalState) -> u8,
    group_state: unsafe extern "C" fn(*const c_void, u16, *mut SignalState) -> u8,
    now: unsafe extern "C" fn(*const c_void) -> u64,
    due: unsafe extern "C" fn(*const c_void) -> u64,
    until: unsafe extern "C" fn(*const c_void) -> u64,
    interrupt_at: unsafe extern "C" fn(*const c_void, u64),
    job: unsafe extern "C" fn(*const c_void, *const KernelJob),
    error: unsafe extern "C" fn(*const c_void, u32, u8, u8),
    clock: unsafe extern "C" fn(*const c_void) -> u64,
    wait_signal: unsafe extern "C" fn(*const c_void, u16, *mut c_void, u64) -> u8,
    wait_group: unsafe extern "C" fn(*const c_void, u16, u64) -> u8,
    signal_count: unsafe extern "C" fn(*const c_void, u16) -> u64,
    group_count: unsafe extern "C" fn(*const c_void, u16) -> u64,
    provision: PhantomData<&'a Provision<'a, 'a>>,
}

// SAFETY: the context is a table and a cycle that all threads may use.
unsafe impl Send for Services<'_> {}
// SAFETY: as above.
unsafe impl Sync for Services<'_> {}

impl<'a> Services<'a> {
    /// Functions for a program. They must outlive it.
    pub fn new(provision: &'a Provision<'_, '_>) -> Self {
        Self {
            version: SERVICES_VERSION,
            bytes: size_of::<Self>() as u32,
            context: ptr::from_ref(provision).cast(),
            send_signal,
            receive_signal,
            send_group,
            receive_group,
            send_message,
            receive_message,
            signal_state,
            group_state,
            now,
            due,
            until,
            interrupt_at,
            job,
            error,
            clock,
            wait_signal,
            wait_group,
            signal_count,
            group_count,
            provision: PhantomData,
        }
    }
}

/// Returns the provision of a context; `None` for null.
///
/// # Safety
/// A context that is not null is that of [`Services::new`], whose provision lives.
#[inline]
unsafe fn provision<'a>(context: *const c_void) -> Option<&'a Provision<'a, 'a>> {
    // SAFETY: as promised: null, or a reference that `new` made.
    unsafe { context.cast::<Provision<'a, 'a>>().as_ref() }
}

/// The table behind a context; `None` for null.
///
/// # Safety
/// As for [`provision`].
#[inline]
unsafe fn table<'a>(context: *const c_void) -> Option<&'a ComTable<'a>> {
    // SAFETY: as promised by our caller.
    unsafe { provision(context) }.map(|provision| provision.table)
}

/// The cycle behind a context; `None` for null.
///
/// # Safety
/// As for [`provision`].
#[inline]
unsafe fn kernel<'a>(context: *const c_void) -> Option<&'a dyn KernelHost> {
    // SAFETY: as promised by our caller.
    unsafe { provision(context) }.map(|provision| provision.kernel)
}

/// `send_signal` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`]; `value` is null or a variable of the signal's type.
unsafe extern "C" fn send_signal(context: *const c_void, signal: u16, value: *const c_void) -> u8 {
    // SAFETY: C hands back the context it was given.
    let Some(table) = (unsafe { table(context) }) else {
        return ComStatus::NotOk as u8;
    };
    let Some(bytes) = table.value_bytes(signal).filter(|_| !value.is_null()) else {
        return ComStatus::NotOk as u8;
    };
    let mut whole = [0; WORD_BYTES];
    // SAFETY: C points to a variable of the signal's type, which has `bytes` bytes, 8 at most.
    unsafe { ptr::copy_nonoverlapping(value.cast(), whole.as_mut_ptr(), usize::from(bytes)) };
    table.send_signal(signal, u64::from_le_bytes(whole)) as u8
}

/// `receive_signal` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`]; `value` is null or a variable of the signal's type.
unsafe extern "C" fn receive_signal(context: *const c_void, signal: u16, value: *mut c_void) -> u8 {
    // SAFETY: C hands back the context it was given.
    let Some(table) = (unsafe { table(context) }) else {
        return ComStatus::NotOk as u8;
    };
    let Some(bytes) = table.value_bytes(signal).filter(|_| !value.is_null()) else {
        return ComStatus::NotOk as u8;
    };
    let mut received = 0;
    let status = table.receive_signal(signal, &mut received);
    if status != ComStatus::NotOk {
        let whole = received.to_le_bytes();
        // SAFETY: C points to a variable of the signal's type, which has `bytes` bytes, 8 at most.
        unsafe { ptr::copy_nonoverlapping(whole.as_ptr(), value.cast(), usize::from(bytes)) };
    }
    status as u8
}

/// `send_group` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`].
unsafe extern "C" fn send_group(context: *const c_void, group: u16) -> u8 {
    // SAFETY: C hands back the context it was given.
    let table = unsafe { table(context) };
    table.map_or(ComStatus::NotOk, |table| table.send_group(group)) as u8
}

/// `receive_group` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`].
unsafe extern "C" fn receive_group(context: *const c_void, group: u16) -> u8 {
    // SAFETY: C hands back the context it was given.
    let table = unsafe { table(context) };
    table.map_or(ComStatus::NotOk, |table| table.receive_group(group)) as u8
}

/// `send_message` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`]; `message` is null or has `bytes` bytes.
unsafe extern "C" fn send_message(
    context: *const c_void,
    signal: u16,
    message: *const c_void,
    bytes: u16,
) -> u8 {
    // SAFETY: C hands back the context it was given.
    let table = unsafe { table(context) };
    let (Some(table), false) = (table, message.is_null()) else {
        return ComStatus::NotOk as u8;
    };
    // SAFETY: C points to a message of that many bytes, which nobody changes during the call.
    let message = unsafe { slice::from_raw_parts(message.cast(), usize::from(bytes)) };
    for page in message.chunks(PAGE_BYTES) {
        black_box(page[0]);
    }
    black_box(message.last());
    table.send_message(signal, message) as u8
}

/// `receive_message` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`]; `buffer` is null or has `*bytes` initialised bytes.
unsafe extern "C" fn receive_message(
    context: *const c_void,
    signal: u16,
    buffer: *mut c_void,
    bytes: *mut u16,
) -> u8 {
    // SAFETY: C hands back the context it was given.
    let table = unsafe { table(context) };
    let (Some(table), false, false) = (table, buffer.is_null(), bytes.is_null()) else {
        return ComStatus::NotOk as u8;
    };
    // SAFETY: C points to a number that holds the bytes of its buffer.
    let room = usize::from(unsafe { bytes.read() });
    // SAFETY: C points to a buffer of that many bytes, which nobody else uses during the call, and
    // which it has initialised.
    let buffer = unsafe { slice::from_raw_parts_mut(buffer.cast::<u8>(), room) };
    for page in buffer.chunks_mut(PAGE_BYTES) {
        page[0] = black_box(page[0]);
    }
    if let Some(last) = buffer.last_mut() {
        *last = black_box(*last);
    }
    let mut length = 0;
    let status = table.receive_message(signal, buffer, &mut length);
    // A message has 4096 bytes at most.
    let length = u16::try_from(length).unwrap_or(u16::MAX);
    // SAFETY: as above.
    unsafe { bytes.write(length) };
    status as u8
}

/// `signal_state` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`]; `state` is null or a structure.
unsafe extern "C" fn signal_state(
    context: *const c_void,
    signal: u16,
    state: *mut SignalState,
) -> u8 {
    let mut read = SignalState::default();
    // SAFETY: C hands back the context it was given.
    let table = unsafe { table(context) };
    let status = match table {
        Some(table) if !state.is_null() => table.signal_state(signal, &mut read),
        _ => return ComStatus::NotOk as u8,
    };
    // SAFETY: not null, so C points to a structure of its own.
    unsafe { state.write(read) };
    status as u8
}

/// `group_state` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`]; `state` is null or a structure.
unsafe extern "C" fn group_state(
    context: *const c_void,
    group: u16,
    state: *mut SignalState,
) -> u8 {
    let mut read = SignalState::default();
    // SAFETY: C hands back the context it was given.
    let table = unsafe { table(context) };
    let status = match table {
        Some(table) if !state.is_null() => table.group_state(group, &mut read),
        _ => return ComStatus::NotOk as u8,
    };
    // SAFETY: not null, so C points to a structure of its own.
    unsafe { state.write(read) };
    status as u8
}

/// `now` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`].
unsafe extern "C" fn now(context: *const c_void) -> u64 {
    // SAFETY: C hands back the context it was given.
    let table = unsafe { table(context) };
    table.map_or(0, |table| table.now().get())
}

/// `due` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`].
unsafe extern "C" fn due(context: *const c_void) -> u64 {
    // SAFETY: C hands back the context it was given.
    let kernel = unsafe { kernel(context) };
    kernel.map_or(0, |kernel| kernel.due().get())
}

/// `until` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`].
unsafe extern "C" fn until(context: *const c_void) -> u64 {
    // SAFETY: C hands back the context it was given.
    let kernel = unsafe { kernel(context) };
    kernel.map_or(0, |kernel| kernel.until().get())
}

/// `clock` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`].
unsafe extern "C" fn clock(context: *const c_void) -> u64 {
    // SAFETY: C hands back the context it was given.
    let kernel = unsafe { kernel(context) };
    kernel.map_or(0, |kernel| kernel.clock().get())
}

/// `wait_signal` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`]; `value` is null or a variable of the signal's type.
unsafe extern "C" fn wait_signal(
    context: *const c_void,
    signal: u16,
    value: *mut c_void,
    limit_ns: u64,
) -> u8 {
    // SAFETY: C hands back the context it was given.
    let Some(table) = (unsafe { table(context) }) else {
        return ComStatus::NotOk as u8;
    };
    let Some(bytes) = table.value_bytes(signal).filter(|_| !value.is_null()) else {
        return ComStatus::NotOk as u8;
    };
    let mut received = 0;
    let status = table.wait_signal(signal, Nanos::new(limit_ns), &mut received);
    if status != ComStatus::NotOk {
        let whole = received.to_le_bytes();
        // SAFETY: C points to a variable of the signal's type, which has `bytes` bytes, 8 at most.
        unsafe { ptr::copy_nonoverlapping(whole.as_ptr(), value.cast(), usize::from(bytes)) };
    }
    status as u8
}

/// `wait_group` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`].
unsafe extern "C" fn wait_group(context: *const c_void, group: u16, limit_ns: u64) -> u8 {
    // SAFETY: C hands back the context it was given.
    let table = unsafe { table(context) };
    let limit = Nanos::new(limit_ns);
    table.map_or(ComStatus::NotOk, |table| table.wait_group(group, limit)) as u8
}

/// `signal_count` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`].
unsafe extern "C" fn signal_count(context: *const c_void, signal: u16) -> u64 {
    // SAFETY: C hands back the context it was given.
    unsafe { table(context) }.map_or(0, |table| table.signal_count(signal))
}

/// `group_count` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`].
unsafe extern "C" fn group_count(context: *const c_void, group: u16) -> u64 {
    // SAFETY: C hands back the context it was given.
    unsafe { table(context) }.map_or(0, |table| table.group_count(group))
}

/// `interrupt_at` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`].
unsafe extern "C" fn interrupt_at(context: *const c_void, instant: u64) {
    // SAFETY: C hands back the context it was given.
    if let Some(kernel) = unsafe { kernel(context) } {
        kernel.interrupt_at((instant != 0).then_some(Nanos::new(instant)));
    }
}

/// `job` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`]; `job` is null or a structure.
unsafe extern "C" fn job(context: *const c_void, job: *const KernelJob) {
    // SAFETY: C hands back the context it was given.
    let kernel = unsafe { kernel(context) };
    // SAFETY: null, or a structure of C's own that nobody changes during the call.
    if let (Some(kernel), Some(job)) = (kernel, unsafe { job.as_ref() }) {
        kernel.note_job(job);
    }
}

/// `error` of the table of functions.
///
/// # Safety
/// `context` is that of [`Services::new`].
unsafe extern "C" fn error(context: *const c_void, task: u32, status: u8, service: u8) {
    // SAFETY: C hands back the context it was given.
    if let Some(kernel) = unsafe { kernel(context) } {
        kernel.note_error((task != u32::MAX).then_some(task), status, service);
    }
}
