/**
 * @file quietcore_services.h
 * @brief What a built program gets from whoever loaded it, version 5.
 *
 * The loader stores a table of these functions before it initialises the program. Programs call
 * them through Com.h; those from `due` on are for a program that is a kernel with tasks of its own.
 * New members are added at the end, and `version` is raised.
 *
 * All functions up to `now` may be called from any task of the partition, between its release and
 * its completion: none waits, allocates or calls the operating system. Those from `due` on belong
 * to the step of rate 0; elsewhere they do nothing, and what they tell is 0. Of them `interrupt_at`
 * alone calls the operating system, beside the two that wait, in any task. The last two may be called
 * anywhere.
 */
#ifndef QUIETCORE_SERVICES_H
#define QUIETCORE_SERVICES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this table. */
#define QUIETCORE_SERVICES_VERSION 5u

/** What a receiver knows about a signal or group beside its value. */
struct quietcore_signal_state {
    uint64_t age_ns;     /**< Time since it was sent, or since the start where it never was, in ns. */
    uint64_t count;      /**< How often it was sent. */
    uint8_t updated;     /**< Update bit: 1 when there is a value that was not received yet. */
    uint8_t overdue;     /**< 1 when it has been out for longer than its timeout allows. */
    uint8_t reserved[6]; /**< Zero. */
};

/** A job of a task that ended, or a stretch of one after which the task began to wait. */
struct quietcore_job {
    uint32_t task;         /**< The task: its place in the module's list of names. */
    uint32_t waits;        /**< 1 when the task waits now, 0 when it ended. */
    uint64_t released_ns;  /**< When it was released, on the monotonic clock, in ns. */
    uint64_t started_ns;   /**< When it ran first, likewise. */
    uint64_t finished_ns;  /**< When it ended, likewise. */
    uint64_t execution_ns; /**< How long it ran, without those that preempted it, in ns. */
};

/** The functions, and what they need. `context` is the first argument of each. */
struct quietcore_services {
    uint32_t version;    /**< QUIETCORE_SERVICES_VERSION of the loader. */
    uint32_t bytes;      /**< Bytes of this structure at the loader. */
    const void *context; /**< To be handed back; the program does not look into it. */
    uint8_t (*send_signal)(const void *context, uint16_t signal, const void *value);
    uint8_t (*receive_signal)(const void *context, uint16_t signal, void *value);
    uint8_t (*send_group)(const void *context, uint16_t group);
    uint8_t (*receive_group)(const void *context, uint16_t group);
    uint8_t (*send_message)(const void *context, uint16_t signal, const void *message,
                            uint16_t bytes);
    uint8_t (*receive_message)(const void *context, uint16_t signal, void *buffer,
                               uint16_t *bytes);
    uint8_t (*signal_state)(const void *context, uint16_t signal,
                            struct quietcore_signal_state *state);
    uint8_t (*group_state)(const void *context, uint16_t group,
                           struct quietcore_signal_state *state);
    uint64_t (*now)(const void *context); /**< Instant of this cycle, monotonic clock, in ns. */
    /** Instant at which this cycle was due, monotonic clock, in ns. */
    uint64_t (*due)(const void *context);
    /** Instant at which this step has to be back, monotonic clock, in ns. */
    uint64_t (*until)(const void *context);
    /** Has `interrupt` of the module called at an instant, once, if the step still runs then. The
     *  last call counts; 0 is never. */
    void (*interrupt_at)(const void *context, uint64_t instant);
    /** Tells of a job. */
    void (*job)(const void *context, const struct quietcore_job *job);
    /** Tells of an error: the task that it is about or UINT32_MAX, the status and the service as
     *  quietcore_osek.h numbers them. */
    void (*error)(const void *context, uint32_t task, uint8_t status, uint8_t service);
    /** The instant on the monotonic clock, in ns. For programs without an operating system: in a
     *  process, whose programs ask that, it tells 0. From version 3 on. */
    uint64_t (*clock)(const void *context);
    /** These two wait, up to a limit in ns, where the program may: see Com.h. From version 4 on. */
    uint8_t (*wait_signal)(const void *context, uint16_t signal, void *value, uint64_t limit_ns);
    uint8_t (*wait_group)(const void *context, uint16_t group, uint64_t limit_ns);
    /** How often a received signal or queue was sent so far; 0 for all else. It changes with each
     *  sending, and asking clears nothing. From version 5 on. */
    uint64_t (*signal_count)(const void *context, uint16_t signal);
    /** The same for a received group. From version 5 on. */
    uint64_t (*group_count)(const void *context, uint16_t group);
};

#ifdef __cplusplus
}
#endif

#endif /* QUIETCORE_SERVICES_H */
