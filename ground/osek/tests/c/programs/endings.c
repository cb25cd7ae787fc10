/* What the kernel finds by itself: a missing end, a budget used up, a stack that overflows. Each is
 * named on standard error; nothing is left behind after the end, so that it can start again. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os.h"

static int starts;

TASK(Middle) { puts("Middle returns without an end"); }

static __attribute__((noinline)) int descend(volatile int depth)
{
    volatile char frame[512];
    memset((char *)frame, depth, sizeof frame);
    return depth == 0 ? 0 : descend(depth - 1) + frame[1];
}

TASK(Deep)
{
    if (starts == 2) {
        printf("Deep %d\n", descend(1000000));
    }
    TerminateTask();
}

TASK(Low)
{
    ActivateTask(Middle);
    ActivateTask(Deep);
    printf("Low goes on\n");
    fflush(stdout);
    if (starts == 1) {
        SetRelAlarm(Call, 20u, 0u);
        for (;;) { /* Ended by its budget; then the kernel is idle. */
        }
    }
    ShutdownOS(E_OK);
}

ALARMCALLBACK(Called) { quietcore_osek_trigger(BUTTON); }

ISR(Button) { ShutdownOS(1); }

void ErrorHook(StatusType status)
{
    TaskType task = INVALID_TASK;
    GetTaskID(&task);
    printf("ErrorHook %d in %d task %d\n", status, OSErrorGetServiceId(), task);
}

void ShutdownHook(StatusType status)
{
    printf("ShutdownHook %d\n", status);
    fflush(stdout);
}

static int open_maps(void)
{
    int lines = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    for (int byte = maps == NULL ? EOF : fgetc(maps); byte != EOF; byte = fgetc(maps)) {
        lines += byte == '\n';
    }
    fclose(maps);
    return lines;
}

static int has_timers(void)
{
    FILE *timers = fopen("/proc/self/timers", "r");
    const int byte = timers == NULL ? EOF : fgetc(timers);
    if (timers != NULL) {
        fclose(timers);
    }
    return byte != EOF;
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    puts("begin");
    int maps = open_maps();
    for (starts = 1; starts <= 3; starts++) {
        StartOS(OSDEFAULTAPPMODE);
        int left = open_maps() != maps || has_timers();
        for (int number = 1; number <= SIGRTMAX; number++) {
            struct sigaction action;
            memset(&action, 0, sizeof action);
            if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL) {
                printf("signal %d has a handler\n", number);
                left = 1;
            }
        }
        printf("start %d: %s\n", starts, left ? "something is left" : "nothing is left");
        maps = open_maps();
    }
    return 0;
}
