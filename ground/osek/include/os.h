/**
 * @file os.h
 * @brief The OSEK/VDX operating system 2.2.3 (ISO 17356-3) for programs in C and C++.
 *
 * @code
 * #include "os.h"
 *
 * TASK(Blink)
 * {
 *     ActivateTask(Report);
 *     TerminateTask();
 * }
 *
 * int main(void) { StartOS(OSDEFAULTAPPMODE); return 0; }
 * @endcode
 *
 * Objects are declared in OIL; os_cfg.h, which is generated from it, has their identifiers. A program
 * that is a module of a partition has no `main`.
 *
 * Times are in ticks of a counter; OSTICKDURATION is the tick of the system counter in ns.
 *
 * All services are called in the kernel's own thread, from tasks, ISRs and hooks, on the stacks that
 * the kernel gives them. To a thread that the program starts by itself, before StartOS() and after
 * ShutdownOS(), each answers #E_OS_CALLEVEL, also under standard status, or does nothing where it
 * answers nothing; no hook is called. What such a thread has to tell it tells with
 * quietcore_osek_raise(), which makes an ISR run. GetActiveApplicationMode() may be called by all.
 *
 * A task does not call `fork`: the child would have the tasks, and none of the timers and threads
 * that drive them. Another program is started before StartOS(), or with `posix_spawn`.
 *
 * Each service lists its errors. Those marked *extended* are found under `STATUS = EXTENDED` only; a
 * program that is correct never sees them. Every service also returns #E_OS_DISABLEDINT where the
 * caller holds interrupts back, and under extended status #E_OS_CALLEVEL where it may not be called:
 *
 * | services | from where |
 * |---|---|
 * | ActivateTask, GetResource, ReleaseResource, SetEvent | tasks, ISRs of category 2 |
 * | SetRelAlarm, SetAbsAlarm, CancelAlarm, IncrementCounter, GetCounterValue, schedule tables | tasks, ISRs of category 2 |
 * | TerminateTask, ChainTask, Schedule, ClearEvent, WaitEvent | tasks |
 * | GetTaskID, GetTaskState, GetEvent, GetAlarmBase, GetAlarm | tasks, ISRs of category 2, error hook, pre-task and post-task hook |
 * | DisableAllInterrupts, EnableAllInterrupts, SuspendOSInterrupts, ResumeOSInterrupts | tasks, all ISRs |
 * | SuspendAllInterrupts, ResumeAllInterrupts | tasks, all ISRs, all hooks, alarm callbacks |
 * | GetActiveApplicationMode | tasks, ISRs of category 2, all hooks |
 * | ShutdownOS | tasks, ISRs of category 2, startup and error hook |
 */
#ifndef OS_H
#define OS_H

#include <stdint.h>

#include "os_cfg.h"
#include "quietcore_osek.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name What services return (OSEK OS 2.2.3, 13.1) */
/** @{ */
#ifndef STATUSTYPEDEFINED
#define STATUSTYPEDEFINED
typedef uint8_t StatusType;
#endif
#ifndef E_OK
#define E_OK 0x00u
#endif
/** The object is not this caller's to use. */
#define E_OS_ACCESS 1u
/** The service can't be called from here. */
#define E_OS_CALLEVEL 2u
/** There is no such object. */
#define E_OS_ID 3u
/** Too many activations. */
#define E_OS_LIMIT 4u
/** The object is not in use. */
#define E_OS_NOFUNC 5u
/** A resource is still occupied. */
#define E_OS_RESOURCE 6u
/** The object is in a state in which this is not possible. */
#define E_OS_STATE 7u
/** A value is outside of its limits; an address to write to is null. */
#define E_OS_VALUE 8u
/** The conformance class has no such service. */
#define E_OS_SERVICEID 9u
/** Called while the caller held interrupts back. */
#define E_OS_DISABLEDINT 10u
/** A task returned without TerminateTask() or ChainTask(). */
#define E_OS_MISSINGEND 11u
/** A task's stack overflowed. */
#define E_OS_STACKFAULT 12u
/** A task used up its execution budget. */
#define E_OS_PROTECTION_TIME 13u
/** A task was activated before its inter-arrival time was over. */
#define E_OS_PROTECTION_ARRIVAL 14u
/** @} */

