#include "lone.h"
#include "Com.h"

DW_lone_T lone_DW;

void lone_initialize(void)
{
    lone_DW.value = 5;
}

void lone_step(void)
{
    uint16_t length = sizeof lone_DW.value;
    lone_DW.sent = Com_SendSignal(0, &lone_DW.value);
    lone_DW.received = Com_ReceiveSignal(7, &lone_DW.value);
    lone_DW.group = Com_ReceiveSignalGroup(0);
    lone_DW.message = Com_ReceiveDynSignal(65535, &lone_DW.value, &length);
    lone_DW.now = Com_Now();
}

void lone_terminate(void)
{
}
