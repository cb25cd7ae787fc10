/* Overruns on command: spins for so many milliseconds, once. */
#define _POSIX_C_SOURCE 199309L
#include "late.h"

#include <time.h>

P_late_T late_P;
DW_late_T late_DW;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void late_initialize(void)
{
    late_DW.total = 0;
}

void late_step(void)
{
    int64_t until = now_ns() + late_P.spin_ms * INT64_C(1000000);
    while (late_P.spin_ms != 0 && now_ns() < until) {
    }
    late_P.spin_ms = 0;
    late_DW.total++;
}
