//! Functions by which a C program, or the glue of a module, starts, drives and ends the kernel of
//! this library.
// UNSAFETY: functions under their names in C, and two variables that one thread uses.
#![expect(unsafe_code, reason = "functions under their names in C")]

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_void};
use core::fmt::Write as _;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

use super::SYSTEM;
use super::tables::{self, Tables};
use crate::configuration::Configuration;
use crate::port::hosted::{Refused, Services, alone, driven};
use crate::text::Text;

/// The result of `quietcore_osek_start` if the kernel could not start.
const NOT_STARTED: u8 = 255;

/// A variable of whoever starts the kernel.
struct OfStarter<T>(UnsafeCell<T>);

// SAFETY: the functions of this module are called by one thread at a time, which os.h says.
unsafe impl<T> Sync for OfStarter<T> {}

/// The tables of the C program, borrowed for as long as it runs.
static CONFIGURATION: OfStarter<Configuration<'static>> =
    OfStarter(UnsafeCell::new(Configuration::EMPTY));
/// Why the kernel does not run.
static WHY: OfStarter<Text<256>> = OfStarter(UnsafeCell::new(Text::new()));
static HAS_WHY: AtomicBool = AtomicBool::new(false);
/// The tables as they were given.
static TABLES: AtomicPtr<Tables> = AtomicPtr::new(ptr::null_mut());

/// Reads the tables, and keeps what they say as long as the kernel runs. Those of one that runs
/// stay.
///
/// # Safety
/// As [`tables::read`].
unsafe fn keep(given: *const Tables) -> Result<&'static Configuration<'static>, Refused> {
    if SYSTEM.port().runs() {
        return Err(Refused::AlreadyRuns);
    }
    HAS_WHY.store(false, Relaxed);
    // SAFETY: as our caller promises.
    let configuration = unsafe { tables::read(given) }?;
    TABLES.store(given.cast_mut(), Relaxed);
    SYSTEM.port().name_tasks(name_of);
    let place = CONFIGURATION.0.get();
    // SAFETY: one thread, and no kernel reads it; what a former one borrowed is not used any more.
    unsafe { place.write(configuration) };
    // SAFETY: written just now, and not again as long as the kernel runs.
    Ok(unsafe { &*place })
}

fn name_of(task: u8) -> Option<&'static CStr> {
    // SAFETY: they were read without an error before the kernel started.
    unsafe { tables::task_name(TABLES.load(Relaxed), task) }
}

fn say(why: core::fmt::Arguments<'_>) {
    let mut text = Text::new();
    // A text that is too long is cut, which is no error.
    let _ = text.write_fmt(why);
    // SAFETY: one thread. A reader that was given the former text reads another one, as long.
    unsafe { WHY.0.get().write(text) };
    HAS_WHY.store(true, Relaxed);
}

/// Runs the kernel in the calling thread; see quietcore_osek.h.
///
/// # Safety
/// As [`tables::read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_osek_start(given: *const Tables, mode: u8) -> u8 {
    // SAFETY: as our caller promises.
    let tables = unsafe { keep(given) };
    let result = tables.and_then(|tables| alone::start(&SYSTEM, tables, mode));
    result.unwrap_or_else(|refused| {
        say(format_args!("{refused}"));
        let mut text = Text::<320>::new();
        // As above.
        let _ = writeln!(text, "quietcore-osek: not started: {refused}");
        alone::write_error(text.as_bytes());
        NOT_STARTED
    })
}

/// Starts the kernel for a partition; see quietcore_osek.h.
///
/// # Safety
/// As [`tables::read`]; `services` is null or a table that outlives the kernel. Called
/// from outside of the machine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_osek_initialize(
    given: *const Tables,
    mode: u8,
    services: *const c_void,
) -> u8 {
    driven::terminate(SYSTEM.port());
    let services = services.cast::<Services>();
    // SAFETY: as our caller promises.
    let result = unsafe { keep(given) }.and_then(|tables| {
        // SAFETY: as our caller promises.
        unsafe { driven::initialize(&SYSTEM, tables, mode, services) }
    });
    match result {
        Ok(()) => 0,
        Err(refused) => {
            say(format_args!("the OSEK kernel did not start: {refused}"));
            NOT_STARTED
        }
    }
}

/// One cycle; see quietcore_osek.h.
#[unsafe(no_mangle)]
pub extern "C" fn quietcore_osek_step() {
    driven::step(SYSTEM.port());
}

/// An instant has come; see quietcore_osek.h.
#[unsafe(no_mangle)]
pub extern "C" fn quietcore_osek_interrupt() {
    driven::interrupt(SYSTEM.port());
}

/// The end of a driven kernel; see quietcore_osek.h.
#[unsafe(no_mangle)]
pub extern "C" fn quietcore_osek_terminate() {
    driven::terminate(SYSTEM.port());
    HAS_WHY.store(false, Relaxed);
}

/// Why the kernel does not run; see quietcore_osek.h.
#[unsafe(no_mangle)]
pub extern "C" fn quietcore_osek_error() -> *const c_char {
    if let (Some(status), false) = (driven::ended(SYSTEM.port()), HAS_WHY.load(Relaxed)) {
        say(format_args!("ShutdownOS with status {status}"));
    }
    if !HAS_WHY.load(Relaxed) {
        return ptr::null();
    }
    // SAFETY: one thread, and `say` is not under way.
    unsafe { &*WHY.0.get() }.as_c().as_ptr()
}

/// Whose stack overflowed; see quietcore_osek.h.
#[unsafe(no_mangle)]
pub extern "C" fn quietcore_osek_overflowed(address: *const c_void) -> u32 {
    SYSTEM.port().task_of_guard(address.addr()).map_or(u32::MAX, u32::from)
}

/// Returns the guard below a stack; see quietcore_osek.h.
///
/// # Safety
/// `bytes` is a place for them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_osek_guard(index: u32, bytes: *mut usize) -> *const c_void {
    let Some((start, guard_bytes)) = SYSTEM.port().guard(index as usize) else {
        return ptr::null();
    };
    // SAFETY: as our caller promises.
    unsafe { bytes.write(guard_bytes) };
    ptr::without_provenance(start)
}

/// Which task is under way; see quietcore_osek.h.
#[unsafe(no_mangle)]
pub extern "C" fn quietcore_osek_under_way() -> u32 {
    if !driven::has_started(SYSTEM.port()) {
        return u32::MAX;
    }
    SYSTEM.task_under_way().map_or(u32::MAX, u32::from)
}

/// Raises interrupts from any thread; see quietcore_osek.h.
#[unsafe(no_mangle)]
pub extern "C" fn quietcore_osek_raise(source: u32) {
    SYSTEM.port().raise(source);
}

/// Raises interrupts from the kernel's own thread; see quietcore_osek.h.
#[unsafe(no_mangle)]
pub extern "C" fn quietcore_osek_trigger(source: u32) {
    SYSTEM.port().trigger(source);
}
