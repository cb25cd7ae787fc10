#include "sender.h"
#include "Com.h"

P_sender_T sender_P = {0, 0};
DW_sender_T sender_DW;

void sender_initialize(void)
{
    sender_DW.count = 0;
}

void sender_step(void)
{
    uint32_t i;
    int64_t opposite;
    if (sender_P.mute) {
        return;
    }
    sender_DW.count++;
    opposite = -sender_DW.count;
    (void)Com_SendSignal(ComConf_ComSignal_to_receiver_count, &sender_DW.count);
    (void)Com_SendSignal(ComConf_ComSignal_to_receiver_opposite, &opposite);
    sender_DW.status = Com_SendSignalGroup(ComConf_ComSignalGroup_to_receiver);
    for (i = 0; i < sender_P.burst; i++) {
        sender_DW.number++;
        if (Com_SendDynSignal(ComConf_ComSignal_to_receiver_number, &sender_DW.number,
                              sizeof sender_DW.number) == E_OK) {
            sender_DW.sent++;
        } else {
            sender_DW.refused++;
        }
    }
}

void sender_terminate(void)
{
}
