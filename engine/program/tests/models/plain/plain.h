/* A ramp: each step adds Gain × In1 to a state. Written for the tests. */
#ifndef RTW_HEADER_plain_h_
#define RTW_HEADER_plain_h_
#include <stddef.h>
#include "rtwtypes.h"
#include "plain_types.h"

#define rtmGetErrorStatus(rtm) ((rtm)->errorStatus)
#define rtmSetErrorStatus(rtm, val) ((rtm)->errorStatus = (val))

typedef struct {
  real_T Sum;                          /* '<Root>/Sum' */
} B_plain_T;

typedef struct {
  real_T UnitDelay_DSTATE;             /* '<Root>/Unit Delay' */
  uint32_T Steps;
} DW_plain_T;

typedef struct {
  real_T In1;                          /* '<Root>/In1' */
} ExtU_plain_T;

typedef struct {
  real_T Out1;                         /* '<Root>/Out1' */
} ExtY_plain_T;

struct P_plain_T_ {
  real_T Gain;
  real_T Table[4];
};

struct tag_RTM_plain_T {
  const char_T * volatile errorStatus;
};

extern P_plain_T plain_P;
extern B_plain_T plain_B;
extern DW_plain_T plain_DW;
extern ExtU_plain_T plain_U;
extern ExtY_plain_T plain_Y;
extern void plain_initialize(void);
extern void plain_step(void);
extern void plain_terminate(void);
extern RT_MODEL_plain_T *const plain_M;

#endif
