#include "receiver.h"
#include "Com.h"

P_receiver_T receiver_P = {100, 3};
DW_receiver_T receiver_DW;

void receiver_initialize(void)
{
    receiver_DW.steps = 0;
    /* Services are there already. */
    (void)Com_ReceiveSignal(ComConf_ComSignal_to_receiver_gain, &receiver_DW.initial);
}

void receiver_step(void)
{
    uint32_t i;
    int64_t answer;
    receiver_DW.status = Com_ReceiveSignalGroup(ComConf_ComSignalGroup_to_receiver);
    if (receiver_DW.steps == 0) {
        receiver_DW.first = receiver_DW.status;
    }
    receiver_DW.steps++;
    if (receiver_DW.status == COM_TIMEOUT) {
        receiver_DW.timeouts++;
    }
    (void)Com_ReceiveSignal(ComConf_ComSignal_to_receiver_count, &receiver_DW.count);
    (void)Com_ReceiveSignal(ComConf_ComSignal_to_receiver_opposite, &receiver_DW.opposite);
    if (receiver_DW.count != -receiver_DW.opposite) {
        receiver_DW.torn++;
    }
    for (i = 0; i < receiver_P.drain; i++) {
        uint32_t number = 0;
        uint16_t length = sizeof number;
        if (Com_ReceiveDynSignal(ComConf_ComSignal_to_receiver_number, &number, &length) != E_OK) {
            break;
        }
        receiver_DW.received++;
        if (number <= receiver_DW.last) {
            receiver_DW.disorder++;
        }
        receiver_DW.last = number;
    }
    answer = receiver_DW.count * (int64_t)receiver_P.scale;
    (void)Com_SendSignal(ComConf_ComSignal_to_sender_answer, &answer);
    (void)Com_SendSignalGroup(ComConf_ComSignalGroup_to_sender);
}

void receiver_terminate(void)
{
}