/** @name Tasks (OSEK OS 2.2.3, 13.2) */
/** @{ */
/** Number of a task. */
typedef uint8_t TaskType;
/** Where GetTaskID() writes. */
typedef TaskType *TaskRefType;
/** State of a task. */
typedef uint8_t TaskStateType;
/** Where GetTaskState() writes. */
typedef TaskStateType *TaskStateRefType;
/** The task has no job. */
#define SUSPENDED ((TaskStateType)0)
/** The task could run. */
#define READY ((TaskStateType)1)
/** The task runs. */
#define RUNNING ((TaskStateType)2)
/** The task waits for an event. */
#define WAITING ((TaskStateType)3)
/** What GetTaskID() writes where no task runs. */
#define INVALID_TASK ((TaskType)255)

#ifdef __cplusplus
#define QUIETCORE_OSEK_FUNCTION extern "C" void
#else
#define QUIETCORE_OSEK_FUNCTION void
#endif
/** Begins the definition of a task. */
#define TASK(name) QUIETCORE_OSEK_FUNCTION quietcore_osek_task_##name(void)
/** Declares a task; os_cfg.h has done so already. */
#define DeclareTask(name) QUIETCORE_OSEK_FUNCTION quietcore_osek_task_##name(void)

/**
 * @brief Asks for a job of a task, which is ready then.
 * @param TaskID the task.
 * @return #E_OK; #E_OS_LIMIT where it has as many activations as it may;
 * #E_OS_PROTECTION_ARRIVAL where it comes before its inter-arrival time is over.
 * *Extended:* #E_OS_ID.
 */
StatusType ActivateTask(TaskType TaskID);
/**
 * @brief Ends the calling task. A task ends with this or with ChainTask(). Returns only with an error.
 * @return *Extended:* #E_OS_RESOURCE where it still occupies one.
 */
StatusType TerminateTask(void);
/**
 * @brief Ends the calling task and activates one, which may be the same. Returns only with an error.
 * @param TaskID the task to be activated.
 * @return #E_OS_LIMIT, #E_OS_PROTECTION_ARRIVAL as ActivateTask(). *Extended:* #E_OS_ID,
 * #E_OS_RESOURCE.
 */
StatusType ChainTask(TaskType TaskID);
/**
 * @brief Lets a task of higher priority run, where the caller has an internal resource or is not
 * preemptable. Has no effect elsewhere.
 * @return #E_OK. *Extended:* #E_OS_RESOURCE where it occupies one.
 */
StatusType Schedule(void);
/**
 * @brief Tells which task runs; in an ISR, which one it interrupted.
 * @param[out] TaskID the task, or #INVALID_TASK.
 * @return #E_OK.
 */
StatusType GetTaskID(TaskRefType TaskID);
/**
 * @brief Tells the state of a task.
 * @param TaskID the task.
 * @param[out] State #SUSPENDED, #READY, #RUNNING or #WAITING; old as soon as it is told.
 * @return #E_OK. *Extended:* #E_OS_ID.
 */
StatusType GetTaskState(TaskType TaskID, TaskStateRefType State);
/** @} */

/** @name Interrupts (OSEK OS 2.2.3, 13.3) */
/** @{ */
/** Begins the definition of an ISR of either category. */
#define ISR(name) QUIETCORE_OSEK_FUNCTION quietcore_osek_isr_##name(void)

/** @brief Lets interrupts pass again, after DisableAllInterrupts(). */
void EnableAllInterrupts(void);
/**
 * @brief Holds back all interrupts, until EnableAllInterrupts(). Does not nest; no service may be
 * called in between.
 */
