/*
 * File: tank.c
 *
 * Level control of a tank with a pump.
 *
 *   target -> rate limit -> PI with anti-windup -> + -> pump
 *                              feed-forward of the outflow ^
 */

#include "tank.h"
#include "rtwtypes.h"
#include <math.h>
#include <string.h>

/* Fundamental sample time, in s */
#define SAMPLE_TIME                    (0.1)

/* Samples without a valid level after which the pump stops */
#define FAULT_LIMIT                    (5U)

/* Block parameters (default storage) */
P rtP = {
  /* Setpoint
   * Referenced by: '<S1>/Setpoint'
   */
  0.6,

  /* SetpointRate
   * Referenced by: '<S1>/RateLimiter'
   */
  0.02,

  /* Kp
   * Referenced by: '<S1>/PI'
   */
  9.0,

  /* Ti
   * Referenced by: '<S1>/PI'
   */
  15.0,

  /* BackCalculation
   * Referenced by: '<S1>/AntiWindup'
   */
  0.5,

  /* FlowGain
   * Referenced by: '<S1>/FeedForward'
   */
  0.1,

  /* Area
   * Referenced by: '<S1>/FeedForward'
   */
  70.7,

  /* StaticSpeed
   * Referenced by: '<S1>/FeedForward'
   */
  0.45,

  /* LevelMinimum
   * Referenced by: '<Root>/Range'
   */
  -0.05,

  /* LevelMaximum
   * Referenced by: '<Root>/Range'
   */
  1.1,

  /* Run
   * Referenced by: '<Root>/Run'
   */
  true
};

/* Block signals and states (default storage) */
DW rtDW;

/* External inputs (root inport signals with default storage) */
ExtU rtU;

/* External outputs (root outports fed by signals with default storage) */
ExtY rtY;

/* Real-time model */
static RT_MODEL rtM_;
RT_MODEL *const rtM = &rtM_;

/* Forward declaration for local functions */
static real_T Clamp(real_T value, real_T lower, real_T upper);
static void State_step(void);
static real_T Level(void);

static real_T Clamp(real_T value, real_T lower, real_T upper)
{
  if (value > upper) {
    value = upper;
  } else if (value < lower) {
    value = lower;
  }

  return value;
}

/* Whether the pump may run. */
static void State_step(void)
{
  boolean_T is_valid;
  is_valid = (boolean_T)((rtU.level >= rtP.LevelMinimum) && (rtU.level <= rtP.LevelMaximum));
  if (is_valid) {
    rtDW.fault_count = 0U;
  } else if (rtDW.fault_count < FAULT_LIMIT) {
    rtDW.fault_count++;
  }

  if (!rtP.Run) {
    rtDW.state = State_Off;
  } else if (rtDW.fault_count >= FAULT_LIMIT) {
    rtDW.state = State_SensorFault;
  } else if (rtU.full) {
    rtDW.state = State_Full;
  } else if (is_valid && (rtDW.state != State_Controlling)) {
    /* It starts from where the level is, without a jump. */
    rtDW.setpoint = rtU.level;
    rtDW.integral = 0.0;
    rtDW.state = State_Controlling;
  }
}

/* Level controller; returns the speed of the pump. */
static real_T Level(void)
{
  real_T change;
  real_T pump;
  change = rtP.SetpointRate * SAMPLE_TIME;
  change = Clamp(rtP.Setpoint - rtDW.setpoint, -change, change);
  rtDW.setpoint += change;

  /* A single invalid reading holds the last error. */
  if (rtDW.fault_count == 0U) {
    rtDW.error = rtDW.setpoint - rtU.level;
  }

  rtDW.demand = rtP.Kp * rtDW.error + rtDW.integral + rtP.StaticSpeed + rtP.FlowGain *
    (rtU.outflow + rtP.Area * change / SAMPLE_TIME);
  pump = Clamp(rtDW.demand, 0.0, 1.0);

  /* DiscreteIntegrator: '<S1>/Integrator', with back-calculation of what the limit took away */
  rtDW.integral += SAMPLE_TIME * (rtP.Kp / rtP.Ti * rtDW.error + rtP.BackCalculation * (pump -
    rtDW.demand));
  return pump;
}

/* Model step function */
void tank_step(void)
{
  if (isnan(rtU.level) || isnan(rtU.outflow)) {
    rtY.pump = 0.0;
    rtmSetErrorStatus(rtM, "level or outflow is not a number");
    return;
  }

  /* Chart: '<Root>/State' */
  State_step();

  /* Outport: '<Root>/pump' */
  rtY.pump = rtDW.state == State_Controlling ? Level() : 0.0;

  /* Outport: '<Root>/state' */
  rtY.state = rtDW.state;

  /* Outport: '<Root>/alarm' */
  rtY.alarm = (boolean_T)((rtDW.state == State_Full) || (rtDW.state == State_SensorFault));
}

/* Model initialize function */
void tank_initialize(void)
{
  /* initialize error status */
  rtmSetErrorStatus(rtM, (const char_T *)0);

  /* states, external inputs and outputs */
  (void) memset((void *)&rtDW, 0, sizeof(DW));
  (void) memset((void *)&rtU, 0, sizeof(ExtU));
  (void) memset((void *)&rtY, 0, sizeof(ExtY));
}

/*
 * File trailer for tank.c
 *
 * [EOF]
 */
