/* What the peers of the kernel have in common: the clock, the place they run at, what they print.
 *
 * Each peer hands over from a lower context to a higher one and back, so many times, and prints one
 * line a time: an empty measurement, the way there, and the way back, in counts of the clock.
 */
#ifndef READING_H
#define READING_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* The same reading as that of the kernel's program: between two fences. */
static inline uint64_t reading(void)
{
#if defined(__x86_64__) && !defined(READ_MONOTONIC)
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

/* The readings of one time: before and after each way. */
static volatile uint64_t there_began, there_ended, back_began, back_ended;

/* Times that are run and forgotten. */
enum { WARM_UP = 100 };

static uint64_t times;
static uint32_t (*values)[3];
static int priority_asked;

static void fail(const char *what, int error)
{
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(1);
}

/* Takes the arguments `CPU PRIORITY TIMES`, and pins the process; its threads inherit that. */
static void prepare(char **arguments)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(arguments[0]), &cpus);
    priority_asked = atoi(arguments[1]);
    times = strtoull(arguments[2], NULL, 10);
    values = calloc(times, sizeof *values);
    if (values == NULL || sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
        perror("prepare");
        exit(1);
    }
    /* What is refused here is refused to the kernel's program, too. */
    (void)mlockall(MCL_CURRENT | MCL_FUTURE);
}

/* Gives the calling thread a real-time priority so far above the lowest that was asked for. */
static void prioritise(int above)
{
    struct sched_param parameter = { .sched_priority = priority_asked + above };
    int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter);
    if (error != 0) {
        fail("SCHED_FIFO", error);
    }
}

/* Takes down what one time yielded, and an empty measurement of the same shape; `time` counts from
 * the first of the warm-up. */
static void take_down(uint64_t time)
{
    uint64_t there = there_ended - there_began, back = back_ended - back_began;
    there_began = reading();
    there_ended = reading();
    if (time >= WARM_UP) {
        uint32_t *value = values[time - WARM_UP];
        value[0] = (uint32_t)(there_ended - there_began);
        value[1] = (uint32_t)there;
        value[2] = (uint32_t)back;
    }
}

static void print(void)
{
    for (uint64_t time = 0; time < times; time++) {
        printf("%u %u %u\n", values[time][0], values[time][1], values[time][2]);
    }
    fflush(stdout);
}

#endif
