/* Inputs and outputs passed one by one, and a result. Written for the tests. */
#ifndef RTW_HEADER_passed_h_
#define RTW_HEADER_passed_h_
#include "rtwtypes.h"

typedef struct tag_RTM_passed_T RT_MODEL_passed_T;

typedef struct {
  real_T Total;
} DW_passed_T;

struct tag_RTM_passed_T {
  const char_T *errorStatus;
  struct {
    DW_passed_T *dwork;
  } ModelData;
};

extern void passed_initialize(RT_MODEL_passed_T *const passed_M, real_T *y1, real_T arg_Sums[2]);
extern real32_T passed_step(RT_MODEL_passed_T *const passed_M, real_T y0, const real_T arg_In2[3],
  real_T *y1, real_T arg_Sums[2]);
extern void passed_terminate(RT_MODEL_passed_T *const passed_M);

#endif
