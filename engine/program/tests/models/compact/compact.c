#include "compact.h"

DW rtDW;
ExtU rtU;
ExtY rtY;
P rtP = { 40U };

void compact_step(void)
{
  rtDW.Level = (uint16_T)(rtDW.Level + rtU.Fill);
  rtDW.Phase.im += 1.0;
  rtY.Full = (rtDW.Level >= rtP.Size);
}

void compact_initialize(void)
{
}
