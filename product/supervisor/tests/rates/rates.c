#include "rates.h"

DW_rates_T rates_DW;

void rates_initialize(void)
{
}

void rates_step0(void)
{
    rates_DW.fast++;
    while (rates_DW.busy > 0) {
        rates_DW.busy--;
    }
}

void rates_step1(void)
{
    rates_DW.by_event++;
}

void rates_step2(void)
{
    rates_DW.by_state++;
}
