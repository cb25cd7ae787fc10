#define _POSIX_C_SOURCE 199309L
#include "rates.h"

#include <time.h>

DW_rates_T rates_DW;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void rates_initialize(void)
{
}

void rates_step0(void)
{
    rates_DW.fast++;
    if (rates_DW.spin_ms == 0) {
        return;
    }
    int64_t until = now_ns() + rates_DW.spin_ms * INT64_C(1000000);
    while (now_ns() < until) {
    }
    rates_DW.spin_ms = 0;
}

void rates_step1(void)
{
    rates_DW.by_event++;
}

void rates_step2(void)
{
    rates_DW.by_state++;
}
