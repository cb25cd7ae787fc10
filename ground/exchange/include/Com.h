/**
 * @file Com.h
 * @brief The channels of a partition, for its program in C or C++.
 *
 * The names follow AUTOSAR COM (SWS_COM). A signal keeps its last value; a group is several signals
 * that change together; a queue delivers each message once. Signals and groups have numbers, which
 * the site file's channels give them: ComConf_ComSignal_CHANNEL_SIGNAL and
 * ComConf_ComSignalGroup_CHANNEL are defined for each, with `_` for `-`. All values of a channel that
 * are no queues form its group.
 *
 * No function waits but Com_WaitSignal() and Com_WaitSignalGroup(). A program with an OSEK kernel is
 * notified of what comes, by an event, an activation or an ISR: see MESSAGE in docs/oil.md. A signal is
 * sent by one task; one queue may be used by several tasks, of which one at a time succeeds.
 *
 * The program defines `quietcore_services_given` once, as a null pointer; its loader fills it in. As long
 * as it is null, every function returns #COM_SERVICE_NOT_AVAILABLE.
 */
#ifndef COM_H
#define COM_H

#include "quietcore_services.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Done. */
#ifndef E_OK
#define E_OK 0x00u
#endif
/** There is no such signal, or not in this direction, or an argument is wrong. */
#ifndef E_NOT_OK
#define E_NOT_OK 0x01u
#endif
/** The program was not loaded by Quietcore, or is not initialised yet. */
#define COM_SERVICE_NOT_AVAILABLE 0x80u
/** Another task is at it, or the sender overtook the reading; the value is the last one received. */
#define COM_BUSY 0x81u
/** The signal has been out longer than its timeout; the value is the last or the initial one. */
#define COM_TIMEOUT 0x90u
/** There is no message. */
#define COM_QUEUE_EMPTY 0x91u
/** There is no room for the message, which is lost; the loss is counted. */
#define COM_QUEUE_FULL 0x92u
/** The buffer is too small for the message, which stays in the queue. */
#define COM_BUFFER_TOO_SMALL 0x93u

/** Nothing new came within the limit of a wait; the value is the last one received. */
#define COM_NOTHING_NEW 0x94u

/** Number of a signal, a member of a group, or a queue. */
typedef uint16_t Com_SignalIdType;
/** Number of a group. */
typedef uint16_t Com_SignalGroupIdType;
/** What Com_GetSignalState() tells. */
typedef struct quietcore_signal_state Com_SignalStateType;

/** The loader's functions; null until the program is loaded. */
extern const struct quietcore_services *quietcore_services_given;

/**
 * @brief Sends the value of a signal, or puts that of a member into its group's shadow buffer.
 * @param SignalId the signal.
 * @param SignalDataPtr a variable of the signal's type: 1, 2, 4 or 8 bytes.
 * @return #E_OK, #E_NOT_OK, #COM_SERVICE_NOT_AVAILABLE.
 */
static inline uint8_t Com_SendSignal(Com_SignalIdType SignalId, const void *SignalDataPtr)
{
    const struct quietcore_services *services = quietcore_services_given;
    return services ? services->send_signal(services->context, SignalId, SignalDataPtr)
                    : (uint8_t)COM_SERVICE_NOT_AVAILABLE;
}

/**
 * @brief Receives the value of a signal, or of a member from its group's shadow buffer, and clears
 * the update bit of the signal.
 * @param SignalId the signal.
 * @param[out] SignalDataPtr a variable of the signal's type; unchanged on #E_NOT_OK.
 * @return #E_OK, #COM_TIMEOUT, #COM_BUSY, #E_NOT_OK, #COM_SERVICE_NOT_AVAILABLE.
 */
static inline uint8_t Com_ReceiveSignal(Com_SignalIdType SignalId, void *SignalDataPtr)
{
    const struct quietcore_services *services = quietcore_services_given;
    return services ? services->receive_signal(services->context, SignalId, SignalDataPtr)
                    : (uint8_t)COM_SERVICE_NOT_AVAILABLE;
}

/**
 * @brief Sends all members of a group at once, as they are in its shadow buffer.
 * @param SignalGroupId the group.
 * @return #E_OK, #E_NOT_OK, #COM_SERVICE_NOT_AVAILABLE.
 */
static inline uint8_t Com_SendSignalGroup(Com_SignalGroupIdType SignalGroupId)
{
    const struct quietcore_services *services = quietcore_services_given;
    return services ? services->send_group(services->context, SignalGroupId)
                    : (uint8_t)COM_SERVICE_NOT_AVAILABLE;
}

/**
 * @brief Receives all members of a group at once into its shadow buffer, and clears the update bit.
 * @param SignalGroupId the group.
 * @return #E_OK, #COM_TIMEOUT, #COM_BUSY (the shadow buffer keeps what it had), #E_NOT_OK,
 * #COM_SERVICE_NOT_AVAILABLE.
 */
static inline uint8_t Com_ReceiveSignalGroup(Com_SignalGroupIdType SignalGroupId)
{
    const struct quietcore_services *services = quietcore_services_given;
    return services ? services->receive_group(services->context, SignalGroupId)
                    : (uint8_t)COM_SERVICE_NOT_AVAILABLE;
}

/**
 * @brief Sends a message of any length through a queue.
 * @param SignalId the queue.
 * @param SignalDataPtr the message.
 * @param Length its bytes, at most those that the channel carries.
 * @return #E_OK, #COM_QUEUE_FULL, #COM_BUSY, #E_NOT_OK, #COM_SERVICE_NOT_AVAILABLE.
 */
static inline uint8_t Com_SendDynSignal(Com_SignalIdType SignalId, const void *SignalDataPtr,
                                        uint16_t Length)
{
    const struct quietcore_services *services = quietcore_services_given;
    return services ? services->send_message(services->context, SignalId, SignalDataPtr, Length)
                    : (uint8_t)COM_SERVICE_NOT_AVAILABLE;
}

