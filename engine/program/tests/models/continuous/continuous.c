#include "continuous.h"

X_continuous_T continuous_X;
PrevZCX_continuous_T continuous_PrevZCX;
ExtU_continuous_T continuous_U;
static real_T derivative;
static RT_MODEL_continuous_T continuous_M_;
RT_MODEL_continuous_T *const continuous_M = &continuous_M_;

void continuous_step(void)
{
  RTWSolverInfo *si = &continuous_M->solverInfo;
  real_T *x = rtsiGetContStates(si);
  real_T *f = rtsiGetdX(si);
  int_T i;

  if (continuous_M->Timing.simTimeStep == MAJOR_TIME_STEP) {
    if (continuous_U.In1 > 0.0 && continuous_PrevZCX.Trigger_ZCE == NEG_ZCSIG) {
      continuous_X.Integrator_CSTATE = 0.0;
    }
    continuous_PrevZCX.Trigger_ZCE = (ZCSigState)(continuous_U.In1 > 0.0 ? POS_ZCSIG : NEG_ZCSIG);
    rt_UpdateTXYLogVars(continuous_M->rtwLogInfo, (continuous_M->Timing.t));
  }
  rtsiSetSimTimeStep(si, MINOR_TIME_STEP);
  f[0] = continuous_U.In1;
  for (i = 0; i < continuous_M->Sizes.numContStates; i++) {
    x[i] += rtsiGetStepSize(si) * f[i];
  }
  rtsiSetT(si, rtsiGetT(si) + rtsiGetStepSize(si));
  rtsiSetSimTimeStep(si, MAJOR_TIME_STEP);
  if (continuous_M->Timing.tFinal >= 0.0 && rtsiGetT(si) > continuous_M->Timing.tFinal) {
    rtsiSetErrorStatus(si, "Simulation finished");
  }
}

void continuous_initialize(void)
{
  static RTWLogInfo rt_DataLoggingInfo;

  rt_DataLoggingInfo.loggingInterval = (NULL);
  continuous_M->rtwLogInfo = &rt_DataLoggingInfo;
  rtliSetLogT(continuous_M->rtwLogInfo, "tout");
  rtsiSetSimTimeStepPtr(&continuous_M->solverInfo, &continuous_M->Timing.simTimeStep);
  rtsiSetTPtr(&continuous_M->solverInfo, &continuous_M->Timing.t);
  rtsiSetStepSizePtr(&continuous_M->solverInfo, &continuous_M->Timing.stepSize0);
  rtsiSetdXPtr(&continuous_M->solverInfo, &continuous_M->derivs);
  rtsiSetContStatesPtr(&continuous_M->solverInfo, (real_T **) &continuous_M->contStates);
  rtsiSetNumContStatesPtr(&continuous_M->solverInfo, &continuous_M->Sizes.numContStates);
  rtsiSetErrorStatusPtr(&continuous_M->solverInfo, (&continuous_M->errorStatus));
  rtsiSetRTModelPtr(&continuous_M->solverInfo, continuous_M);
  rtsiSetSolverName(&continuous_M->solverInfo, "ode1");
  rtsiSetSimTimeStep(&continuous_M->solverInfo, MAJOR_TIME_STEP);
  continuous_M->Timing.t = &continuous_M->Timing.tArray[0];
  continuous_M->Timing.tFinal = 1.0;
  continuous_M->Timing.stepSize0 = 0.5;
  continuous_M->derivs = &derivative;
  continuous_M->contStates = &continuous_X;
  continuous_M->Sizes.numContStates = 1;
  rt_StartDataLoggingWithStartTime(continuous_M->rtwLogInfo, 0.0, continuous_M->Timing.tFinal,
    continuous_M->Timing.stepSize0, (&continuous_M->errorStatus));
}
