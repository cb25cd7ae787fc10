#include "plain.h"

B_plain_T plain_B;
DW_plain_T plain_DW;
ExtU_plain_T plain_U;
ExtY_plain_T plain_Y;
static RT_MODEL_plain_T plain_M_;
RT_MODEL_plain_T *const plain_M = &plain_M_;

void plain_step(void)
{
  plain_B.Sum = plain_P.Gain * plain_U.In1 + plain_DW.UnitDelay_DSTATE;
  plain_Y.Out1 = plain_B.Sum + plain_P.Table[plain_DW.Steps & 3U];
  plain_DW.UnitDelay_DSTATE = plain_B.Sum;
  plain_DW.Steps++;
  if (plain_U.In1 > 1000.0) {
    rtmSetErrorStatus(plain_M, "input out of range");
  }
}

void plain_initialize(void)
{
  rtmSetErrorStatus(plain_M, (NULL));
  plain_DW.UnitDelay_DSTATE = 0.5;
}

void plain_terminate(void)
{
  plain_Y.Out1 = -1.0;
}
