/**
 * @file quietcore_channel.h
 * @brief The channels of a running site, for ordinary programs of the host in C or C++.
 *
 * Link with `-lquietcore_channel`. Values of every channel may be read, at no cost for the
 * partitions at its ends. To send, and to take messages of a queue, a program has to be the end
 * that the site file calls `host`; one program at a time is, until it closes the channel or ends,
 * however it ends.
 *
 * All values of a channel that are no queues are sent and received as one. Values are given and
 * taken as variables of the signal's type: 1, 2, 4 or 8 bytes, `bool` as one byte of 0 or 1.
 *
 * No function waits but quietcore_channel_open(), which asks the site, and
 * quietcore_channel_wait_ns(). An open channel is used by one thread at a time.
 */
#ifndef QUIETCORE_CHANNEL_H
#define QUIETCORE_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Use of a channel: its values are read. */
#define QUIETCORE_CHANNEL_READ 0
/** Use of a channel: this program is the end that the site file calls `host`. */
#define QUIETCORE_CHANNEL_END 1

/** Done. */
#define QUIETCORE_CHANNEL_OK 0x00u
/** There is no such signal, or not in this direction, or an argument is wrong. */
#define QUIETCORE_CHANNEL_NOT_OK 0x01u
/** The sender overtook the reading at every try; the values are the last ones received. */
#define QUIETCORE_CHANNEL_BUSY 0x81u
/** The values have been out longer than their timeout; they are the last or the initial ones. */
#define QUIETCORE_CHANNEL_TIMEOUT 0x90u
/** There is no message. */
#define QUIETCORE_CHANNEL_QUEUE_EMPTY 0x91u
/** There is no room for the message, which is lost; the loss is counted. */
#define QUIETCORE_CHANNEL_QUEUE_FULL 0x92u
/** Nothing new came within the limit of a wait. */
#define QUIETCORE_CHANNEL_NOTHING_NEW 0x94u

/** An open channel. */
typedef struct quietcore_channel quietcore_channel;

/** What is known about received values beside themselves. */
typedef struct quietcore_channel_state {
    uint64_t age_ns;     /**< Time since they were sent, or since the opening where none were. */
    uint64_t count;      /**< Number of their sending; 0 for the initial values. */
    uint8_t updated;     /**< 1 when they were not received before. */
    uint8_t overdue;     /**< 1 when they have been out for longer than their timeout. */
    uint8_t reserved[6]; /**< Zero. */
} quietcore_channel_state;

/**
 * @brief Opens a channel of a running site by name.
 * @param site name of the site; null where one site runs.
 * @param channel name of the channel.
 * @param use #QUIETCORE_CHANNEL_READ or #QUIETCORE_CHANNEL_END.
 * @param[out] why the reason of a refusal, for people; may be null.
 * @param why_bytes bytes of `why`.
 * @return the channel, to be closed; null when it was refused.
 */
quietcore_channel *quietcore_channel_open(const char *site, const char *channel, int use,
                                          char *why, size_t why_bytes);

/**
 * @brief Closes a channel and frees its end.
 * @param channel an open channel, or null. It must not be used any more.
 */
void quietcore_channel_close(quietcore_channel *channel);

/**
 * @brief Finds a signal or queue by name.
 * @return its number, or -1 when there is none of that name.
 */
int32_t quietcore_channel_signal(const quietcore_channel *channel, const char *name);

/**
 * @brief The size of a value.
 * @return 1, 2, 4 or 8 bytes; 0 when there is no such signal.
 */
uint32_t quietcore_channel_value_bytes(const quietcore_channel *channel, int32_t signal);

/**
 * @brief Sets a value; it goes with the next quietcore_channel_send().
 * @return #QUIETCORE_CHANNEL_OK, #QUIETCORE_CHANNEL_NOT_OK.
 */
uint8_t quietcore_channel_set(quietcore_channel *channel, int32_t signal, const void *value);

/**
 * @brief Sends all values at once; those that were not set are as they were before.
 * @return #QUIETCORE_CHANNEL_OK, #QUIETCORE_CHANNEL_NOT_OK.
 */
uint8_t quietcore_channel_send(quietcore_channel *channel);

/**
 * @brief Receives the newest values, all of one sending.
 * @param[out] state what is known about them; may be null. Unchanged on #QUIETCORE_CHANNEL_BUSY
 * and #QUIETCORE_CHANNEL_NOT_OK.
 * @return #QUIETCORE_CHANNEL_OK, #QUIETCORE_CHANNEL_TIMEOUT, #QUIETCORE_CHANNEL_BUSY,
 * #QUIETCORE_CHANNEL_NOT_OK.
 */
uint8_t quietcore_channel_receive(quietcore_channel *channel, quietcore_channel_state *state);

/**
 * @brief Waits until values come that were not received yet, and receives them.
 *
 * The channel is looked at every 50 us. The sender is not disturbed and does not notice.
 * @param limit_ns the longest wait, in ns; 0 looks once; at most 60 s.
 * @param[out] state as for quietcore_channel_receive().
 * @return #QUIETCORE_CHANNEL_OK with new values, #QUIETCORE_CHANNEL_TIMEOUT with new ones that are
 * overdue already, #QUIETCORE_CHANNEL_NOTHING_NEW, #QUIETCORE_CHANNEL_NOT_OK.
 */
uint8_t quietcore_channel_wait_ns(quietcore_channel *channel, uint64_t limit_ns,
                                  quietcore_channel_state *state);

/**
 * @brief Gets a value of those that were received last.
 * @param[out] value a variable of the signal's type.
 * @return #QUIETCORE_CHANNEL_OK, #QUIETCORE_CHANNEL_NOT_OK.
 */
uint8_t quietcore_channel_get(const quietcore_channel *channel, int32_t signal, void *value);

/**
 * @brief Sends a message through a queue.
 * @param message a variable of the queue's type.
 * @return #QUIETCORE_CHANNEL_OK, #QUIETCORE_CHANNEL_QUEUE_FULL, #QUIETCORE_CHANNEL_NOT_OK.
 */
uint8_t quietcore_channel_send_message(quietcore_channel *channel, int32_t signal,
                                       const void *message);

/**
 * @brief Takes the oldest message of a queue.
 * @param[out] message a variable of the queue's type; bytes that its sender left out are 0.
 * @return #QUIETCORE_CHANNEL_OK, #QUIETCORE_CHANNEL_QUEUE_EMPTY, #QUIETCORE_CHANNEL_NOT_OK.
 */
uint8_t quietcore_channel_take_message(quietcore_channel *channel, int32_t signal, void *message);

/**
 * @brief Whether the site that the channel belongs to still runs. Reads files: not for each cycle.
 * @return 1 or 0. A site that is up again has other channels: open them again.
 */
uint8_t quietcore_channel_is_up(const quietcore_channel *channel);

#ifdef __cplusplus
}
#endif

#endif /* QUIETCORE_CHANNEL_H */
