/* A kernel of three tasks, one of which takes several cycles; each may be told to go wrong. */
#include <stdint.h>
#include <string.h>
#ifndef QUIETCORE_GUEST
#include <pthread.h>
#include <stdlib.h>
#endif

#include "os.h"

typedef struct { uint32_t misbehave; uint32_t length; } P_osek_T;
typedef struct { uint32_t fast, waiter, errors, hooked, begun, ended; uint64_t rounds; double sum; } DW_osek_T;

P_osek_T osek_P = {0u, 8000000u};
DW_osek_T osek_DW;
static volatile int *volatile nowhere;

/* Takes more stack than there is. */
static uint32_t deeper(volatile uint32_t *above)
{
    volatile uint32_t room[512];
    room[0] = *above + 1u;
    return room[0] == 0u ? 0u : deeper(room) + room[0];
}

TASK(Fast)
{
    volatile uint32_t bottom = 0u;
    osek_DW.fast++;
    switch (osek_P.misbehave) {
    case 1u: /* Fast runs. */
        osek_DW.errors++;
        (void)ActivateTask(Fast);
        break;
    case 3u:
        osek_DW.errors = deeper(&bottom);
        break;
    case 4u:
        DisableAllInterrupts();
        for (;;) {
            osek_DW.rounds++;
        }
        break;
    case 5u:
        ShutdownOS(E_OS_STATE);
        break;
    default:
        break;
    }
    (void)TerminateTask();
}

TASK(Waiter)
{
    for (;;) {
        (void)WaitEvent(Fourth);
        (void)ClearEvent(Fourth);
        osek_DW.waiter++;
    }
}

TASK(Background)
{
    /* Between these two the data are in between, and no other task may see them. */
    (void)GetResource(Pair);
    osek_DW.begun++;
    for (uint32_t round = 0u; round < osek_P.length || osek_P.misbehave == 6u; round++) {
        osek_DW.rounds++;
        *(volatile double *)&osek_DW.sum += 0.5;
        switch (osek_P.misbehave) {
        case 2u:
            *nowhere = 1;
            break;
        case 7u:
            osek_DW.errors += (uint32_t)strlen((const char *)nowhere);
            break;
#ifndef QUIETCORE_GUEST
        case 8u:
            exit(3);
            break;
        case 9u:
            pthread_exit(NULL);
            break;
#endif
        default:
            break;
        }
    }
    osek_DW.ended++;
    (void)ReleaseResource(Pair);
    (void)TerminateTask();
}

void ErrorHook(StatusType Error)
{
    (void)Error;
    osek_DW.hooked++;
}
