#include "counter.h"

#define rtmSetErrorStatus(rtm, val) ((rtm)->errorStatus = (val))

P_counter_T counter_P = {2.0, 0};
ExtU_counter_T counter_U;
ExtY_counter_T counter_Y;
DW_counter_T counter_DW;
static RT_MODEL_counter_T counter_M_;
RT_MODEL_counter_T *const counter_M = &counter_M_;

static volatile int32_t zero;
static int32_t *volatile nowhere = (int32_t *)0x40;

void counter_initialize(void)
{
    counter_DW.total = 0;
}

void counter_step(void)
{
    switch (counter_P.misbehave) {
    case 1:
        zero = 1000 / zero;
        break;
    case 2:
        while (counter_P.misbehave == 2) {
            zero = 0;
        }
        break;
    case 3:
        *nowhere = 1;
        break;
    case 4:
        rtmSetErrorStatus(counter_M, "told to fail");
        break;
    default:
        break;
    }
    counter_DW.total++;
    counter_DW.filter[3] = counter_DW.filter[2];
    counter_DW.filter[0] = counter_U.input;
    if (counter_DW.filter[1] == 0.0) {
        counter_DW.filter[1] = 1.0 + counter_U.input; /* that of the first step */
    }
    counter_Y.output = counter_P.gain * counter_U.input;
    counter_Y.doubled = 2.0 * counter_Y.output;
}

void counter_terminate(void)
{
}
