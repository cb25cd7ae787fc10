#include "reusable.h"

static RT_MODEL rtM_;
static RT_MODEL *const rtMPtr = &rtM_;
static P rtP = {
  /* Variable: Limits
   * Referenced by: '<Root>/Saturation'
   */
  { -100, 100 },

  1
};                                     /* Modifiable parameters */
static DW rtDW;
static ExtU rtU;
static ExtY rtY;

int_T main(void)
{
  RT_MODEL *const rtM = rtMPtr;

  rtM->defaultParam = &rtP;
  rtM->dwork = &rtDW;
  rtM->inputs = &rtU;
  rtM->outputs = &rtY;
  reusable_initialize(rtM);
  return 0;
}
