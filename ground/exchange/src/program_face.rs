//! The face of a built program (`quietcore_module.h`), by which processes and guests enter it.
//!
//! A loader checks version and numbers before it calls a function; a guest, which takes a program
//! from its host, checks each address as well.

use core::ffi::{c_char, c_void};
use core::mem::offset_of;

/// The version of `quietcore_module.h`; the first member of every version of it.
pub const FACE_VERSION: u32 = 3;
/// The most step functions of a program.
pub const RATE_LIMIT: u32 = 64;

/// A function of a program: `step(rate)`.
///
/// In the C calling conventions of the supported machines a function without parameters may be
/// called so, too: the argument is in a register, and it ignores it.
pub type Entry = extern "C" fn(u32);
/// A function of a program that a signal handler, or the handler of an interrupt, calls.
pub type Interrupt = extern "C" fn();
/// A function of a program: its task that is under way, or `u32::MAX`.
pub type UnderWay = extern "C" fn() -> u32;

/// The functions of a program, as they lie in its constants.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ProgramFace {
    /// [`FACE_VERSION`].
    pub version: u32,
    /// Number of its step functions, 1 to [`RATE_LIMIT`].
    pub rate_count: u32,
    /// Called once, before the first step; it has no parameter (see [`Entry`]).
    pub initialize: Entry,
    /// One step of one rate.
    pub step: Entry,
    /// Called once, after the last step; it has no parameter (see [`Entry`]).
    pub terminate: Entry,
    /// The model's own error status; null where there is no error.
    pub error_status: extern "C" fn() -> *const c_char,
    /// The program's variable for the table of services, a `struct quietcore_services`.
    pub services: *mut *const c_void,
    /// Called at the instant that the program asked for, within `step(0)`.
    pub interrupt: Option<Interrupt>,
    /// Names of the tasks whose jobs it tells; null where there are none.
    pub tasks: *const *const c_char,
    /// Number of those names.
    pub task_count: u32,
    /// The task whose stack ends at an address; `u32::MAX` where none's does.
    pub overflowed: Option<extern "C" fn(*const c_void) -> u32>,
    /// The task that a step has left in the middle of a job.
    pub under_way: Option<UnderWay>,
    /// The pages below a stack of its own that nothing touches; null after the last one.
    pub guard: Option<extern "C" fn(u32, *mut usize) -> *const c_void>,
}

// As C lays the members out on the supported machines, all of 64 bits.
const _: () = assert!(size_of::<ProgramFace>() == 96);
const _: () = assert!(offset_of!(ProgramFace, version) == 0);
const _: () = assert!(offset_of!(ProgramFace, rate_count) == 4);
const _: () = assert!(offset_of!(ProgramFace, initialize) == 8);
const _: () = assert!(offset_of!(ProgramFace, step) == 16);
const _: () = assert!(offset_of!(ProgramFace, terminate) == 24);
const _: () = assert!(offset_of!(ProgramFace, error_status) == 32);
const _: () = assert!(offset_of!(ProgramFace, services) == 40);
const _: () = assert!(offset_of!(ProgramFace, interrupt) == 48);
const _: () = assert!(offset_of!(ProgramFace, tasks) == 56);
const _: () = assert!(offset_of!(ProgramFace, task_count) == 64);
const _: () = assert!(offset_of!(ProgramFace, overflowed) == 72);
const _: () = assert!(offset_of!(ProgramFace, under_way) == 80);
const _: () = assert!(offset_of!(ProgramFace, guard) == 88);
