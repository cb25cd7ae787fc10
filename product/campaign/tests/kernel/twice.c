/* A task whose alarm comes while it still runs: each second activation is refused. */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <time.h>

#include "os.h"

uint32_t twice_rounds;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

TASK(Slow)
{
    /* More than one of the alarm's 5 ms, and less than two. */
    int64_t until = now_ns() + INT64_C(8000000);
    while (now_ns() < until) {
    }
    twice_rounds++;
    (void)TerminateTask();
}
