/* A program whose tasks both keep numbers of floating point in registers: the slow one for long
 * enough to be preempted by the fast one many times. */
#include <stdint.h>

#include "quietcore_module.h"

/* Some milliseconds, also where the processor is emulated. */
#define TERMS 100000

struct variables {
    volatile uint32_t count;
    volatile uint32_t wish;
    volatile uint32_t initialized;
    volatile uint32_t build;
    volatile uint32_t slow_count;
    volatile uint32_t wrong;
    volatile uint32_t preemptions;
    volatile uint32_t is_slow_inside;
};

struct variables variables __attribute__((section(".data.first"))) = {.build = BUILD};
static const struct quietcore_services *services;
static uint64_t expected;

static uint64_t bits_of(double sum, double product)
{
    union {
        double number;
        uint64_t bits;
    } first = {sum}, second = {product};
    return first.bits ^ (second.bits << 1);
}

static uint64_t series(uint32_t terms)
{
    double sum = 0.0;
    double product = 1.0;
    for (uint32_t term = 1; term <= terms; term++) {
        sum += 1.0 / term;
        product *= 1.0 + sum * 1e-9;
    }
    return bits_of(sum, product);
}

static void initialize(void)
{
    variables.initialized++;
    expected = series(TERMS);
}

static void step(uint32_t rate)
{
    if (rate == 0) {
        variables.count++;
        variables.wrong += series(50) == expected;
        variables.preemptions += variables.is_slow_inside;
    } else {
        variables.is_slow_inside = 1;
        variables.wrong += series(TERMS) != expected;
        variables.is_slow_inside = 0;
        variables.slow_count++;
    }
}

static void terminate(void) {}

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
