/* One continuous state with an Euler step, a trigger and a log; its header of types is its own, the others
 * belong to a generator's installation. Written for the tests. */
#ifndef RTW_HEADER_continuous_h_
#define RTW_HEADER_continuous_h_
#include <stddef.h>
#include "rtwtypes.h"
#include "rtw_continuous.h"
#include "rtw_solver.h"
#include "rt_logging.h"
#include "zero_crossing_types.h"
#include "multiword_types.h"
#include "builtin_typeid_types.h"

typedef struct tag_RTM_continuous_T RT_MODEL_continuous_T;

typedef struct {
  real_T Integrator_CSTATE;
} X_continuous_T;

typedef struct {
  ZCSigState Trigger_ZCE;
  uint64m_T Wide;
} PrevZCX_continuous_T;

typedef struct {
  real_T In1;
} ExtU_continuous_T;

struct tag_RTM_continuous_T {
  const char_T *errorStatus;
  RTWLogInfo *rtwLogInfo;
  RTWSolverInfo solverInfo;
  X_continuous_T *contStates;
  real_T *derivs;
  struct {
    int_T numContStates;
  } Sizes;
  struct {
    time_T stepSize0;
    SimTimeStep simTimeStep;
    time_T tFinal;
    time_T *t;
    time_T tArray[1];
  } Timing;
};

extern X_continuous_T continuous_X;
extern PrevZCX_continuous_T continuous_PrevZCX;
extern ExtU_continuous_T continuous_U;
extern RT_MODEL_continuous_T *const continuous_M;
extern void continuous_initialize(void);
extern void continuous_step(void);

#endif
