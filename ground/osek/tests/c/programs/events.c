/* An extended task waits, is woken by a task, by an alarm and by an ISR, and sees its events. */
#include <stdio.h>

#include "os.h"

DeclareEvent(Ping);

TASK(High)
{
    EventMaskType events = 0u;
    puts("High waits");
    WaitEvent(Ping | Pong);
    GetEvent(High, &events);
    printf("woken by %d\n", (int)events);
    ClearEvent(Pong);
    SetRelAlarm(PingHigh, 2u, 0u);
    WaitEvent(Ping);
    GetEvent(High, &events);
    printf("woken by %d\n", (int)events);
    ClearEvent(Ping);
    WaitEvent(Pong);
    puts("woken by the button");
    ShutdownOS(E_OK);
}

ISR(Button) { SetEvent(High, Pong); }

TASK(Low)
{
    TaskStateType state = RUNNING;
    ActivateTask(High);
    GetTaskState(High, &state);
    puts(state == WAITING ? "High is waiting" : "?");
    SetEvent(High, Pong);
    GetTaskState(High, &state);
    while (state == WAITING) { /* The alarm comes meanwhile: High preempts, and waits again. */
        EventMaskType none = Pong;
        TickType left = 0u;
        GetEvent(High, &none);
        if (GetAlarm(PingHigh, &left) == E_OS_NOFUNC) {
            break;
        }
        GetTaskState(High, &state);
    }
    quietcore_osek_trigger(BUTTON);
    puts("never");
}

int main(void)
{
    StartOS(OSDEFAULTAPPMODE);
    return 0;
}
