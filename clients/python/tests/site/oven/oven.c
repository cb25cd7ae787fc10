#include "oven.h"

P_oven_T oven_P = {180.0, 0.5F, 0, OVEN_HEAT};
ExtU_oven_T oven_U;
ExtY_oven_T oven_Y;
DW_oven_T oven_DW;
static RT_MODEL_oven_T oven_M_;
RT_MODEL_oven_T *const oven_M = &oven_M_;

void oven_initialize(void)
{
    oven_U.ambient = 20.0;
    oven_Y.temperature = 20.0;
    oven_DW.trays[1] = 7;
}

void oven_step(void)
{
    double wanted = oven_P.target + oven_P.offset;
    oven_Y.mode = oven_U.door ? OVEN_OFF : oven_P.mode;
    if (oven_Y.mode == OVEN_OFF) {
        wanted = oven_U.ambient;
    }
    oven_Y.temperature += (wanted - oven_Y.temperature) * oven_P.gain * 0.005;
    oven_Y.warm = oven_Y.temperature > 40.0;
    oven_DW.cycles++;
}

void oven_terminate(void)
{
}
