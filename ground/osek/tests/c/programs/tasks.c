/* Preemption, chaining, resources and Schedule: the order in which tasks run. */
#include <stdio.h>

#include "os.h"

DeclareTask(Low);
DeclareResource(Lock);

static int rounds;

TASK(Deep)
{
    TaskType running = INVALID_TASK;
    TaskStateType state = SUSPENDED;
    GetTaskID(&running);
    GetTaskState(Low, &state);
    printf("Deep %d low is %s\n", running, state == READY ? "ready" : "?");
    TerminateTask();
}

TASK(Middle)
{
    puts("Middle");
    ActivateTask(Deep);
    puts("Middle again");
    TerminateTask();
}

TASK(Low)
{
    printf("Low in mode %d\n", GetActiveApplicationMode());
    ActivateTask(Middle);
    puts("with Lock");
    GetResource(Lock);
    ActivateTask(Middle);
    puts("Middle waits for the ceiling");
    ActivateTask(Deep);
    ReleaseResource(Lock);
    puts("with the scheduler");
    GetResource(RES_SCHEDULER);
    ActivateTask(Deep);
    puts("nobody preempts");
    ReleaseResource(RES_SCHEDULER);
    if (++rounds < 2) {
        ChainTask(Low);
    }
    ShutdownOS(E_OK);
    puts("never");
}

void ShutdownHook(StatusType status) { printf("ShutdownHook %d\n", status); }

void StartupHook(void) { puts("StartupHook"); }

int main(void)
{
    StartOS(Plain);
    puts("back in main");
    return 0;
}
