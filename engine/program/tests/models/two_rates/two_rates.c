#include "two_rates.h"

DW_two_rates_T two_rates_DW;

/* Model step function for TID0 */
void two_rates_step0(void)             /* Sample time: [0.001s, 0.0s] */
{
  two_rates_DW.Fast++;
  two_rates_DW.Buffer = two_rates_DW.Fast;
}

/* Model step function for TID2 */
void two_rates_step2(void)             /* Sample time: [0.01s, 0.0s] */
{
  two_rates_DW.Slow += two_rates_DW.Buffer;
}

void two_rates_step(int_T tid)
{
  switch (tid) {
   case 0 :
    two_rates_step0();
    break;

   case 2 :
    two_rates_step2();
    break;

   default :
    break;
  }
}

void two_rates_initialize(void)
{
}
