#define _POSIX_C_SOURCE 199309L
#include "slow.h"

#include <time.h>

DW_slow_T slow_DW;

void slow_initialize(void)
{
    struct timespec pause = {0, 300000000};
    nanosleep(&pause, 0);
}

void slow_step(void)
{
    slow_DW.total++;
}
