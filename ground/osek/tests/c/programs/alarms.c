/* Alarms in real time: a cyclic one, a callback, a software counter, a schedule table; and no tick is
 * lost while interrupts are held back. */
#include <stdio.h>
#include <time.h>

#include "os.h"

static volatile int middles;
static volatile int calls;
/* Activations that came with the one before, because the machine was late with both ticks. */
static volatile int together;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void spin(uint64_t ns)
{
    const uint64_t end = now_ns() + ns;
    while (now_ns() < end) {
    }
}

TASK(Middle)
{
    middles++;
    TerminateTask();
}

void ErrorHook(StatusType status) { together += status == E_OS_LIMIT; }

ALARMCALLBACK(Called) { calls++; }

TASK(Low)
{
    AlarmBaseType base = {0u, 0u, 0u};
    TickType before = 0u;
    TickType after = 0u;
    ScheduleTableStatusType status = SCHEDULETABLE_STOPPED;
    GetAlarmBase(ActivateMiddle, &base);
    printf("base %u %u %u\n", base.maxallowedvalue, base.ticksperbase, base.mincycle);

    const uint64_t start = now_ns();
    SetRelAlarm(ActivateMiddle, 5u, 5u);
    SetRelAlarm(Call, 1u, 1u);
    while (middles < 4) {
    }
    const uint64_t took = now_ns() - start;
    /* The first tick of the alarm is the next one, which is nearer than a whole period. */
    printf("four times five ticks: %s\n", took > 19000000u ? "ok" : "too early");
    CancelAlarm(ActivateMiddle);
    CancelAlarm(Call);
    printf("calls: %s\n", calls >= 19 ? "ok" : "lost");

    GetCounterValue(Clock, &before);
    SuspendOSInterrupts();
    spin(20000000u);
    ResumeOSInterrupts();
    GetCounterValue(Clock, &after);
    printf("ticks while held back: %s\n", after - before >= 20u ? "ok" : "lost");

    middles = 0;
    together = 0;
    SetRelAlarm(OnTurns, 1u, 0u);
    StartScheduleTableRel(Table, 1u);
    do {
        GetScheduleTableStatus(Table, &status);
    } while (status == SCHEDULETABLE_RUNNING);
    printf("by table and by counter: %d\n", middles + together);
    ShutdownOS(E_OK);
}

int main(void)
{
    StartOS(OSDEFAULTAPPMODE);
    return 0;
}
