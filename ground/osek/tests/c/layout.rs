//! The tables of `quietcore_osek.h` are those of Rust: each size and each offset, asserted by the C
//! compiler. The table of services, too, as far as the kernel reads it.

use std::fmt::Write as _;
use std::fs;
use std::mem::offset_of;
use std::process::Command;

use quietcore_osek::c::tables::{Tables, VERSION};
use quietcore_osek::configuration::{
    ALARMS_MAX, Action, ActionKind, Alarm, COUNTERS_MAX, Checking, Class, Counter, ExpiryPoint,
    Hooks, ISRS_MAX, Isr, Kind, MESSAGES_MAX, MODES_MAX, Message, Notification, RESOURCES_MAX,
    Resource, SCHEDULE_TABLES_MAX, SCHEDULER_LEVEL, Scale, ScheduleTable, TASKS_MAX, Task,
};
use quietcore_osek::port::hosted::Services;

use crate::library::{has, root, scratch};

/// Asserts the size of a structure and the offsets of its members.
macro_rules! structure {
    ($text:ident, $rust:ty, $c:literal, $($member:ident)*) => {
        let bytes = size_of::<$rust>();
        writeln!($text, "_Static_assert(sizeof(struct {}) == {bytes}, \"{}\");", $c, $c).unwrap();
        $(
            let (name, offset) = (stringify!($member), offset_of!($rust, $member));
            writeln!(
                $text,
                "_Static_assert(offsetof(struct {}, {name}) == {offset}, \"{} {name}\");",
                $c, $c
            )
            .unwrap();
        )*
    };
}

fn structures() -> String {
    let mut text = String::new();
    structure!(text, Task, "quietcore_osek_task", entry events budget_ns inter_arrival_ns autostart
        stack_bytes priority running_level activations kind);
    structure!(text, Isr, "quietcore_osek_isr", entry source level category);
    structure!(text, Resource, "quietcore_osek_resource", scale ceiling);
    structure!(text, Counter, "quietcore_osek_counter", max_allowed ticks_per_base min_cycle
        hardware tick_ns);
    structure!(text, Action, "quietcore_osek_action", kind object events callback);
    structure!(text, Alarm, "quietcore_osek_alarm", action counter autostart first cycle);
    structure!(text, ExpiryPoint, "quietcore_osek_expiry_point", offset first_action action_count);
    structure!(text, ScheduleTable, "quietcore_osek_schedule_table", counter first_point point_count
        repeating duration autostart start);
    structure!(text, Message, "quietcore_osek_message", events number object notification
        is_group);
    structure!(text, Hooks, "quietcore_osek_hooks", startup shutdown error pre_task post_task);
    structure!(text, Tables, "quietcore_osek_configuration", version conformance checking accounting
        mode_count hooks tasks isrs resources counters alarms schedule_tables expiry_points actions
        messages task_names task_count isr_count resource_count counter_count alarm_count
        schedule_table_count expiry_point_count action_count message_count);
    structure!(text, Services, "quietcore_services", version bytes context now due until
        interrupt_at job error clock signal_count group_count);
    text
}

fn constants() -> String {
    let constants = [
        ("VERSION", VERSION as usize),
        ("TASKS_MAX", TASKS_MAX),
        ("RESOURCES_MAX", RESOURCES_MAX),
        ("ALARMS_MAX", ALARMS_MAX),
        ("COUNTERS_MAX", COUNTERS_MAX),
        ("SCHEDULE_TABLES_MAX", SCHEDULE_TABLES_MAX),
        ("ISRS_MAX", ISRS_MAX),
        ("MESSAGES_MAX", MESSAGES_MAX),
        ("MODES_MAX", MODES_MAX),
        ("SCHEDULER_LEVEL", SCHEDULER_LEVEL as usize),
        ("BCC1", Class::Bcc1 as usize),
        ("BCC2", Class::Bcc2 as usize),
        ("ECC1", Class::Ecc1 as usize),
        ("ECC2", Class::Ecc2 as usize),
        ("STANDARD", Checking::Standard as usize),
        ("EXTENDED", Checking::Extended as usize),
        ("BASIC", Kind::Basic as usize),
        ("EXTENDED_TASK", Kind::Extended as usize),
        ("TASK_LEVEL", Scale::Task as usize),
        ("INTERRUPT_LEVEL", Scale::Interrupt as usize),
        ("ACTIVATE_TASK", ActionKind::ActivateTask as usize),
        ("SET_EVENT", ActionKind::SetEvent as usize),
        ("CALLBACK", ActionKind::Callback as usize),
        ("INCREMENT_COUNTER", ActionKind::IncrementCounter as usize),
        ("NOTIFY_TASK", Notification::ActivateTask as usize),
        ("NOTIFY_EVENT", Notification::SetEvent as usize),
        ("NOTIFY_ISR", Notification::RaiseIsr as usize),
    ];
    let lines = constants.map(|(name, value)| {
        format!("_Static_assert(QUIETCORE_OSEK_{name} == {value}, \"{name}\");\n")
    });
    lines.concat()
}