void DisableAllInterrupts(void);
/** @brief Ends what SuspendAllInterrupts() began. */
void ResumeAllInterrupts(void);
/** @brief Holds back all interrupts, until ResumeAllInterrupts(). Nests. */
void SuspendAllInterrupts(void);
/** @brief Ends what SuspendOSInterrupts() began. */
void ResumeOSInterrupts(void);
/** @brief Holds back interrupts of category 2, until ResumeOSInterrupts(). Nests. */
void SuspendOSInterrupts(void);
/** @} */

/** @name Resources (OSEK OS 2.2.3, 13.4) */
/** @{ */
/** Number of a resource. */
typedef uint8_t ResourceType;
/** Declares a resource; os_cfg.h has done so already. */
#define DeclareResource(name) struct quietcore_osek_resource_##name

/**
 * @brief Occupies a resource. The caller runs at its ceiling until ReleaseResource().
 * @param ResID the resource; RES_SCHEDULER holds back all other tasks.
 * @return #E_OK. *Extended:* #E_OS_ID; #E_OS_ACCESS where it is occupied, or its ceiling is below the
 * caller's priority.
 */
StatusType GetResource(ResourceType ResID);
/**
 * @brief Gives back the resource that was occupied last.
 * @param ResID the resource.
 * @return #E_OK. *Extended:* #E_OS_ID; #E_OS_NOFUNC where it is not the last one that the caller
 * occupied; #E_OS_ACCESS where its ceiling is below the caller's priority.
 */
StatusType ReleaseResource(ResourceType ResID);
/** @} */

#if (defined(QUIETCORE_OSEK_CLASS_ECC1) && QUIETCORE_OSEK_CLASS_ECC1) ||                             \
    (defined(QUIETCORE_OSEK_CLASS_ECC2) && QUIETCORE_OSEK_CLASS_ECC2)
/** @name Events (OSEK OS 2.2.3, 13.5); in the classes ECC1 and ECC2 */
/** @{ */
/** A set of events. */
typedef uint64_t EventMaskType;
/** Where GetEvent() writes. */
typedef EventMaskType *EventMaskRefType;
/** Declares an event; os_cfg.h has done so already. */
#define DeclareEvent(name) struct quietcore_osek_event_##name

/**
 * @brief Sets events of an extended task, which is ready then if it waits for one of them.
 * @param TaskID the task.
 * @param Mask the events.
 * @return #E_OK. *Extended:* #E_OS_ID; #E_OS_ACCESS for a basic task; #E_OS_STATE for a suspended one.
 */
StatusType SetEvent(TaskType TaskID, EventMaskType Mask);
/**
 * @brief Clears events of the calling extended task.
 * @param Mask the events.
 * @return #E_OK. *Extended:* #E_OS_ACCESS for a basic task.
 */
StatusType ClearEvent(EventMaskType Mask);
/**
 * @brief Tells which events of an extended task are set.
 * @param TaskID the task.
 * @param[out] Event the events.
 * @return #E_OK. *Extended:* #E_OS_ID; #E_OS_ACCESS for a basic task; #E_OS_STATE for a suspended one.
 */
StatusType GetEvent(TaskType TaskID, EventMaskRefType Event);
/**
 * @brief Waits until one of these events of the calling extended task is set. They stay set.
 * @param Mask the events.
 * @return #E_OK. *Extended:* #E_OS_ACCESS for a basic task; #E_OS_RESOURCE where it occupies one.
 */
StatusType WaitEvent(EventMaskType Mask);
/** @} */
#endif

