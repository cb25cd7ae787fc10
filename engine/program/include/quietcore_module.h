/**
 * @file quietcore_module.h
 * @brief The face of a built program: all that its loader sees of it.
 *
 * A module is a shared object that exports one symbol, `quietcore_module`. The functions behind it are
 * generated for each model; they look alike whatever the generator of the model named and packed.
 *
 * Steps of different rates may be called from different threads at the same time; every other
 * function from one thread at a time. None of them blocks, allocates or keeps time; a program that is
 * a kernel with tasks of its own may reserve their stacks in initialize.
 */
#ifndef QUIETCORE_MODULE_H
#define QUIETCORE_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this file; a loader refuses a module of another one. */
#define QUIETCORE_MODULE_VERSION 3u

/** What the loader does for the program; see quietcore_services.h. */
struct quietcore_services;

/** The face of a program. */
struct quietcore_module {
    /** QUIETCORE_MODULE_VERSION. */
    uint32_t version;
    /** Number of rates, at least 1; rate 0 is the fastest. */
    uint32_t rate_count;
    /** Called once, before the first step. Never null. */
    void (*initialize)(void);
    /** One step of one rate, below rate_count; any other number does nothing. Never null. */
    void (*step)(uint32_t rate);
    /** Called once, after the last step. Never null; empty where the model has none. */
    void (*terminate)(void);
    /** The model's own error status; null where there is no error. Never null itself. */
    const char *(*error_status)(void);
    /** The loader stores the address of its table here before it calls initialize. Never null. */
    const struct quietcore_services **services;
    /** Called by a signal handler in the thread that is inside of step(0), at the instant that the
     *  program asked for with the service `interrupt_at`. It may go on in another context, so that
     *  the step returns, and come back in a later step. Null where it is not needed. */
    void (*interrupt)(void);
    /** Names of the tasks whose jobs the program tells with the service `job`; null where none. */
    const char *const *tasks;
    /** How many they are. */
    uint32_t task_count;
    /** The task whose stack ends at `address`, which a fault accessed; UINT32_MAX where none's does.
     *  Called after a fault has ended initialize or step(0). Null where it is not needed. */
    uint32_t (*overflowed)(const void *address);
    /** The task that a step has left in the middle of a job; UINT32_MAX where there is none. Called
     *  between two steps, or after a fault has ended one. Null where each step ends what it began. */
    uint32_t (*under_way)(void);
    /** The first address of what lies below its stack number `index`, whole pages that nothing
     *  touches, and their bytes; null after the last one. Called after initialize by loaders that
     *  can make it no memory. Null where it is not needed. */
    const void *(*guard)(uint32_t index, size_t *bytes);
};

/** The one symbol that a module exports. */
extern const struct quietcore_module quietcore_module;

#ifdef __cplusplus
}
#endif

#endif
