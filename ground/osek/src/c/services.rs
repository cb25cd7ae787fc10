//! The services of `os.h`. What each does and returns is told there and at [`System`]'s methods.
//!
//! Called by any other thread than the machine's own, or where nothing runs, they do nothing, or
//! return an error.
// UNSAFETY: functions under their names in C, which write through its pointers.
#![expect(unsafe_code, reason = "functions under their names in C")]

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use super::SYSTEM;
use crate::port::Port as _;
use crate::status::Status;
#[cfg(doc)]
use crate::system::System;

/// `E_OK`
const E_OK: u8 = 0;
/// `INVALID_TASK`
const INVALID_TASK: u8 = 255;

/// `AlarmBaseType`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AlarmBaseType {
    maxallowedvalue: u32,
    ticksperbase: u32,
    mincycle: u32,
}

/// Address to which the call under way writes its result, for the error hook.
static RESULT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

fn code(result: Result<(), Status>) -> u8 {
    match result {
        Ok(()) => E_OK,
        Err(status) => status as u8,
    }
}

/// Asks for a value, and writes it to where C wants it.
fn tell<T>(place: *mut T, ask: impl FnOnce() -> Result<T, Status>) -> u8 {
    if place.is_null() || !place.is_aligned() {
        return Status::Value as u8;
    }
    if !SYSTEM.port().is_inside() {
        return Status::CallLevel as u8; // The hook that may be running reads the machine's own.
    }
    // An interrupt that comes in between leaves it as it found it.
    let before = RESULT.swap(place.cast(), Relaxed);
    let result = ask();
    RESULT.store(before, Relaxed);
    match result {
        Ok(value) => {
            // SAFETY: the caller's variable of this type, as os.h declares it.
            unsafe { place.write(value) };
            E_OK
        }
        Err(status) => status as u8,
    }
}

/// `ActivateTask`
#[unsafe(no_mangle)]
pub extern "C" fn ActivateTask(task: u8) -> u8 {
    code(SYSTEM.activate_task(task))
}

/// `TerminateTask`
#[unsafe(no_mangle)]
pub extern "C" fn TerminateTask() -> u8 {
    code(SYSTEM.terminate_task())
}

/// `ChainTask`
#[unsafe(no_mangle)]
pub extern "C" fn ChainTask(task: u8) -> u8 {
    code(SYSTEM.chain_task(task))
}

/// `Schedule`
#[unsafe(no_mangle)]
pub extern "C" fn Schedule() -> u8 {
    code(SYSTEM.schedule())
}

/// `GetTaskID`
#[unsafe(no_mangle)]
pub extern "C" fn GetTaskID(task: *mut u8) -> u8 {
    tell(task, || SYSTEM.task_id().map(|task| task.unwrap_or(INVALID_TASK)))
}

/// `GetTaskState`
#[unsafe(no_mangle)]
pub extern "C" fn GetTaskState(task: u8, state: *mut u8) -> u8 {
    tell(state, || SYSTEM.task_state(task).map(|state| state as u8))
}

/// `EnableAllInterrupts`
#[unsafe(no_mangle)]
pub extern "C" fn EnableAllInterrupts() {
    SYSTEM.enable_all_interrupts();
}

/// `DisableAllInterrupts`
#[unsafe(no_mangle)]
pub extern "C" fn DisableAllInterrupts() {
    SYSTEM.disable_all_interrupts();
}

/// `ResumeAllInterrupts`
#[unsafe(no_mangle)]
pub extern "C" fn ResumeAllInterrupts() {
    SYSTEM.resume_all_interrupts();
}

/// `SuspendAllInterrupts`
#[unsafe(no_mangle)]
pub extern "C" fn SuspendAllInterrupts() {
    SYSTEM.suspend_all_interrupts();
}

/// `ResumeOSInterrupts`
#[unsafe(no_mangle)]
pub extern "C" fn ResumeOSInterrupts() {
    SYSTEM.resume_os_interrupts();
}

/// `SuspendOSInterrupts`
#[unsafe(no_mangle)]
pub extern "C" fn SuspendOSInterrupts() {
    SYSTEM.suspend_os_interrupts();
}

/// `GetResource`
#[unsafe(no_mangle)]
pub extern "C" fn GetResource(resource: u8) -> u8 {
    code(SYSTEM.get_resource(resource))
}

/// `ReleaseResource`
#[unsafe(no_mangle)]
pub extern "C" fn ReleaseResource(resource: u8) -> u8 {
    code(SYSTEM.release_resource(resource))
}

/// `SetEvent`
#[unsafe(no_mangle)]
pub extern "C" fn SetEvent(task: u8, events: u64) -> u8 {
    code(SYSTEM.set_event(task, events))
}

