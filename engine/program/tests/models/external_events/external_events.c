/* A model with external mode, in the manner of releases from 2021 on. Written for the tests. */
#include "rtwtypes.h"
#include "rtw_extmode.h"
#include "xcp.h"
#include "ext_mode.h"

real_T external_events_Y;

void external_events_initialize(void)
{
}

void external_events_step(void)
{
  extmodeErrorCode_T errorCode = EXTMODE_SUCCESS;
  extmodeSimulationTime_T currentTime = (extmodeSimulationTime_T) external_events_Y;

  external_events_Y += 1.0;
  errorCode = extmodeEvent(0,currentTime);
  if (errorCode != EXTMODE_SUCCESS) {
  }
}
