/* A module that is the least kernel there is: one task that never ends, on a stack of its own, which
 * is left when its time is up and goes on in the next step. It crashes at an odd instant. */
#define _GNU_SOURCE
#include <stdint.h>
#include <ucontext.h>

#include "quietcore_module.h"
#include "quietcore_services.h"

static const struct quietcore_services *services;
static ucontext_t driver, task;
static char stack[64 << 10];
static volatile uint64_t turns;
static volatile int crash;

static void work(void)
{
    for (;;) {
        turns++;
        if (crash) {
            *(volatile int *)64 = 1;
        }
    }
}

static void initialize(void)
{
    getcontext(&task);
    task.uc_stack.ss_sp = stack;
    task.uc_stack.ss_size = sizeof stack;
    makecontext(&task, work, 0);
    services->error(services->context, UINT32_MAX, 8, 21);
}

static void interrupt(void) { swapcontext(&task, &driver); }

static void step(uint32_t rate)
{
    (void)rate;
    const uint64_t before = turns;
    const uint64_t due = services->due(services->context);
    crash = due % 2 != 0;
    services->interrupt_at(services->context, services->until(services->context));
    swapcontext(&driver, &task);
    services->interrupt_at(services->context, 0);
    const struct quietcore_job job = {1, 1, due, due + 10, due + 30, turns - before > 0};
    services->job(services->context, &job);
}

static void terminate(void) {}
static const char *error_status(void) { return 0; }
static uint32_t overflowed(const void *address)
{
    return (uintptr_t)address == 64 ? 1 : UINT32_MAX;
}
static uint32_t under_way(void) { return turns > 0 ? 1 : UINT32_MAX; }
static const char *const tasks[] = {"fast", "slow"};

__attribute__((visibility("default"))) const struct quietcore_module quietcore_module = {
    QUIETCORE_MODULE_VERSION, 1, initialize, step, terminate, error_status, &services, interrupt,
    tasks, 2, overflowed, under_way,
};
