/* A receiver with a kernel, which runs when it is notified of something sent, and at no other time. */
#include <stdint.h>

#include "os.h"
#include "Com.h"

typedef struct { uint64_t length; } P_notified_T;
typedef struct {
    int64_t count;
    int64_t opposite;
    uint32_t sets;     /* jobs for a group */
    uint32_t torn;     /* sets of which one member was of another moment */
    uint32_t ticks;    /* at the last set */
    uint32_t raised;   /* interrupts */
    uint32_t jobs;     /* jobs for the queue */
    uint32_t received; /* messages */
    uint32_t last;     /* number of the last message */
    uint32_t disorder; /* messages that came after a later one */
    uint32_t limits;   /* activations that were refused */
} DW_notified_T;

/* How long a job for the queue takes, in ns of whole cycles. */
P_notified_T notified_P = {0u};
DW_notified_T notified_DW;

ISR(Came)
{
    notified_DW.raised++;
}

TASK(Waiter)
{
    for (;;) {
        TickType ticks = 0u;
        (void)WaitEvent(Sent);
        (void)ClearEvent(Sent);
        (void)Com_ReceiveSignalGroup(ComConf_ComSignalGroup_to_receiver);
        (void)Com_ReceiveSignal(ComConf_ComSignal_to_receiver_count, &notified_DW.count);
        (void)Com_ReceiveSignal(ComConf_ComSignal_to_receiver_opposite, &notified_DW.opposite);
        if (notified_DW.count != -notified_DW.opposite) {
            notified_DW.torn++;
        }
        (void)GetCounterValue(Tick, &ticks);
        notified_DW.ticks = ticks;
        notified_DW.sets++;
    }
}

TASK(Taker)
{
    for (;;) {
        uint32_t number = 0u;
        uint16_t length = sizeof number;
        if (Com_ReceiveDynSignal(ComConf_ComSignal_to_receiver_number, &number, &length) != E_OK) {
            break;
        }
        notified_DW.received++;
        if (number <= notified_DW.last) {
            notified_DW.disorder++;
        }
        notified_DW.last = number;
    }
    /* What is sent from here on is taken by the next job, which can't be activated yet. */
    const uint64_t begun = Com_Now();
    while (Com_Now() - begun < notified_P.length) {
    }
    notified_DW.jobs++;
    (void)TerminateTask();
}

void ErrorHook(StatusType error)
{
    if (error == E_OS_LIMIT) {
        notified_DW.limits++;
    }
}
