/* The error hook and its macros, one service after the other. */
#include <stdio.h>

#include "os.h"

void ErrorHook(StatusType status)
{
    const OSServiceIdType service = OSErrorGetServiceId();
    printf("%d in %d:", status, service);
    switch (service) {
    case OSServiceId_ActivateTask: printf(" task %d", OSError_ActivateTask_TaskID()); break;
    case OSServiceId_ChainTask: printf(" task %d", OSError_ChainTask_TaskID()); break;
    case OSServiceId_GetResource: printf(" resource %d", OSError_GetResource_ResID()); break;
    case OSServiceId_ReleaseResource: printf(" resource %d", OSError_ReleaseResource_ResID()); break;
    case OSServiceId_SetEvent:
        printf(" task %d events %d", OSError_SetEvent_TaskID(), (int)OSError_SetEvent_Mask());
        break;
    case OSServiceId_SetRelAlarm:
        printf(" alarm %d increment %u cycle %u", OSError_SetRelAlarm_AlarmID(),
               OSError_SetRelAlarm_increment(), OSError_SetRelAlarm_cycle());
        break;
    case OSServiceId_GetTaskState:
        *OSError_GetTaskState_State() = WAITING; /* The hook knows where it would have gone. */
        printf(" task %d", OSError_GetTaskState_TaskID());
        break;
    default: break;
    }
    puts("");
}

TASK(Low)
{
    TaskStateType state = RUNNING;
    printf("%d\n", ActivateTask(99));
    printf("%d\n", ActivateTask(Low));
    printf("%d\n", ReleaseResource(Lock));
    printf("%d\n", GetResource(200));
    printf("%d\n", SetEvent(Middle, Ping));
    printf("%d\n", WaitEvent(Ping));
    printf("%d\n", SetRelAlarm(Call, 0u, 77777u));
    printf("%d", GetTaskState(77, &state));
    printf(" %d\n", state);
    printf("%d\n", GetTaskState(Low, NULL));
    GetResource(Lock);
    printf("%d\n", TerminateTask());
    printf("%d\n", ChainTask(Middle));
    ReleaseResource(Lock);
    DisableAllInterrupts();
    StatusType disabled = ActivateTask(Middle);
    EnableAllInterrupts();
    printf("%d\n", disabled);
    ShutdownOS(E_OS_STATE);
}

void ShutdownHook(StatusType status) { printf("ShutdownHook %d\n", status); }

int main(void)
{
    StartOS(Plain);
    return 0;
}
