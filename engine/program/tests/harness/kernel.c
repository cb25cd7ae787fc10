/*
 * Drives the image of a program that is an OSEK kernel, as a guest does, in real time:
 *
 *   kernel IMAGE CYCLES PERIOD_US
 *
 * A step gets four fifths of its cycle; then a timer's signal interrupts it on whatever stack it is.
 * Printed are the errors that the kernel tells; at the end for each task its jobs and the most cycles
 * that one of them took, how often a step was interrupted, the steps that came back after their
 * cycle, and the error status.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "place.h"
#include "quietcore_services.h"

#define TASKS_MAX 256u
#define ERRORS_MAX 16u

static const struct quietcore_module *module;
static uint64_t due_ns;
static uint64_t period_ns;
/* By how much the kernel's clock is behind the machine's: a machine that is busy costs no cycle. */
static uint64_t lost_ns;
static timer_t timer;
static volatile uint32_t interrupts;
static uint64_t jobs[TASKS_MAX];
static uint64_t cycles_max[TASKS_MAX];
static uint32_t error_count;
static uint32_t errors[ERRORS_MAX][3];

static uint64_t clock_ns(const void *context)
{
    struct timespec time;

    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec - lost_ns;
}

static struct timespec at(uint64_t instant)
{
    return (struct timespec){(time_t)(instant / 1000000000u), (long)(instant % 1000000000u)};
}

static uint64_t due(const void *context)
{
    (void)context;
    return due_ns;
}

static uint64_t until(const void *context)
{
    (void)context;
    return due_ns + period_ns / 5 * 4;
}

static void interrupt_at(const void *context, uint64_t instant)
{
    struct itimerspec setting = {.it_value = at(instant ? instant + lost_ns : 0)};

    (void)context;
    timer_settime(timer, TIMER_ABSTIME, &setting, NULL);
}

static void note_job(const void *context, const struct quietcore_job *job)
{
    uint64_t cycles = (job->finished_ns - job->released_ns) / period_ns;

    (void)context;
    if (job->task < TASKS_MAX) {
        jobs[job->task]++;
        if (cycles > cycles_max[job->task]) {
            cycles_max[job->task] = cycles;
        }
    }
}

static void note_error(const void *context, uint32_t task, uint8_t status, uint8_t service)
{
    (void)context;
    if (error_count < ERRORS_MAX) {
        errors[error_count][0] = task;
        errors[error_count][1] = status;
        errors[error_count][2] = service;
    }
    error_count++;
}

static const struct quietcore_services services = {
    .version = QUIETCORE_SERVICES_VERSION,
    .bytes = sizeof services,
    .now = due,
    .due = due,
    .until = until,
    .interrupt_at = interrupt_at,
    .job = note_job,
    .error = note_error,
    .clock = clock_ns,
};

/* Runs on the stack of what it interrupts, which may be a task's, and may come back in a later step. */
static void on_timer(int number)
{
    (void)number;
    interrupts++;
    module->interrupt();
}

int main(int count, char **arguments)
{
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_NODEFER};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    uint64_t cycles, late = 0;

    if (count != 4) {
        return 2;
    }
    module = load(arguments[1]);
    cycles = strtoull(arguments[2], NULL, 10);
    period_ns = strtoull(arguments[3], NULL, 10) * 1000;
    sigemptyset(&action.sa_mask);
    sigaction(SIGRTMIN, &action, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    *module->services = &services;
    due_ns = clock_ns(NULL);
    enter();
    module->initialize();
    leave();
    while (cycles-- && !module->error_status()) {
        struct timespec next;

        due_ns += period_ns;
        next = at(due_ns + lost_ns);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR) {
        }
        lost_ns += clock_ns(NULL) - due_ns;
        enter();
        module->step(0);
        leave();
        late += clock_ns(NULL) > due_ns + period_ns;
    }
    for (uint32_t index = 0; index < error_count && index < ERRORS_MAX; index++) {
        printf("error task %" PRId32 " status %u service %u\n", (int32_t)errors[index][0],
               errors[index][1], errors[index][2]);
    }
    for (uint32_t task = 0; task < module->task_count; task++) {
        printf("%s %" PRIu64 " jobs, %" PRIu64 " cycles\n", module->tasks[task], jobs[task],
               cycles_max[task]);
    }
    printf("interrupted %u\nlate %" PRIu64 "\n", interrupts, late);
    const char *status = module->error_status();
    printf("%s\n", status ? status : "none");
    module->terminate();
    return 0;
}