/** @name Alarms and counters (OSEK OS 2.2.3, 13.6) */
/** @{ */
/** Number of an alarm. */
typedef uint8_t AlarmType;
/** Ticks of a counter. */
typedef uint32_t TickType;
/** Where GetAlarm() writes. */
typedef TickType *TickRefType;
/** What is known of an alarm's counter. */
typedef struct {
    TickType maxallowedvalue; /**< Its largest value, in ticks. */
    TickType ticksperbase;    /**< Ticks of its source for one of its own. */
    TickType mincycle;        /**< Shortest cycle of an alarm, in ticks. */
} AlarmBaseType;
/** Where GetAlarmBase() writes. */
typedef AlarmBaseType *AlarmBaseRefType;
/** Declares an alarm; os_cfg.h has done so already. */
#define DeclareAlarm(name) struct quietcore_osek_alarm_##name
/** Begins the definition of an alarm's callback. */
#define ALARMCALLBACK(name) QUIETCORE_OSEK_FUNCTION quietcore_osek_callback_##name(void)

/**
 * @brief Tells what is known of an alarm's counter.
 * @param AlarmID the alarm.
 * @param[out] Info the counter's constants.
 * @return #E_OK. *Extended:* #E_OS_ID.
 */
StatusType GetAlarmBase(AlarmType AlarmID, AlarmBaseRefType Info);
/**
 * @brief Tells how many ticks are left until an alarm expires.
 * @param AlarmID the alarm.
 * @param[out] Tick the ticks.
 * @return #E_OK; #E_OS_NOFUNC where it is not set. *Extended:* #E_OS_ID.
 */
StatusType GetAlarm(AlarmType AlarmID, TickRefType Tick);
/**
 * @brief Sets an alarm to expire some ticks from now.
 * @param AlarmID the alarm.
 * @param increment the ticks; at least 1.
 * @param cycle the ticks between all further times; 0 for once.
 * @return #E_OK; #E_OS_STATE where it is set already. *Extended:* #E_OS_ID; #E_OS_VALUE.
 */
StatusType SetRelAlarm(AlarmType AlarmID, TickType increment, TickType cycle);
/**
 * @brief Sets an alarm to expire when its counter has a value next.
 * @param AlarmID the alarm.
 * @param start the value, in ticks.
 * @param cycle the ticks between all further times; 0 for once.
 * @return #E_OK; #E_OS_STATE where it is set already. *Extended:* #E_OS_ID; #E_OS_VALUE.
 */
StatusType SetAbsAlarm(AlarmType AlarmID, TickType start, TickType cycle);
/**
 * @brief Cancels an alarm.
 * @param AlarmID the alarm.
 * @return #E_OK; #E_OS_NOFUNC where it is not set. *Extended:* #E_OS_ID.
 */
StatusType CancelAlarm(AlarmType AlarmID);
/** @} */

/** @name Beyond OSEK: counters and schedule tables, after AUTOSAR OS */
/** @{ */
/** Number of a counter. */
typedef uint8_t CounterType;
/** Number of a schedule table. */
typedef uint8_t ScheduleTableType;
/** State of a schedule table. */
typedef uint8_t ScheduleTableStatusType;
/** Where GetScheduleTableStatus() writes. */
typedef ScheduleTableStatusType *ScheduleTableStatusRefType;
/** It is not started. */
#define SCHEDULETABLE_STOPPED ((ScheduleTableStatusType)0)
/** It starts when another one is over. */
#define SCHEDULETABLE_NEXT ((ScheduleTableStatusType)1)
/** It is started. */
#define SCHEDULETABLE_RUNNING ((ScheduleTableStatusType)2)

/**
 * @brief Advances a software counter by one tick. What expires with it happens before this returns.
 * @param CounterID the counter.
 * @return #E_OK. *Extended:* #E_OS_ID, also for a hardware counter.
 */
StatusType IncrementCounter(CounterType CounterID);
/**
 * @brief Tells the value of a counter.
 * @param CounterID the counter.
 * @param[out] Value the ticks.
 * @return #E_OK. *Extended:* #E_OS_ID.
 */
StatusType GetCounterValue(CounterType CounterID, TickRefType Value);
/**
 * @brief Starts a schedule table some ticks from now.
 * @param ScheduleTableID the table.
 * @param Offset the ticks until its offset 0; at least 1.
 * @return #E_OK; #E_OS_STATE where it is started. *Extended:* #E_OS_ID; #E_OS_VALUE.
 */
