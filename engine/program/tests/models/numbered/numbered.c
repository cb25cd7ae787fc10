#include "numbered.h"

DW_numbered_T numbered_DW;
static RT_MODEL_numbered_T numbered_M_;
RT_MODEL_numbered_T *const numbered_M = &numbered_M_;

void numbered_step(int_T tid)
{
  numbered_DW.Count[tid]++;
  if (numbered_M->Timing.tFinal >= 0.0) {
    numbered_M->errorStatus = "Simulation finished";
  }
  if (numbered_DW.Count[2] == 5U) {
    numbered_M->Timing.stopRequestedFlag = 1;
  }
}

void numbered_initialize(boolean_T firstTime)
{
  numbered_M->Timing.tFinal = 10.0;
  numbered_DW.Count[0] = firstTime ? 100U : 0U;
}

void numbered_terminate(void)
{
}
