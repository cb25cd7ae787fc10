/* Threads of the program's own call every service, again and again, while the tasks run, before the
 * start and after the end. They are told so, and nothing comes of it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "os.h"

enum { STRANGERS = 3, ROUNDS = 300, RAISES = 50 };

static atomic_int wrong;
static atomic_int calls;
static atomic_int stop;
static atomic_int hooks;
static atomic_int buttons;
static int middles;
static int highs;

static void expect(StatusType status)
{
    if (status != E_OS_CALLEVEL) {
        atomic_fetch_add(&wrong, 1);
    }
}

static void call_all(void)
{
    TaskType task = 77;
    TaskStateType state = 77;
    EventMaskType events = 77;
    AlarmBaseType base;
    TickType ticks = 77;
    ScheduleTableStatusType table = 77;
    expect(ActivateTask(Middle));
    expect(TerminateTask());
    expect(ChainTask(Middle));
    expect(Schedule());
    expect(GetTaskID(&task));
    expect(GetTaskState(Low, &state));
    DisableAllInterrupts();
    EnableAllInterrupts();
    SuspendAllInterrupts();
    ResumeAllInterrupts();
    SuspendOSInterrupts();
    ResumeOSInterrupts();
    expect(GetResource(Lock));
    expect(ReleaseResource(Lock));
    expect(SetEvent(High, Ping));
    expect(ClearEvent(Ping));
    expect(GetEvent(High, &events));
    expect(WaitEvent(Ping));
    expect(GetAlarmBase(Call, &base));
    expect(GetAlarm(Call, &ticks));
    expect(SetRelAlarm(Call, 1u, 1u));
    expect(SetAbsAlarm(Call, 1u, 1u));
    expect(CancelAlarm(Call));
    expect(IncrementCounter(Turns));
    expect(GetCounterValue(Turns, &ticks));
    expect(StartScheduleTableRel(Table, 1u));
    expect(StartScheduleTableAbs(Table, 1u));
    expect(StopScheduleTable(Table));
    expect(NextScheduleTable(Table, Table));
    expect(GetScheduleTableStatus(Table, &table));
    (void)GetActiveApplicationMode();
    ShutdownOS(1);
    if (task != 77 || state != 77 || events != 77 || ticks != 77 || table != 77) {
        atomic_fetch_add(&wrong, 1);
    }
    atomic_fetch_add(&calls, 1);
}

static void *call_often(void *unused)
{
    while (!atomic_load(&stop)) {
        call_all();
    }
    return unused;
}

static void *trigger_often(void *unused)
{
    for (int index = 0; index < RAISES; index++) {
        const int before = atomic_load(&buttons);
        quietcore_osek_trigger(BUTTON); /* From here it is quietcore_osek_raise(). */
        while (atomic_load(&buttons) == before) {
            sched_yield();
        }
    }
    return unused;
}

void ErrorHook(StatusType status)
{
    atomic_fetch_add(&hooks, 1);
    (void)status;
}

ISR(Button) { atomic_fetch_add(&buttons, 1); }

TASK(Middle)
{
    middles++;
    TerminateTask();
}

TASK(High)
{
    for (;;) {
        WaitEvent(Ping);
        ClearEvent(Ping);
        highs++;
    }
}

ISR(Urgent) { ShutdownOS(3); }

TASK(Low)
{
    if (atomic_load(&stop)) {
        quietcore_osek_raise(URGENT); /* The ISR ends the kernel; this does not come back. */
        atomic_fetch_add(&wrong, 1);
    }
    pthread_t threads[STRANGERS + 1];
    SuspendOSInterrupts(); /* What makes threads must not be preempted in the library. */
    for (int index = 0; index < STRANGERS; index++) {
        pthread_create(&threads[index], NULL, call_often, NULL);
    }
    pthread_create(&threads[STRANGERS], NULL, trigger_often, NULL);
    ResumeOSInterrupts();
    ActivateTask(High);
    for (int round = 0; round < ROUNDS || atomic_load(&calls) < ROUNDS
                        || atomic_load(&buttons) < RAISES;
         round++) {
        TaskType task = INVALID_TASK;
        GetResource(Lock);
        ReleaseResource(Lock);
        const int before = middles + highs;
        if (ActivateTask(Middle) != E_OK || SetEvent(High, Ping) != E_OK
            || middles + highs != before + 2 || GetTaskID(&task) != E_OK || task != Low) {
            atomic_fetch_add(&wrong, 1);
        }
    }
    atomic_store(&stop, 1);
    SuspendOSInterrupts();
    for (int index = 0; index <= STRANGERS; index++) {
        pthread_join(threads[index], NULL);
    }
    ResumeOSInterrupts();
    printf("wrong %d, error hooks %d, buttons %d\n", atomic_load(&wrong), atomic_load(&hooks),
           atomic_load(&buttons));
    fflush(stdout);
    ShutdownOS(E_OK);
}

int main(void)
{
    call_all();
    StartOS(OSDEFAULTAPPMODE);
    call_all();
    for (int round = 0; round < 100; round++) {
        if (quietcore_osek_start(&quietcore_osek_configuration, 0) != 3) {
            atomic_fetch_add(&wrong, 1);
        }
    }
    printf("before, while and after: wrong %d\n", atomic_load(&wrong));
    return 0;
}
