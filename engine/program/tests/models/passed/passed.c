#include <math.h>
#include "passed.h"

real32_T passed_step(RT_MODEL_passed_T *const passed_M, real_T y0, const real_T arg_In2[3],
  real_T *y1, real_T arg_Sums[2])
{
  DW_passed_T *passed_DW = passed_M->ModelData.dwork;

  passed_DW->Total += y0;
  *y1 = fabs(passed_DW->Total);
  arg_Sums[0] = arg_In2[0] + arg_In2[1];
  arg_Sums[1] = arg_In2[1] + arg_In2[2];
  if (y0 < 0.0) {
    passed_M->errorStatus = "negative";
  }
  return (real32_T)(y0 * 0.5);
}

void passed_initialize(RT_MODEL_passed_T *const passed_M, real_T *y1, real_T arg_Sums[2])
{
  passed_M->ModelData.dwork->Total = 1.0;
  *y1 = 3.0;
  arg_Sums[1] = 4.0;
}

void passed_terminate(RT_MODEL_passed_T *const passed_M)
{
  passed_M->ModelData.dwork->Total = 0.0;
}
