/* A program for a guest that does what its variables say; without arithmetic of floating point, so
 * that it also runs where a guest's instructions are interpreted. */
#include <stdint.h>

#include "quietcore_module.h"

/* The build whose `initialize` does not return, and the one in which it crashes. */
#define NEVER_INITIALIZED 99
#define CRASHES_AT_ONCE 98

/* What a step is asked to do. */
enum wish { COUNT = 0, CRASH = 1, LOOP = 2, FLY = 3, OVERFLOW = 4, WRITE_CODE = 5, RUN_DATA = 6,
            RUN_OVER = 7, WANDER = 8 };

struct variables {
    volatile uint32_t count;
    volatile uint32_t wish;
    volatile uint32_t initialized;
    volatile uint32_t build;
    volatile uint32_t slow_count;
    volatile uint32_t slow_wish;
    volatile uint32_t terminated;
    volatile uint32_t reserved;
};

struct variables variables __attribute__((section(".data.first"))) = {.build = BUILD};
const struct quietcore_services *services;

static void initialize(void)
{
    variables.initialized++;
    while (BUILD == NEVER_INITIALIZED) {
    }
    if (BUILD == CRASHES_AT_ONCE) {
        *(volatile uint32_t *)(uintptr_t)0x30 = 1;
    }
}

static uint32_t deeper(uint32_t depth)
{
    volatile uint32_t here[256] = {depth};
    return depth == UINT32_MAX ? 0 : deeper(depth + 1) + here[0];
}

static void do_as(uint32_t wish)
{
    switch (wish) {
    case CRASH:
        *(volatile uint32_t *)(uintptr_t)0x30 = 1;
        break;
    case LOOP:
        for (;;) {
        }
    case FLY:
        ((void (*)(void))(uintptr_t)0x38)();
        break;
    case OVERFLOW:
        (void)deeper(0);
        break;
    case WRITE_CODE:
        *(volatile uint8_t *)(uintptr_t)CODE_START = 0;
        break;
    case RUN_DATA:
        ((void (*)(void))(uintptr_t)&variables)();
        break;
    case RUN_OVER:
        for (volatile uint8_t *over = (volatile uint8_t *)(&variables + 1);; over++) {
            *over = 1;
        }
    case WANDER:
        (void)*(volatile uint32_t *)(uintptr_t)0x41000000;
        break;
    default:
        break;
    }
}

static void step(uint32_t rate)
{
    if (rate == 0) {
        variables.count++;
        do_as(variables.wish);
    } else {
        variables.slow_count++;
        do_as(variables.slow_wish);
    }
}

static void terminate(void)
{
    variables.terminated++;
}

static const char *error_status(void)
{
    return 0;
}

const struct quietcore_module quietcore_module = {
    .version = 3,
    .rate_count = 2,
    .initialize = initialize,
    .step = step,
    .terminate = terminate,
    .error_status = error_status,
    .services = &services,
};
