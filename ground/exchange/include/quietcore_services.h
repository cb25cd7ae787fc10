/**
 * @file quietcore_services.h
 * @brief What a built program gets from whoever loaded it, version 1.
 *
 * The loader stores a table of these functions before it initialises the program. Programs call
 * them through Com.h. New members are added at the end, and `version` is raised.
 *
 * All functions may be called from any task of the partition, between its release and its
 * completion: none waits, allocates or calls the operating system.
 */
#ifndef QUIETCORE_SERVICES_H
#define QUIETCORE_SERVICES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this table. */
#define QUIETCORE_SERVICES_VERSION 1u

/** What a receiver knows about a signal or group beside its value. */
struct quietcore_signal_state {
    uint64_t age_ns;     /**< Time since it was sent, or since the start where it never was, in ns. */
    uint64_t count;      /**< How often it was sent. */
    uint8_t updated;     /**< Update bit: 1 when there is a value that was not received yet. */
    uint8_t overdue;     /**< 1 when it has been out for longer than its timeout allows. */
    uint8_t reserved[6]; /**< Zero. */
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
};

#ifdef __cplusplus
}
#endif

#endif /* QUIETCORE_SERVICES_H */
