#include "counter.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define rtmSetErrorStatus(rtm, val) ((rtm)->errorStatus = (val))

P_counter_T counter_P = {0};
DW_counter_T counter_DW;
static RT_MODEL_counter_T counter_M_;
RT_MODEL_counter_T *const counter_M = &counter_M_;

static int32_t *volatile nowhere = (int32_t *)0x40;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void misbehave(void)
{
    int64_t end = now_ms() + 30;
    switch (counter_P.misbehave) {
    case 1:
        *nowhere = 1;
        break;
    case 2:
        while (now_ms() < end) {
        }
        break;
    case 3:
        rtmSetErrorStatus(counter_M, "told to fail");
        break;
    case 4: /* It is cut off in there, most likely with a lock held. */
        for (;;) {
            static void *volatile kept[64];
            for (unsigned index = 0; index < 64; index++) {
                free(kept[index]);
                kept[index] = malloc(2000 + index * 600);
            }
        }
    case 5:
        puts("step 40");
        break;
    case 6:
        munlockall();
        break;
    case 7:
        raise(SIGSTOP);
        break;
    default:
        break;
    }
}

void counter_initialize(void)
{
    counter_DW.total = 0;
    if (counter_P.misbehave == 8) {
        *nowhere = 1;
    }
}

void counter_step(void)
{
    counter_DW.total++;
    if (counter_DW.total == 40) {
        misbehave();
    }
}

void counter_terminate(void)
{
}
