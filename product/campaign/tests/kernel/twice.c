/* A task whose alarm comes while it still runs: each second activation is refused. */
#include <stdint.h>

#include "os.h"

uint32_t twice_rounds;

TASK(Slow)
{
    for (volatile uint32_t wait = 0u; wait < 40000000u; wait++) {
    }
    twice_rounds++;
    (void)TerminateTask();
}
