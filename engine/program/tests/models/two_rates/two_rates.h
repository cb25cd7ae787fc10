/* Two rates that exchange a value, each with a function of its own. Written for the tests. */
#ifndef RTW_HEADER_two_rates_h_
#define RTW_HEADER_two_rates_h_
#include "rtwtypes.h"

typedef struct {
  int32_T Fast;
  int32_T Slow;
  int32_T Buffer;
} DW_two_rates_T;

extern DW_two_rates_T two_rates_DW;
extern void two_rates_initialize(void);
extern void two_rates_step0(void);
extern void two_rates_step2(void);
extern void two_rates_step(int_T tid);

#endif
