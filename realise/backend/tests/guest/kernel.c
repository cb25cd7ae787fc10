/* The least kernel there is, for a guest: one task that never ends, on a stack of its own, which is
 * left when its time is up and goes on in the next step. */
#include <stdint.h>

#include "quietcore_module.h"
#include "quietcore_services.h"

struct variables {
    volatile uint32_t turns;
    volatile uint32_t wish;
    volatile uint32_t initialized;
    volatile uint32_t build;
    volatile uint32_t steps;
};

struct variables variables __attribute__((section(".data.first"))) = {.build = BUILD};

static const struct quietcore_services *services;
static void *driver;
static void *task;
/* Whether the task runs, and may be left. */
static volatile int inside;
static char stack[32 << 10] __attribute__((aligned(16)));

/* Leaves a context, noting it in `from`, and goes on in another. */
void change(void **from, void *to);
__asm__(".text\n"
        "change:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\n"
        "ret\n");

static void work(void)
{
    for (;;) {
        inside = 1;
        variables.turns++;
        if (variables.wish == 1) {
            *(volatile int *)64 = 1;
        } else if (variables.wish == 2) {
            __asm__ volatile("xor %esp, %esp\npush $1");
        }
    }
}

static void initialize(void)
{
    uint64_t *top = (uint64_t *)(stack + sizeof stack);
    *--top = 0;
    *--top = (uint64_t)(uintptr_t)work;
    for (int saved = 0; saved < 6; saved++) {
        *--top = 0;
    }
    task = top;
    variables.initialized++;
    services->error(services->context, UINT32_MAX, 8, 21);
}

static void interrupt(void)
{
    if (!inside) {
        /* The step has not got there yet, or the task has just been left. */
        services->interrupt_at(services->context, services->clock(services->context) + 1000000);
        return;
    }
    inside = 0;
    change(&task, driver);
}

static void step(uint32_t rate)
{
    (void)rate;
    const uint32_t before = variables.turns;
    const uint64_t due = services->due(services->context);
    services->interrupt_at(services->context, services->until(services->context));
    change(&driver, task);
    services->interrupt_at(services->context, 0);
    const uint64_t now = services->clock(services->context);
    const struct quietcore_job job = {1, 1, due, due, now, variables.turns != before};
    services->job(services->context, &job);
    variables.steps++;
}

static void terminate(void) {}

static const char *error_status(void)
{
    return 0;
}

static uint32_t overflowed(const void *address)
{
    return (uintptr_t)address == 64 ? 1 : UINT32_MAX;
}

static uint32_t under_way(void)
{
    return variables.turns > 0 ? 1 : UINT32_MAX;
}

static const char *const tasks[] = {"fast", "slow"};

const struct quietcore_module quietcore_module = {
    QUIETCORE_MODULE_VERSION, 1, initialize, step, terminate, error_status, &services, interrupt,
    tasks, 2, overflowed, under_way,
};