StatusType StartScheduleTableRel(ScheduleTableType ScheduleTableID, TickType Offset);
/**
 * @brief Starts a schedule table when its counter has a value next.
 * @param ScheduleTableID the table.
 * @param Start the value, in ticks.
 * @return #E_OK; #E_OS_STATE where it is started. *Extended:* #E_OS_ID; #E_OS_VALUE.
 */
StatusType StartScheduleTableAbs(ScheduleTableType ScheduleTableID, TickType Start);
/**
 * @brief Stops a schedule table at once.
 * @param ScheduleTableID the table.
 * @return #E_OK; #E_OS_NOFUNC where it is not started. *Extended:* #E_OS_ID.
 */
StatusType StopScheduleTable(ScheduleTableType ScheduleTableID);
/**
 * @brief Starts a schedule table when the present run of another one is over, which ends with it.
 * @param ScheduleTableID_From the one that runs.
 * @param ScheduleTableID_To the one that follows; of the same counter.
 * @return #E_OK; #E_OS_NOFUNC where the first is not started; #E_OS_STATE where the second is.
 * *Extended:* #E_OS_ID.
 */
StatusType NextScheduleTable(ScheduleTableType ScheduleTableID_From,
                             ScheduleTableType ScheduleTableID_To);
/**
 * @brief Tells the state of a schedule table.
 * @param ScheduleTableID the table.
 * @param[out] ScheduleStatus #SCHEDULETABLE_STOPPED, #SCHEDULETABLE_NEXT or #SCHEDULETABLE_RUNNING.
 * @return #E_OK. *Extended:* #E_OS_ID.
 */
StatusType GetScheduleTableStatus(ScheduleTableType ScheduleTableID,
                                  ScheduleTableStatusRefType ScheduleStatus);
/** @} */

/** @name Execution control (OSEK OS 2.2.3, 13.7) */
/** @{ */
/** Number of an application mode. */
typedef uint8_t AppModeType;

/**
 * @brief Tells the application mode that the system was started in.
 * @return the mode.
 */
AppModeType GetActiveApplicationMode(void);
/**
 * @brief Starts the system. Called outside of it, once at a time. Unlike the standard's it returns:
 * after ShutdownOS(), or where the tables were refused, which a message on standard error explains.
 * @param Mode the application mode.
 */
static inline void StartOS(AppModeType Mode)
{
    (void)quietcore_osek_start(&quietcore_osek_configuration, Mode);
}
/**
 * @brief Ends the system: ShutdownHook() is called, and no task goes on. Does not return.
 * @param Error what is told to the hook.
 */
void ShutdownOS(StatusType Error);
/** @} */

/** @name Hooks (OSEK OS 2.2.3, 13.8); defined by the program, where OIL switches them on */
/** @{ */
/** @brief A service found an error, or the kernel did. @param Error what it was. */
void ErrorHook(StatusType Error);
/** @brief A task is about to run; GetTaskID() tells which. */
void PreTaskHook(void);
/** @brief A task has run; GetTaskID() still tells which. */
void PostTaskHook(void);
/** @brief The system is about to start; no task has run. */
void StartupHook(void);
/** @brief The system ends. @param Error what ShutdownOS() got. */
void ShutdownHook(StatusType Error);
/** @} */

