/*
 * File: turbine.c
 *
 * Governor of a steam turbine.
 *
 *   speed -> PI with droop -> characteristic of the valve -> rate limit -> valve      10 ms
 *              ^ load reference
 *   power or speed -> load controller                                                100 ms
 *
 * What goes from one rate to the other is buffered, so that the slow rate may be interrupted by the
 * fast one at any point: the fast one writes for the slow one only when that is about to start, the
 * slow one writes the half of a buffer that is not in use.
 */

#include "turbine.h"
#include "rtwtypes.h"
#include <math.h>
#include <string.h>
#include "turbine_private.h"

/* Block signals (default storage) */
B_turbine_T turbine_B;

/* Block states (default storage) */
DW_turbine_T turbine_DW;

/* External inputs (root inport signals with default storage) */
ExtU_turbine_T turbine_U;

/* External outputs (root outports fed by signals with default storage) */
ExtY_turbine_T turbine_Y;

/* Real-time model */
static RT_MODEL_turbine_T turbine_M_;
RT_MODEL_turbine_T *const turbine_M = &turbine_M_;

/* Forward declaration for local functions */
static void rate_monotonic_scheduler(void);
static real_T turbine_Clamp(real_T value, real_T lower, real_T upper);
static real_T turbine_Opening(real_T steam);
static void turbine_State_step(boolean_T reset);
static void turbine_Governor(real_T load_reference);

/* Counts the samples of the fast rate; the slow rate is due when its counter is zero. */
static void rate_monotonic_scheduler(void)
{
  turbine_M->Timing.TaskCounters.TID[1]++;
  if (turbine_M->Timing.TaskCounters.TID[1] >= turbine_RATIO) {
    turbine_M->Timing.TaskCounters.TID[1] = 0U;
  }
}

static real_T turbine_Clamp(real_T value, real_T lower, real_T upper)
{
  if (value > upper) {
    value = upper;
  } else if (value < lower) {
    value = lower;
  }

  return value;
}

/* The opening at which the valve lets this share of the rated steam pass. */
static real_T turbine_Opening(real_T steam)
{
  real_T place;
  int32_T index;
  place = turbine_Clamp(steam, 0.0, 1.0) * (real_T)turbine_INTERVALS;
  index = (int32_T)place;
  if (index >= turbine_INTERVALS) {
    index = turbine_INTERVALS - 1;
  }

  place -= (real_T)index;
  return turbine_P.Characteristic[index] + place * (turbine_P.Characteristic[index + 1] -
    turbine_P.Characteristic[index]);
}

/* The states of the governor, and the setpoint that goes with each. */
static void turbine_State_step(boolean_T reset)
{
  if (turbine_U.speed > turbine_P.TripSpeed) {
    turbine_DW.state = turbine_State_Tripped;
  }

  switch (turbine_DW.state) {
   case turbine_State_Stopped:
    turbine_DW.ramp = turbine_U.speed;
    turbine_DW.integral = 0.0;
    if (turbine_P.Start) {
      turbine_DW.state = turbine_State_RunUp;
    }
    break;

   case turbine_State_RunUp:
    turbine_DW.ramp += turbine_P.RunUpRate * turbine_SAMPLE_TIME0;
    if (turbine_DW.ramp >= turbine_P.RatedSpeed) {
      turbine_DW.ramp = turbine_P.RatedSpeed;
      if (turbine_U.speed >= turbine_RUNNING_SHARE * turbine_P.RatedSpeed) {
        turbine_DW.state = turbine_State_Running;
      }
    }
    break;

   case turbine_State_Running:
    turbine_DW.ramp = turbine_P.RatedSpeed;
    break;

   default:
    if (reset && (turbine_U.speed <= turbine_P.RatedSpeed)) {
      turbine_DW.state = turbine_State_Stopped;
    }
    break;
  }

  if ((!turbine_P.Start) && (turbine_DW.state != turbine_State_Tripped)) {
    turbine_DW.state = turbine_State_Stopped;
  }
}

/* Speed governor: PI on the deviation less droop, then the characteristic of the valve. */
static void turbine_Governor(real_T load_reference)
{
  real_T error;
  real_T steam;
  turbine_B.speed_setpoint = turbine_DW.ramp;
  turbine_B.deviation = (turbine_B.speed_setpoint - turbine_U.speed) / turbine_P.RatedSpeed;

  /* The droop needs the demand that it decides: solved for the demand, there is no loop. */
  steam = (turbine_P.Kp * (turbine_B.deviation + turbine_P.Droop * load_reference) +
           turbine_DW.integral) / (1.0 + turbine_P.Kp * turbine_P.Droop);
  turbine_B.steam_demand = turbine_Clamp(steam, 0.0, 1.0);
  error = turbine_B.deviation - turbine_P.Droop * (turbine_B.steam_demand - load_reference);

  /* DiscreteIntegrator: '<S1>/Integrator': it stands still while the demand is at its limit */
  if ((steam == turbine_B.steam_demand) || ((steam - turbine_B.steam_demand) * error < 0.0)) {
    turbine_DW.integral += turbine_P.Kp * error * (turbine_SAMPLE_TIME0 / turbine_P.Ti);
  }

  /* Lookup_n-D: '<S1>/Characteristic' */
  turbine_B.opening = turbine_Opening(turbine_B.steam_demand);
}

