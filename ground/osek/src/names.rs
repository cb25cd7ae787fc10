//! Names of statuses and services in the standard, for messages.

/// The statuses from 1 on: their names, and what each means.
const STATUSES: [(&str, &str); 14] = [
    ("E_OS_ACCESS", "the object is not the caller's to use"),
    ("E_OS_CALLEVEL", "the service can't be called from there"),
    ("E_OS_ID", "there is no such object"),
    ("E_OS_LIMIT", "too many activations"),
    ("E_OS_NOFUNC", "the object is not in use"),
    ("E_OS_RESOURCE", "a resource is still occupied"),
    ("E_OS_STATE", "the object is in a state in which this is not possible"),
    ("E_OS_VALUE", "a value is outside of its limits"),
    ("E_OS_SERVICEID", "the conformance class has no such service"),
    ("E_OS_DISABLEDINT", "the caller holds interrupts back"),
    ("E_OS_MISSINGEND", "a task returned without TerminateTask or ChainTask"),
    ("E_OS_STACKFAULT", "the task's stack overflowed"),
    ("E_OS_PROTECTION_TIME", "the task used up its execution budget"),
    ("E_OS_PROTECTION_ARRIVAL", "the task was activated before its inter-arrival time was over"),
];

/// Names of the services from 1 on.
const SERVICES: [&str; 33] = [
    "ActivateTask",
    "TerminateTask",
    "ChainTask",
    "Schedule",
    "GetTaskID",
    "GetTaskState",
    "EnableAllInterrupts",
    "DisableAllInterrupts",
    "ResumeAllInterrupts",
    "SuspendAllInterrupts",
    "ResumeOSInterrupts",
    "SuspendOSInterrupts",
    "GetResource",
    "ReleaseResource",
    "SetEvent",
    "ClearEvent",
    "GetEvent",
    "WaitEvent",
    "GetAlarmBase",
    "GetAlarm",
    "SetRelAlarm",
    "SetAbsAlarm",
    "CancelAlarm",
    "GetActiveApplicationMode",
    "StartOS",
    "ShutdownOS",
    "IncrementCounter",
    "StartScheduleTableRel",
    "StartScheduleTableAbs",
    "StopScheduleTable",
    "NextScheduleTable",
    "GetScheduleTableStatus",
    "GetCounterValue",
];

/// The name of a [`Status`](crate::status::Status) by its number: `E_OS_LIMIT` is 4.
pub fn of_status(number: u8) -> Option<&'static str> {
    status(number).map(|(name, _)| name)
}

/// Describes a status; `None` if the standard has none of this number.
pub fn meaning_of_status(number: u8) -> Option<&'static str> {
    status(number).map(|(_, meaning)| meaning)
}

fn status(number: u8) -> Option<(&'static str, &'static str)> {
    STATUSES.get(usize::from(number).checked_sub(1)?).copied()
}

/// The name of a [`Service`](crate::status::Service) by its number; `None` for 0, where the kernel
/// found something by itself.
pub fn of_service(number: u8) -> Option<&'static str> {
    SERVICES.get(usize::from(number).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{Service, Status};

    #[test]
    fn the_names_stand_at_their_numbers() {
        assert_eq!(of_status(Status::Access as u8), Some("E_OS_ACCESS"));
        assert_eq!(meaning_of_status(Status::Limit as u8), Some("too many activations"));
        assert_eq!(of_status(Status::Value as u8), Some("E_OS_VALUE"));
        assert_eq!(of_status(Status::Service as u8), Some("E_OS_SERVICEID"));
        assert_eq!(of_status(Status::ProtectionArrival as u8), Some("E_OS_PROTECTION_ARRIVAL"));
        assert_eq!((of_status(0), of_status(15), of_status(255)), (None, None, None));
        assert_eq!(of_service(Service::ActivateTask as u8), Some("ActivateTask"));
        assert_eq!(of_service(Service::WaitEvent as u8), Some("WaitEvent"));
        assert_eq!(of_service(Service::IncrementCounter as u8), Some("IncrementCounter"));
        let table_status = Service::GetScheduleTableStatus as u8;
        assert_eq!(of_service(table_status), Some("GetScheduleTableStatus"));
        let last = Service::GetCounterValue as u8;
        assert_eq!(of_service(last), Some("GetCounterValue"));
        assert_eq!((of_service(Service::None as u8), of_service(last + 1)), (None, None));
    }
}
