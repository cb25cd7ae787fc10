//! The statuses that services return, and the numbers of services.
//!
//! Numbers up to 8 are those of the standard (OSEK OS 2.2.3, 13.1). Those above are of the kinds
//! that the standard leaves to the implementation; their meanings follow AUTOSAR OS.

/// Why a service did not do what it was asked to; `E_OK` is the absence of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Status {
    /// `E_OS_ACCESS`: the object is not this caller's to use.
    Access = 1,
    /// `E_OS_CALLEVEL`: the service can't be called from here.
    CallLevel = 2,
    /// `E_OS_ID`: there is no such object.
    Id = 3,
    /// `E_OS_LIMIT`: too many activations.
    Limit = 4,
    /// `E_OS_NOFUNC`: the object is not in use.
    NoFunction = 5,
    /// `E_OS_RESOURCE`: a resource is still occupied.
    Resource = 6,
    /// `E_OS_STATE`: the object is in a state in which this is not possible.
    State = 7,
    /// `E_OS_VALUE`: a value is outside of its limits.
    Value = 8,
    /// `E_OS_SERVICEID`: the conformance class has no such service.
    Service = 9,
    /// `E_OS_DISABLEDINT`: called while interrupts were disabled or suspended by the caller.
    DisabledInterrupts = 10,
    /// `E_OS_MISSINGEND`: a task returned without `TerminateTask` or `ChainTask`.
    MissingEnd = 11,
    /// `E_OS_STACKFAULT`: a task's stack overflowed.
    StackFault = 12,
    /// `E_OS_PROTECTION_TIME`: a task used up its execution budget.
    ProtectionTime = 13,
    /// `E_OS_PROTECTION_ARRIVAL`: a task was activated before its inter-arrival time was over.
    ProtectionArrival = 14,
}

/// The service in which an error was found, as `OSErrorGetServiceId` tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Service {
    /// None: the kernel found it by itself.
    #[default]
    None = 0,
    /// `ActivateTask`
    ActivateTask = 1,
    /// `TerminateTask`
    TerminateTask = 2,
    /// `ChainTask`
    ChainTask = 3,
    /// `Schedule`
    Schedule = 4,
    /// `GetTaskID`
    GetTaskId = 5,
    /// `GetTaskState`
    GetTaskState = 6,
    /// `EnableAllInterrupts`
    EnableAllInterrupts = 7,
    /// `DisableAllInterrupts`
    DisableAllInterrupts = 8,
    /// `ResumeAllInterrupts`
    ResumeAllInterrupts = 9,
    /// `SuspendAllInterrupts`
    SuspendAllInterrupts = 10,
    /// `ResumeOSInterrupts`
    ResumeOsInterrupts = 11,
    /// `SuspendOSInterrupts`
    SuspendOsInterrupts = 12,
    /// `GetResource`
    GetResource = 13,
    /// `ReleaseResource`
    ReleaseResource = 14,
    /// `SetEvent`
    SetEvent = 15,
    /// `ClearEvent`
    ClearEvent = 16,
    /// `GetEvent`
    GetEvent = 17,
    /// `WaitEvent`
    WaitEvent = 18,
    /// `GetAlarmBase`
    GetAlarmBase = 19,
    /// `GetAlarm`
    GetAlarm = 20,
    /// `SetRelAlarm`
    SetRelAlarm = 21,
    /// `SetAbsAlarm`
    SetAbsAlarm = 22,
    /// `CancelAlarm`
    CancelAlarm = 23,
    /// `GetActiveApplicationMode`
    GetActiveApplicationMode = 24,
    /// `StartOS`
    StartOs = 25,
    /// `ShutdownOS`
    ShutdownOs = 26,
    /// `IncrementCounter`; beyond OSEK.
    IncrementCounter = 27,
    /// `StartScheduleTableRel`; beyond OSEK.
    StartScheduleTableRel = 28,
    /// `StartScheduleTableAbs`; beyond OSEK.
    StartScheduleTableAbs = 29,
    /// `StopScheduleTable`; beyond OSEK.
    StopScheduleTable = 30,
    /// `NextScheduleTable`; beyond OSEK.
    NextScheduleTable = 31,
    /// `GetScheduleTableStatus`; beyond OSEK.
    GetScheduleTableStatus = 32,
    /// `GetCounterValue`; beyond OSEK.
    GetCounterValue = 33,
}