/* Model step function for TID0 */
void turbine_step0(void)               /* Sample time: [0.01s, 0.0s] */
{
  real_T load_reference;
  boolean_T reset;
  if (!isfinite(turbine_U.speed) || !isfinite(turbine_U.power)) {
    turbine_Y.trip = true;
    turbine_Y.valve = 0.0;
    rtmSetErrorStatus(turbine_M, "speed or power is not a number");
    return;
  }

  /* RateTransition: '<Root>/RateTransition1' and the others, when the slow rate is due */
  if (turbine_M->Timing.TaskCounters.TID[1] == 0U) {
    turbine_DW.slow_speed = turbine_U.speed;
    turbine_DW.slow_power = turbine_U.power;
    turbine_DW.slow_state = turbine_DW.state;
  }

  /* RateTransition: '<Root>/RateTransition' */
  load_reference = turbine_DW.load_buffer[turbine_DW.load_active];

  /* Chart: '<S1>/State' */
  reset = (boolean_T)(turbine_U.reset && (!turbine_DW.reset_before));
  turbine_DW.reset_before = turbine_U.reset;
  turbine_State_step(reset);
  if ((turbine_DW.state == turbine_State_RunUp) || (turbine_DW.state == turbine_State_Running)) {
    turbine_Governor(load_reference);
  } else {
    turbine_DW.integral = 0.0;
    turbine_B.deviation = 0.0;
    turbine_B.steam_demand = 0.0;
    turbine_B.opening = 0.0;
  }

  /* RateLimiter: '<S1>/RateLimiter' */
  turbine_DW.valve += turbine_Clamp(turbine_B.opening - turbine_DW.valve,
    -turbine_P.ClosingRate * turbine_SAMPLE_TIME0, turbine_P.OpeningRate * turbine_SAMPLE_TIME0);

  /* Outport: '<Root>/valve' and the others */
  turbine_Y.valve = turbine_DW.valve;
  turbine_Y.trip = (boolean_T)(turbine_DW.state == turbine_State_Tripped);
  turbine_Y.state = turbine_DW.state;
  turbine_Y.load_reference = load_reference;
  rate_monotonic_scheduler();
}

/* Model step function for TID1 */
void turbine_step1(void)               /* Sample time: [0.1s, 0.0s] */
{
  real_T change;
  int8_T idle;

  /* Sum: '<S2>/Sum' */
  if (turbine_DW.slow_state != turbine_State_Running) {
    turbine_B.load_error = 0.0;
    turbine_DW.load_reference = 0.0;
    change = 0.0;
  } else if (turbine_U.grid) {
    turbine_B.load_error = (turbine_P.TargetPower - turbine_DW.slow_power) / turbine_P.RatedPower;
    change = turbine_P.PowerGain * turbine_B.load_error;
  } else {
    turbine_B.load_error = (turbine_P.RatedSpeed - turbine_DW.slow_speed) / turbine_P.RatedSpeed;
    change = turbine_P.SpeedGain * turbine_B.load_error;
  }

  /* DiscreteIntegrator: '<S2>/Integrator' */
  change = turbine_Clamp(change, -turbine_P.LoadRate, turbine_P.LoadRate) * turbine_SAMPLE_TIME1;
  turbine_DW.load_reference = turbine_Clamp(turbine_DW.load_reference + change, 0.0, 1.0);

  /* RateTransition: '<Root>/RateTransition' */
  idle = (int8_T)(turbine_DW.load_active == 0);
  turbine_DW.load_buffer[idle] = turbine_DW.load_reference;
  turbine_DW.load_active = idle;
}

/* Model initialize function */
void turbine_initialize(void)
{
  /* initialize error status */
  rtmSetErrorStatus(turbine_M, (const char_T *)0);

  /* the slow rate is due with the first sample */
  turbine_M->Timing.TaskCounters.TID[0] = 0U;
  turbine_M->Timing.TaskCounters.TID[1] = 0U;

  /* block signals, states, external inputs and outputs */
  (void) memset((void *)&turbine_B, 0, sizeof(B_turbine_T));
  (void) memset((void *)&turbine_DW, 0, sizeof(DW_turbine_T));
  (void) memset((void *)&turbine_U, 0, sizeof(ExtU_turbine_T));
  (void) memset((void *)&turbine_Y, 0, sizeof(ExtY_turbine_T));
}

/* Model terminate function */
void turbine_terminate(void)
{
  /* (no terminate code required) */
}

/*
 * File trailer for turbine.c
 *
 * [EOF]
 */