#if defined(QUIETCORE_OSEK_USE_GET_SERVICE_ID) && QUIETCORE_OSEK_USE_GET_SERVICE_ID
/** @name In the error hook: which service it was (OSEK OS 2.2.3, 11.2); USEGETSERVICEID */
/** @{ */
/** Number of a service. */
typedef uint8_t OSServiceIdType;
/** The service in which the error was found; 0 where the kernel found it by itself. */
#define OSErrorGetServiceId() ((OSServiceIdType)quietcore_osek_error_service())
#define OSServiceId_ActivateTask ((OSServiceIdType)1)
#define OSServiceId_TerminateTask ((OSServiceIdType)2)
#define OSServiceId_ChainTask ((OSServiceIdType)3)
#define OSServiceId_Schedule ((OSServiceIdType)4)
#define OSServiceId_GetTaskID ((OSServiceIdType)5)
#define OSServiceId_GetTaskState ((OSServiceIdType)6)
#define OSServiceId_EnableAllInterrupts ((OSServiceIdType)7)
#define OSServiceId_DisableAllInterrupts ((OSServiceIdType)8)
#define OSServiceId_ResumeAllInterrupts ((OSServiceIdType)9)
#define OSServiceId_SuspendAllInterrupts ((OSServiceIdType)10)
#define OSServiceId_ResumeOSInterrupts ((OSServiceIdType)11)
#define OSServiceId_SuspendOSInterrupts ((OSServiceIdType)12)
#define OSServiceId_GetResource ((OSServiceIdType)13)
#define OSServiceId_ReleaseResource ((OSServiceIdType)14)
#define OSServiceId_SetEvent ((OSServiceIdType)15)
#define OSServiceId_ClearEvent ((OSServiceIdType)16)
#define OSServiceId_GetEvent ((OSServiceIdType)17)
#define OSServiceId_WaitEvent ((OSServiceIdType)18)
#define OSServiceId_GetAlarmBase ((OSServiceIdType)19)
#define OSServiceId_GetAlarm ((OSServiceIdType)20)
#define OSServiceId_SetRelAlarm ((OSServiceIdType)21)
#define OSServiceId_SetAbsAlarm ((OSServiceIdType)22)
#define OSServiceId_CancelAlarm ((OSServiceIdType)23)
#define OSServiceId_GetActiveApplicationMode ((OSServiceIdType)24)
#define OSServiceId_StartOS ((OSServiceIdType)25)
#define OSServiceId_ShutdownOS ((OSServiceIdType)26)
#define OSServiceId_IncrementCounter ((OSServiceIdType)27)
#define OSServiceId_StartScheduleTableRel ((OSServiceIdType)28)
#define OSServiceId_StartScheduleTableAbs ((OSServiceIdType)29)
#define OSServiceId_StopScheduleTable ((OSServiceIdType)30)
#define OSServiceId_NextScheduleTable ((OSServiceIdType)31)
#define OSServiceId_GetScheduleTableStatus ((OSServiceIdType)32)
#define OSServiceId_GetCounterValue ((OSServiceIdType)33)
/** @} */
#endif

/** For the macros above: number of the service in which the last error was found. */
uint8_t quietcore_osek_error_service(void);
/** For the macros below: a parameter of that call by its position, counted from 0. */
uint64_t quietcore_osek_error_parameter(uint32_t position);
/** For the macros below: where that call wrote its result. */
void *quietcore_osek_error_result(void);