/// `ClearEvent`
#[unsafe(no_mangle)]
pub extern "C" fn ClearEvent(events: u64) -> u8 {
    code(SYSTEM.clear_event(events))
}

/// `GetEvent`
#[unsafe(no_mangle)]
pub extern "C" fn GetEvent(task: u8, events: *mut u64) -> u8 {
    tell(events, || SYSTEM.event(task))
}

/// `WaitEvent`
#[unsafe(no_mangle)]
pub extern "C" fn WaitEvent(events: u64) -> u8 {
    code(SYSTEM.wait_event(events))
}

/// `GetAlarmBase`
#[unsafe(no_mangle)]
pub extern "C" fn GetAlarmBase(alarm: u8, base: *mut AlarmBaseType) -> u8 {
    tell(base, || {
        SYSTEM.alarm_base(alarm).map(|base| AlarmBaseType {
            maxallowedvalue: base.max_allowed,
            ticksperbase: base.ticks_per_base,
            mincycle: base.min_cycle,
        })
    })
}

/// `GetAlarm`
#[unsafe(no_mangle)]
pub extern "C" fn GetAlarm(alarm: u8, ticks: *mut u32) -> u8 {
    tell(ticks, || SYSTEM.remaining_ticks(alarm))
}

/// `SetRelAlarm`
#[unsafe(no_mangle)]
pub extern "C" fn SetRelAlarm(alarm: u8, increment: u32, cycle: u32) -> u8 {
    code(SYSTEM.set_relative_alarm(alarm, increment, cycle))
}

/// `SetAbsAlarm`
#[unsafe(no_mangle)]
pub extern "C" fn SetAbsAlarm(alarm: u8, start: u32, cycle: u32) -> u8 {
    code(SYSTEM.set_absolute_alarm(alarm, start, cycle))
}

/// `CancelAlarm`
#[unsafe(no_mangle)]
pub extern "C" fn CancelAlarm(alarm: u8) -> u8 {
    code(SYSTEM.cancel_alarm(alarm))
}

/// `IncrementCounter`
#[unsafe(no_mangle)]
pub extern "C" fn IncrementCounter(counter: u8) -> u8 {
    code(SYSTEM.increment_counter(counter))
}

/// `GetCounterValue`
#[unsafe(no_mangle)]
pub extern "C" fn GetCounterValue(counter: u8, value: *mut u32) -> u8 {
    tell(value, || SYSTEM.counter_value(counter))
}

/// `StartScheduleTableRel`
#[unsafe(no_mangle)]
pub extern "C" fn StartScheduleTableRel(table: u8, offset: u32) -> u8 {
    code(SYSTEM.start_table_relative(table, offset))
}

/// `StartScheduleTableAbs`
#[unsafe(no_mangle)]
pub extern "C" fn StartScheduleTableAbs(table: u8, start: u32) -> u8 {
    code(SYSTEM.start_table_absolute(table, start))
}

/// `StopScheduleTable`
#[unsafe(no_mangle)]
pub extern "C" fn StopScheduleTable(table: u8) -> u8 {
    code(SYSTEM.stop_table(table))
}

/// `NextScheduleTable`
#[unsafe(no_mangle)]
pub extern "C" fn NextScheduleTable(from: u8, to: u8) -> u8 {
    code(SYSTEM.next_table(from, to))
}

/// `GetScheduleTableStatus`
#[unsafe(no_mangle)]
pub extern "C" fn GetScheduleTableStatus(table: u8, status: *mut u8) -> u8 {
    tell(status, || SYSTEM.table_status(table).map(|status| status as u8))
}

/// `GetActiveApplicationMode`
#[unsafe(no_mangle)]
pub extern "C" fn GetActiveApplicationMode() -> u8 {
    SYSTEM.active_application_mode()
}

/// `ShutdownOS`. Outside of the system it does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn ShutdownOS(status: u8) {
    SYSTEM.shut_down(status);
}

/// Implements `OSErrorGetServiceId`: the service of the last error, by its number.
#[unsafe(no_mangle)]
pub extern "C" fn quietcore_osek_error_service() -> u8 {
    SYSTEM.error_service()
}

/// Implements the `OSError_…` macros of values.
#[unsafe(no_mangle)]
pub extern "C" fn quietcore_osek_error_parameter(position: u32) -> u64 {
    SYSTEM.error_parameter(position as usize)
}

/// Implements the `OSError_…` macros of references.
#[unsafe(no_mangle)]
pub extern "C" fn quietcore_osek_error_result() -> *mut c_void {
    RESULT.load(Relaxed)
}
