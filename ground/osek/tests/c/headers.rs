//! The headers compile in C and C++ without a warning, whatever is switched on.

use std::fs;
use std::process::Command;

use crate::library::{WARNINGS, has, root, scratch};

/// Uses every service and macro that is switched on.
const PROGRAM: &str = r#"
#include "os.h"
#include "os.h"
DeclareTask(A);
DeclareResource(R);
DeclareResource(R);
DeclareAlarm(L);
TASK(A) { (void)TerminateTask(); }
ISR(I) {}
ALARMCALLBACK(C) {}
void use(void);
void use(void)
{
    TaskType task = INVALID_TASK;
    TaskStateType state = SUSPENDED;
    AlarmBaseType base = {OSMAXALLOWEDVALUE, OSTICKSPERBASE, OSMINCYCLE};
    TickType ticks = 0u;
    ScheduleTableStatusType status = SCHEDULETABLE_STOPPED;
    StatusType result = E_OK;
    result |= ActivateTask(A), result |= ChainTask(A), result |= Schedule();
    result |= GetTaskID(&task), result |= GetTaskState(task, &state);
    EnableAllInterrupts(), DisableAllInterrupts(), ResumeAllInterrupts();
    SuspendAllInterrupts(), ResumeOSInterrupts(), SuspendOSInterrupts();
    result |= GetResource(R), result |= ReleaseResource(R);
    result |= GetAlarmBase(L, &base), result |= GetAlarm(L, &ticks);
    result |= SetRelAlarm(L, 1u, 0u), result |= SetAbsAlarm(L, 1u, 0u), result |= CancelAlarm(L);
    result |= IncrementCounter(0), result |= GetCounterValue(0, &ticks);
    result |= StartScheduleTableRel(0, 1u), result |= StartScheduleTableAbs(0, 1u);
    result |= StopScheduleTable(0), result |= NextScheduleTable(0, 1);
    result |= GetScheduleTableStatus(0, &status);
#if QUIETCORE_OSEK_CLASS_ECC1
    EventMaskType events = 0u;
    DeclareEvent(E);
    result |= SetEvent(A, 1u), result |= ClearEvent(1u), result |= GetEvent(A, &events);
    result |= WaitEvent(events);
#endif
#if QUIETCORE_OSEK_USE_GET_SERVICE_ID
    const OSServiceIdType service = OSErrorGetServiceId();
    (void)service;
#endif
#if QUIETCORE_OSEK_USE_PARAMETER_ACCESS
    (void)OSError_ActivateTask_TaskID(), (void)OSError_ChainTask_TaskID();
    (void)OSError_GetTaskID_TaskID(), (void)OSError_GetTaskState_TaskID();
    (void)OSError_GetTaskState_State(), (void)OSError_GetResource_ResID();
    (void)OSError_ReleaseResource_ResID(), (void)OSError_SetEvent_TaskID();
    (void)OSError_SetEvent_Mask(), (void)OSError_ClearEvent_Mask();
    (void)OSError_GetEvent_TaskID(), (void)OSError_GetEvent_Event();
    (void)OSError_WaitEvent_Mask(), (void)OSError_GetAlarmBase_AlarmID();
    (void)OSError_GetAlarmBase_Info(), (void)OSError_GetAlarm_AlarmID();
    (void)OSError_GetAlarm_Tick(), (void)OSError_SetRelAlarm_AlarmID();
    (void)OSError_SetRelAlarm_increment(), (void)OSError_SetRelAlarm_cycle();
    (void)OSError_SetAbsAlarm_AlarmID(), (void)OSError_SetAbsAlarm_start();
    (void)OSError_SetAbsAlarm_cycle(), (void)OSError_CancelAlarm_AlarmID();
    (void)OSError_IncrementCounter_CounterID(), (void)OSError_GetCounterValue_CounterID();
    (void)OSError_GetCounterValue_Value(), (void)OSError_StartScheduleTableRel_ScheduleTableID();
    (void)OSError_StartScheduleTableRel_Offset();
    (void)OSError_StartScheduleTableAbs_ScheduleTableID();
    (void)OSError_StartScheduleTableAbs_Start(), (void)OSError_StopScheduleTable_ScheduleTableID();
    (void)OSError_NextScheduleTable_ScheduleTableID_From();
    (void)OSError_NextScheduleTable_ScheduleTableID_To();
    (void)OSError_GetScheduleTableStatus_ScheduleTableID();
    (void)OSError_GetScheduleTableStatus_ScheduleStatus();
#endif
    (void)GetActiveApplicationMode();
    if (result != E_OK) {
        ShutdownOS(result);
    }
    StartOS(OSDEFAULTAPPMODE);
}
"#;

/// Compiles a program and returns what the compiler says.
fn compile(compiler: &[&str], program: &str, is_on: bool) -> String {
    let language = if compiler[0] == "gcc" { "c" } else { "c++" };
    let folder = scratch().join(format!("headers-{language}-{is_on}-{}", program.len()));
    fs::create_dir_all(&folder).unwrap();
    let on = u8::from(is_on);
    let header = format!(
        "#define QUIETCORE_OSEK_CLASS_ECC1 {on}\n\
         #define QUIETCORE_OSEK_USE_GET_SERVICE_ID {on}\n\
         #define QUIETCORE_OSEK_USE_PARAMETER_ACCESS {on}\n\
         #define OSMAXALLOWEDVALUE 9u\n#define OSTICKSPERBASE 1u\n#define OSMINCYCLE 1u\n\
         enum {{ OSDEFAULTAPPMODE = 0, A = 0, R = 0, L = 0, E = 1 }};\n"
    );
    fs::write(folder.join("os_cfg.h"), header).unwrap();
    let source = folder.join("program");
    fs::write(&source, program).unwrap();
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).args(WARNINGS).arg("-I").arg(&folder);
    command.arg("-I").arg(root().join("include")).args(["-fsyntax-only", "-x", language]);
    let output = command.arg(&source).output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn they_compile_without_a_warning_in_c99_and_cpp17() {
    for compiler in [["gcc", "-std=c99"], ["g++", "-std=c++17"]] {
        if !has(compiler[0]) {
            quietcore_skip::skip!("no compiler `{}`; install it (Miri runs none)", compiler[0]);
            return;
        }
        for is_on in [false, true] {
            assert_eq!(
                compile(&compiler, PROGRAM, is_on),
                "",
                "{compiler:?}, switched on: {is_on}"
            );
        }
    }
}

#[test]
fn a_class_without_events_declares_none() {
    if !has("gcc") {
        quietcore_skip::skip!("no C compiler; install Debian's `gcc` (Miri runs none)");
        return;
    }
    let use_event =
        "#include \"os.h\"\nvoid use(void);\nvoid use(void) { (void)SetEvent(0, 1u); }\n";
    let said = compile(&["gcc", "-std=c99"], use_event, false);
    assert!(said.contains("SetEvent"), "{said}");
    assert_eq!(compile(&["gcc", "-std=c99"], use_event, true), "");
}