#if defined(QUIETCORE_OSEK_USE_PARAMETER_ACCESS) && QUIETCORE_OSEK_USE_PARAMETER_ACCESS
/** @name In the error hook: with which parameters (OSEK OS 2.2.3, 11.2); USEPARAMETERACCESS */
/** @{ */
#define QUIETCORE_OSEK_PARAMETER(type, position) ((type)quietcore_osek_error_parameter(position))
#define OSError_ActivateTask_TaskID() QUIETCORE_OSEK_PARAMETER(TaskType, 0u)
#define OSError_ChainTask_TaskID() QUIETCORE_OSEK_PARAMETER(TaskType, 0u)
#define OSError_GetTaskID_TaskID() ((TaskRefType)quietcore_osek_error_result())
#define OSError_GetTaskState_TaskID() QUIETCORE_OSEK_PARAMETER(TaskType, 0u)
#define OSError_GetTaskState_State() ((TaskStateRefType)quietcore_osek_error_result())
#define OSError_GetResource_ResID() QUIETCORE_OSEK_PARAMETER(ResourceType, 0u)
#define OSError_ReleaseResource_ResID() QUIETCORE_OSEK_PARAMETER(ResourceType, 0u)
#define OSError_SetEvent_TaskID() QUIETCORE_OSEK_PARAMETER(TaskType, 0u)
#define OSError_SetEvent_Mask() QUIETCORE_OSEK_PARAMETER(EventMaskType, 1u)
#define OSError_ClearEvent_Mask() QUIETCORE_OSEK_PARAMETER(EventMaskType, 0u)
#define OSError_GetEvent_TaskID() QUIETCORE_OSEK_PARAMETER(TaskType, 0u)
#define OSError_GetEvent_Event() ((EventMaskRefType)quietcore_osek_error_result())
#define OSError_WaitEvent_Mask() QUIETCORE_OSEK_PARAMETER(EventMaskType, 0u)
#define OSError_GetAlarmBase_AlarmID() QUIETCORE_OSEK_PARAMETER(AlarmType, 0u)
#define OSError_GetAlarmBase_Info() ((AlarmBaseRefType)quietcore_osek_error_result())
#define OSError_GetAlarm_AlarmID() QUIETCORE_OSEK_PARAMETER(AlarmType, 0u)
#define OSError_GetAlarm_Tick() ((TickRefType)quietcore_osek_error_result())
#define OSError_SetRelAlarm_AlarmID() QUIETCORE_OSEK_PARAMETER(AlarmType, 0u)
#define OSError_SetRelAlarm_increment() QUIETCORE_OSEK_PARAMETER(TickType, 1u)
#define OSError_SetRelAlarm_cycle() QUIETCORE_OSEK_PARAMETER(TickType, 2u)
#define OSError_SetAbsAlarm_AlarmID() QUIETCORE_OSEK_PARAMETER(AlarmType, 0u)
#define OSError_SetAbsAlarm_start() QUIETCORE_OSEK_PARAMETER(TickType, 1u)
#define OSError_SetAbsAlarm_cycle() QUIETCORE_OSEK_PARAMETER(TickType, 2u)
#define OSError_CancelAlarm_AlarmID() QUIETCORE_OSEK_PARAMETER(AlarmType, 0u)
#define OSError_IncrementCounter_CounterID() QUIETCORE_OSEK_PARAMETER(CounterType, 0u)
#define OSError_GetCounterValue_CounterID() QUIETCORE_OSEK_PARAMETER(CounterType, 0u)
#define OSError_GetCounterValue_Value() ((TickRefType)quietcore_osek_error_result())
#define OSError_StartScheduleTableRel_ScheduleTableID() QUIETCORE_OSEK_PARAMETER(ScheduleTableType, 0u)
#define OSError_StartScheduleTableRel_Offset() QUIETCORE_OSEK_PARAMETER(TickType, 1u)
#define OSError_StartScheduleTableAbs_ScheduleTableID() QUIETCORE_OSEK_PARAMETER(ScheduleTableType, 0u)
#define OSError_StartScheduleTableAbs_Start() QUIETCORE_OSEK_PARAMETER(TickType, 1u)
#define OSError_StopScheduleTable_ScheduleTableID() QUIETCORE_OSEK_PARAMETER(ScheduleTableType, 0u)
#define OSError_NextScheduleTable_ScheduleTableID_From() QUIETCORE_OSEK_PARAMETER(ScheduleTableType, 0u)
#define OSError_NextScheduleTable_ScheduleTableID_To() QUIETCORE_OSEK_PARAMETER(ScheduleTableType, 1u)
#define OSError_GetScheduleTableStatus_ScheduleTableID() QUIETCORE_OSEK_PARAMETER(ScheduleTableType, 0u)
#define OSError_GetScheduleTableStatus_ScheduleStatus()                                              \
    ((ScheduleTableStatusRefType)quietcore_osek_error_result())
/** @} */
#endif

#ifdef __cplusplus
}
#endif

#endif /* OS_H */