/**
 * @brief Receives the oldest message of a queue.
 * @param SignalId the queue.
 * @param[out] SignalDataPtr an initialised buffer.
 * @param[in,out] Length bytes of the buffer; then those of the message, also if it did not fit.
 * @return #E_OK, #COM_QUEUE_EMPTY, #COM_BUFFER_TOO_SMALL, #COM_BUSY, #E_NOT_OK,
 * #COM_SERVICE_NOT_AVAILABLE.
 */
static inline uint8_t Com_ReceiveDynSignal(Com_SignalIdType SignalId, void *SignalDataPtr,
                                           uint16_t *Length)
{
    const struct quietcore_services *services = quietcore_services_given;
    return services ? services->receive_message(services->context, SignalId, SignalDataPtr, Length)
                    : (uint8_t)COM_SERVICE_NOT_AVAILABLE;
}

/**
 * @brief What is known about a received signal beside its value. The update bit stays.
 * @param SignalId the signal.
 * @param[out] State age in ns, count, update bit, overdue.
 * @return #E_OK, #COM_BUSY, #E_NOT_OK, #COM_SERVICE_NOT_AVAILABLE.
 */
static inline uint8_t Com_GetSignalState(Com_SignalIdType SignalId, Com_SignalStateType *State)
{
    const struct quietcore_services *services = quietcore_services_given;
    return services ? services->signal_state(services->context, SignalId, State)
                    : (uint8_t)COM_SERVICE_NOT_AVAILABLE;
}

/**
 * @brief What is known about a received group beside its values. The update bit stays.
 * @param SignalGroupId the group.
 * @param[out] State age in ns, count, update bit, overdue.
 * @return #E_OK, #COM_BUSY, #E_NOT_OK, #COM_SERVICE_NOT_AVAILABLE.
 */
static inline uint8_t Com_GetSignalGroupState(Com_SignalGroupIdType SignalGroupId,
                                              Com_SignalStateType *State)
{
    const struct quietcore_services *services = quietcore_services_given;
    return services ? services->group_state(services->context, SignalGroupId, State)
                    : (uint8_t)COM_SERVICE_NOT_AVAILABLE;
}

#if defined(QUIETCORE_NEVER_WAITS) && defined(__GNUC__)
/** Never defined: a call is refused by the compiler. */
uint8_t quietcore_never_waits(void)
    __attribute__((error("a program in a guest, or with an OSEK kernel, can't wait for a signal; "
                         "look at it in each step with Com_ReceiveSignal or Com_GetSignalState; with a "
                         "kernel, be notified by a MESSAGE in the OIL file")));
#endif

/**
 * @brief Waits until a signal is sent that was not received yet, and receives it. For a member of a
 * group: until the group is sent, all of which is received into its shadow buffer then.
 *
 * The channel is looked at every 50 us, which costs the waiter a system call each time, and its
 * sender nothing. The wait is part of the step: it counts in its execution and response time, and
 * the watchdog strikes as for any other. A program in a guest, and one with an OSEK kernel of its
 * own, would hold up every task of the partition: there a call is refused when it is compiled.
 * @param SignalId the signal.
 * @param[out] SignalDataPtr a variable of the signal's type; unchanged on #E_NOT_OK.
 * @param LimitNs the longest wait, in ns; 0 looks once; at most 60 s.
 * @return #E_OK, #COM_NOTHING_NEW (with the last value), #COM_TIMEOUT, #COM_BUSY, #E_NOT_OK,
 * #COM_SERVICE_NOT_AVAILABLE.
 */
static inline uint8_t Com_WaitSignal(Com_SignalIdType SignalId, void *SignalDataPtr,
                                     uint64_t LimitNs)
{
#if defined(QUIETCORE_NEVER_WAITS) && defined(__GNUC__)
    (void)SignalId;
    (void)SignalDataPtr;
    (void)LimitNs;
    return quietcore_never_waits();
#else
    const struct quietcore_services *services = quietcore_services_given;
    return services && services->version >= 4u
               ? services->wait_signal(services->context, SignalId, SignalDataPtr, LimitNs)
               : (uint8_t)COM_SERVICE_NOT_AVAILABLE;
#endif
}

/**
 * @brief Waits until a group is sent that was not received yet, and receives it into its shadow
 * buffer. What is said of Com_WaitSignal() holds for it.
 * @param SignalGroupId the group.
 * @param LimitNs the longest wait, in ns; 0 looks once; at most 60 s.
 * @return #E_OK, #COM_NOTHING_NEW, #COM_TIMEOUT, #COM_BUSY, #E_NOT_OK, #COM_SERVICE_NOT_AVAILABLE.
 */
static inline uint8_t Com_WaitSignalGroup(Com_SignalGroupIdType SignalGroupId, uint64_t LimitNs)
{
#if defined(QUIETCORE_NEVER_WAITS) && defined(__GNUC__)
    (void)SignalGroupId;
    (void)LimitNs;
    return quietcore_never_waits();
#else
    const struct quietcore_services *services = quietcore_services_given;
    return services && services->version >= 4u
               ? services->wait_group(services->context, SignalGroupId, LimitNs)
               : (uint8_t)COM_SERVICE_NOT_AVAILABLE;
#endif
}

/**
 * @brief The instant of the current cycle.
 * @return Nanoseconds of the monotonic clock; 0 while the program is not loaded.
 */
static inline uint64_t Com_Now(void)
{
    const struct quietcore_services *services = quietcore_services_given;
    return services ? services->now(services->context) : 0u;
}

#ifdef __cplusplus
}
#endif

#endif /* COM_H */
