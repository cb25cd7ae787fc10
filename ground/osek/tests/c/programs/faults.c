/* Faults: which of them are overflows of a task's stack. The first argument says what happens. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"

enum { LINE_BYTES = 2048 };

static const char *what;
static uintptr_t lowest_of_middle;

/* The lowest address of the stack that this runs on. */
static uintptr_t lowest_address(void)
{
    char line[LINE_BYTES];
    uintptr_t found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, LINE_BYTES, maps) != NULL) {
        char *end;
        const uintptr_t low = strtoul(line, &end, 16);
        const uintptr_t high = strtoul(end + 1, NULL, 16);
        if (low <= (uintptr_t)line && (uintptr_t)line < high) {
            found = low;
        }
    }
    fclose(maps);
    return found;
}

static void *touch(void *place)
{
    *(volatile char *)place = 1;
    return NULL;
}

/* Goes down until so many bytes are left, and does something there. */
static __attribute__((noinline)) int go_down(uintptr_t lowest, uintptr_t left, void (*then)(void))
{
    volatile char frame[64];
    frame[0] = 1;
    if ((uintptr_t)frame - lowest > left) {
        return go_down(lowest, left, then) + frame[0];
    }
    then();
    return frame[0];
}

static void spin(void)
{
    for (;;) { /* The next tick's signal finds no room. */
    }
}

/* A frame that is wider than a page, of which only the far end is touched. */
static __attribute__((noinline)) void jump(void)
{
    volatile char frame[40 * 1024];
    frame[0] = 1;
    (void)frame[0];
}

TASK(Middle)
{
    lowest_of_middle = lowest_address();
    TerminateTask();
}

TASK(Low)
{
    ActivateTask(Middle);
    const uintptr_t lowest = lowest_address();
    puts(what);
    fflush(stdout);
    if (strcmp(what, "no room for a signal") == 0) {
        printf("%d\n", go_down(lowest, 512, spin));
    } else if (strcmp(what, "a wide frame") == 0) {
        printf("%d\n", go_down(lowest, 8192, jump));
    } else if (strcmp(what, "another task's guard") == 0) {
        touch((char *)lowest_of_middle - 8);
    } else if (strcmp(what, "another thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, touch, (char *)lowest - 8);
        pthread_join(thread, NULL);
    } else if (strcmp(what, "sent") == 0) {
        raise(SIGSEGV);
    }
    puts("nothing happened");
    ShutdownOS(E_OK);
}

int main(int count, char **arguments)
{
    what = count > 1 ? arguments[1] : "";
    const StatusType status = quietcore_osek_start(&quietcore_osek_configuration, 0);
    printf("ended with %d\n", status);
    return 0;
}
