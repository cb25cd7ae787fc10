#include <limits.h>
#include "reusable.h"

/* The check of a processor whose long has 32 bits. */
#if ( UINT_MAX != (0xFFFFFFFFU) ) || ( INT_MAX != (0x7FFFFFFF) )
#error Code was generated for compiler with different sized uint/int.
#endif

#if ( ULONG_MAX != (0xFFFFFFFFU) ) || ( LONG_MAX != (0x7FFFFFFF) )
#error Code was generated for compiler with different sized ulong/long.
#endif

void reusable_step(RT_MODEL *const rtM)
{
  P *parameters = rtM->defaultParam;
  int16_T value = rtM->inputs->In1;

  if (value > parameters->Limits[1]) {
    value = parameters->Limits[1];
  }
  if (value < parameters->Limits[0]) {
    value = parameters->Limits[0];
  }
  rtM->outputs->Out1 = parameters->Enable ? value : rtM->dwork->Held;
  rtM->dwork->Held = value;
}

void reusable_initialize(RT_MODEL *const rtM)
{
  rtM->dwork->Held = 7;
}