/// The numbers of `os.h`, which are those of the kernel.
fn numbers() -> String {
    use quietcore_osek::status::{Service, Status};
    let statuses = [
        ("ACCESS", Status::Access),
        ("CALLEVEL", Status::CallLevel),
        ("ID", Status::Id),
        ("LIMIT", Status::Limit),
        ("NOFUNC", Status::NoFunction),
        ("RESOURCE", Status::Resource),
        ("STATE", Status::State),
        ("VALUE", Status::Value),
        ("SERVICEID", Status::Service),
        ("DISABLEDINT", Status::DisabledInterrupts),
        ("MISSINGEND", Status::MissingEnd),
        ("STACKFAULT", Status::StackFault),
        ("PROTECTION_TIME", Status::ProtectionTime),
        ("PROTECTION_ARRIVAL", Status::ProtectionArrival),
    ];
    let services = [
        ("ActivateTask", Service::ActivateTask),
        ("TerminateTask", Service::TerminateTask),
        ("ChainTask", Service::ChainTask),
        ("Schedule", Service::Schedule),
        ("GetTaskID", Service::GetTaskId),
        ("GetTaskState", Service::GetTaskState),
        ("EnableAllInterrupts", Service::EnableAllInterrupts),
        ("DisableAllInterrupts", Service::DisableAllInterrupts),
        ("ResumeAllInterrupts", Service::ResumeAllInterrupts),
        ("SuspendAllInterrupts", Service::SuspendAllInterrupts),
        ("ResumeOSInterrupts", Service::ResumeOsInterrupts),
        ("SuspendOSInterrupts", Service::SuspendOsInterrupts),
        ("GetResource", Service::GetResource),
        ("ReleaseResource", Service::ReleaseResource),
        ("SetEvent", Service::SetEvent),
        ("ClearEvent", Service::ClearEvent),
        ("GetEvent", Service::GetEvent),
        ("WaitEvent", Service::WaitEvent),
        ("GetAlarmBase", Service::GetAlarmBase),
        ("GetAlarm", Service::GetAlarm),
        ("SetRelAlarm", Service::SetRelAlarm),
        ("SetAbsAlarm", Service::SetAbsAlarm),
        ("CancelAlarm", Service::CancelAlarm),
        ("GetActiveApplicationMode", Service::GetActiveApplicationMode),
        ("StartOS", Service::StartOs),
        ("ShutdownOS", Service::ShutdownOs),
        ("IncrementCounter", Service::IncrementCounter),
        ("StartScheduleTableRel", Service::StartScheduleTableRel),
        ("StartScheduleTableAbs", Service::StartScheduleTableAbs),
        ("StopScheduleTable", Service::StopScheduleTable),
        ("NextScheduleTable", Service::NextScheduleTable),
        ("GetScheduleTableStatus", Service::GetScheduleTableStatus),
        ("GetCounterValue", Service::GetCounterValue),
    ];
    let statuses = statuses.map(|(name, status)| {
        format!("_Static_assert(E_OS_{name} == {}, \"{name}\");\n", status as u8)
    });
    let services = services.map(|(name, service)| {
        format!("_Static_assert(OSServiceId_{name} == {}, \"{name}\");\n", service as u8)
    });
    statuses.concat() + &services.concat()
}

/// Compiles assertions, and returns what the compiler says.
fn compile(name: &str, assertions: &str) -> String {
    let source = scratch().join(name);
    let headers = "#include <stddef.h>\n#include \"os.h\"\n#include \"quietcore_services.h\"\n";
    fs::write(&source, format!("{headers}{assertions}")).unwrap();
    let output = Command::new("gcc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c", "-I"])
        .arg(root().join("include"))
        .arg("-I")
        .arg(root().join("tests/c/programs"))
        .arg("-I")
        .arg(root().join("../exchange/include"))
        .arg(&source)
        .output()
        .unwrap();
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_tables_are_laid_out_as_in_c() {
    if !has("gcc") {
        quietcore_skip::skip!("no C compiler; install Debian's `gcc` (Miri runs none)");
        return;
    }
    assert_eq!(compile("layout.c", &(structures() + &constants() + &numbers())), "");
    // The test can fail.
    let wrong = structures().replace("task, kind) == ", "task, kind) == 1");
    assert!(compile("wrong.c", &wrong).contains("quietcore_osek_task kind"));
}
