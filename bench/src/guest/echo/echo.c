#include "echo.h"
#include "Com.h"

P_echo_T echo_P = {200000};
DW_echo_T echo_DW;

void echo_initialize(void)
{
    echo_DW.number = 0;
}

/* It looks for numbers as long as some come. */
void echo_step(void)
{
    uint32_t looks = 0;
    int64_t number = 0;
    while (looks < echo_P.looks) {
        (void)Com_ReceiveSignalGroup(ComConf_ComSignalGroup_there);
        (void)Com_ReceiveSignal(ComConf_ComSignal_there_number, &number);
        looks++;
        if (number != echo_DW.number) {
            echo_DW.number = number;
            (void)Com_SendSignal(ComConf_ComSignal_back_number, &number);
            (void)Com_SendSignalGroup(ComConf_ComSignalGroup_back);
            looks = 0;
        }
    }
}

void echo_terminate(void)
{
}
