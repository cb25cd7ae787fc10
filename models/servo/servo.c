/*
 * File: servo.c
 *
 * Position control of one servo axis behind a CiA 402 drive.
 *
 *   strokes or target -> profile -> smoothing -> position P -> velocity PI -> notch -> torque
 *                                      |  feed-forward of velocity, inertia and friction  ^
 *                                      +--------------------------------------------------+
 *
 * The demand is compared with the reading two samples after it was computed: that is how long it
 * takes to the drive and back, so the error that is controlled holds no dead time.
 */

#include "servo.h"
#include "rtwtypes.h"
#include <math.h>
#include <string.h>
#include "servo_private.h"
#if servo_COMMANDED
#include "Com.h"
#endif

/* Block signals (default storage) */
B_servo_T servo_B;

/* Block states (default storage) */
DW_servo_T servo_DW;

/* External inputs (root inport signals with default storage) */
ExtU_servo_T servo_U;

/* External outputs (root outports fed by signals with default storage) */
ExtY_servo_T servo_Y;

/* Real-time model */
static RT_MODEL_servo_T servo_M_;
RT_MODEL_servo_T *const servo_M = &servo_M_;

/* Forward declaration for local functions */
static real_T servo_Limit(real_T value, real_T limit);
static void servo_Stand(void);
static uint16_T servo_Command(uint16_T statusword, boolean_T reset);
static void servo_Fail(servo_Reason reason);
static real_T servo_Target(void);
static void servo_Profile(real_T target);
static void servo_Seek(void);
static void servo_Smoothing(void);
static real_T servo_Position(void);
static real_T servo_Velocity(real_T velocity_setpoint);
static void servo_State_step(boolean_T is_operational, boolean_T is_fault, boolean_T reset);
#if servo_COMMANDED
static void servo_Receive(void);
static void servo_Send(void);
#endif

/* The value, but no further from zero than the limit. */
static real_T servo_Limit(real_T value, real_T limit)
{
  if (value > limit) {
    value = limit;
  } else if (value < -limit) {
    value = -limit;
  }

  return value;
}

/* Takes the present position as the demand, without any motion. */
static void servo_Stand(void)
{
  int32_T i;
  servo_DW.position = servo_B.position;
  servo_DW.velocity = 0.0;
  servo_DW.demand = servo_B.position;
  for (i = 0; i < servo_FILTER_LENGTH; i++) {
    servo_DW.filter[i] = 0.0;
  }

  for (i = 0; i < 2; i++) {
    servo_DW.position_delay[i] = servo_B.position;
    servo_DW.velocity_delay[i] = 0.0;
    servo_DW.notch[i] = 0.0;
  }

  servo_DW.integral = 0.0;
  servo_DW.dwell = 0U;
  servo_B.velocity_demand = 0.0;
  servo_B.acceleration_demand = 0.0;
}

/* The command that brings the drive one step nearer to 'operation enabled', or away from it. */
static uint16_T servo_Command(uint16_T statusword, boolean_T reset)
{
  uint16_T command;
  if ((statusword & servo_STATUS_MASK_FAULT) == servo_STATUS_FAULT) {
    command = (uint16_T)(reset ? servo_CONTROL_RESET : servo_CONTROL_NOTHING);
  } else if ((!servo_P.Enable) || (servo_DW.state == servo_State_Fault)) {
    command = servo_CONTROL_SHUTDOWN;
  } else {
    switch (statusword & servo_STATUS_MASK) {
     case servo_STATUS_READY:
      command = servo_CONTROL_SWITCH_ON;
      break;

     case servo_STATUS_SWITCHED_ON:
     case servo_STATUS_OPERATION:
      command = servo_CONTROL_OPERATION;
      break;

     default:
      command = servo_CONTROL_SHUTDOWN;
      break;
    }
  }

  return command;
}

static void servo_Fail(servo_Reason reason)
{
  servo_DW.state = servo_State_Fault;
  servo_DW.reason = reason;
  servo_DW.fault_age = 0U;
  servo_DW.is_resetting = false;
}

#if servo_COMMANDED
/* The command of another program; the last good one holds where it is overdue or no number. */
static void servo_Receive(void)
{
  real_T target;
  real_T velocity;
  target = servo_B.commanded_target;
  velocity = servo_B.commanded_velocity;
  servo_B.command_status = Com_ReceiveSignalGroup(ComConf_ComSignalGroup_setpoint);
  (void) Com_ReceiveSignal(ComConf_ComSignal_setpoint_target, &target);
  (void) Com_ReceiveSignal(ComConf_ComSignal_setpoint_velocity, &velocity);
  if (isfinite(target) && isfinite(velocity)) {
    servo_B.commanded_target = target;
    servo_B.commanded_velocity = fabs(velocity);
  }
}

/* Where the axis is, in each sample; why it failed, once each time. */
static void servo_Send(void)
{
  uint8_T reason;
  (void) Com_SendSignal(ComConf_ComSignal_actual_position, &servo_B.position);
  (void) Com_SendSignal(ComConf_ComSignal_actual_in_position, &servo_Y.in_position);
  (void) Com_SendSignalGroup(ComConf_ComSignalGroup_actual);
  if (servo_DW.reason != servo_B.told_reason) {
    reason = (uint8_T)servo_DW.reason;
    if ((servo_DW.reason == servo_Reason_None) || (Com_SendDynSignal
         (ComConf_ComSignal_alarm_reason, &reason, (uint16_T)sizeof(reason)) == E_OK)) {
      servo_B.told_reason = servo_DW.reason;
    }
  }
}
#endif

/* Where the axis shall go: where it is told, to and fro by itself, or where the input says. */
static real_T servo_Target(void)
{
#if servo_COMMANDED
  return servo_B.commanded_target;
#else
  real_T target;
  target = servo_U.target;
  if (servo_P.Automatic) {
    target = servo_DW.is_far ? servo_P.Stroke : 0.0;
    if (servo_DW.demand == target) {
      servo_DW.dwell++;
      if ((real_T)servo_DW.dwell * servo_SAMPLE_TIME >= servo_P.Dwell) {
        servo_DW.dwell = 0U;
        servo_DW.is_far = (boolean_T)!servo_DW.is_far;
      }
    } else {
      servo_DW.dwell = 0U;
    }
  }

  return target;
#endif
}

/* The fastest way to the target within the limits, sample by sample. */
static void servo_Profile(real_T target)
{
  real_T distance;
  real_T change;
  real_T velocity;
  change = servo_P.AccelerationLimit * servo_SAMPLE_TIME;
  distance = target - servo_DW.position;

  /* The velocity from which whole samples of braking end at the target. */
  velocity = change * (sqrt(0.25 + 2.0 * fabs(distance) / (change * servo_SAMPLE_TIME)) - 0.5);
  velocity = servo_Limit(velocity, servo_P.VelocityLimit);
#if servo_COMMANDED
  velocity = servo_Limit(velocity, servo_B.commanded_velocity);
#endif
  velocity = servo_Limit(velocity, fabs(distance) / servo_SAMPLE_TIME);
  if (distance < 0.0) {
    velocity = -velocity;
  }

  velocity = servo_DW.velocity + servo_Limit(velocity - servo_DW.velocity, change);
  if (fabs(distance - velocity * servo_SAMPLE_TIME) < 1.0E-9) {
    servo_DW.position = target;
  } else {
    servo_DW.position += velocity * servo_SAMPLE_TIME;
  }

  servo_DW.velocity = velocity;
}

/* Moves slowly until the reference switch changes: upwards out of it, downwards into it. */
static void servo_Seek(void)
{
  real_T velocity;
  real_T change;
  if (!servo_P.UseSwitch) {
    servo_DW.offset = servo_U.position;
    servo_DW.is_referenced = true;
  } else if (servo_U.reference_switch != servo_DW.switch_before) {
    servo_DW.offset = servo_U.position;
    servo_DW.is_referenced = true;
  } else if (fabs(servo_DW.position - servo_DW.reference_start) > servo_P.ReferenceRange) {
    servo_Fail(servo_Reason_NoReference);
  } else {
    velocity = servo_U.reference_switch ? servo_P.ReferenceVelocity :
      -servo_P.ReferenceVelocity;
    change = servo_P.AccelerationLimit * servo_SAMPLE_TIME;
    servo_DW.velocity += servo_Limit(velocity - servo_DW.velocity, change);
    servo_DW.position += servo_DW.velocity * servo_SAMPLE_TIME;
  }
}

/* Mean of the last velocities: the acceleration changes gradually, the way stays the same. */
static void servo_Smoothing(void)
{
  real_T mean;
  int32_T i;
  boolean_T is_still;
  servo_DW.filter[servo_DW.filter_index] = servo_DW.velocity;
  servo_DW.filter_index = (uint8_T)((servo_DW.filter_index + 1U) % servo_FILTER_LENGTH);
  mean = 0.0;
  is_still = true;
  for (i = 0; i < servo_FILTER_LENGTH; i++) {
    mean += servo_DW.filter[i];
    is_still = (boolean_T)(is_still && (servo_DW.filter[i] == 0.0));
  }

  mean /= (real_T)servo_FILTER_LENGTH;
  servo_B.acceleration_demand = (mean - servo_B.velocity_demand) / servo_SAMPLE_TIME;
  servo_B.velocity_demand = mean;

  /* At rest the rounding of the mean is taken back. */
  servo_DW.demand = is_still ? servo_DW.position : servo_DW.demand + mean * servo_SAMPLE_TIME;
}

/* Position controller; returns the velocity setpoint. */
static real_T servo_Position(void)
{
  real_T velocity_setpoint;
  servo_Y.following_error = servo_DW.position_delay[1] - servo_B.position;
  velocity_setpoint = servo_P.Kv * servo_Y.following_error;

  /* The drive's own velocity loop gets the demand as early as the axis shall follow it. */
  velocity_setpoint += servo_P.Mode == servo_MODE_CST ? servo_DW.velocity_delay[1] :
    servo_B.velocity_demand;
  servo_DW.position_delay[1] = servo_DW.position_delay[0];
  servo_DW.position_delay[0] = servo_DW.demand;
  servo_DW.velocity_delay[1] = servo_DW.velocity_delay[0];
  servo_DW.velocity_delay[0] = servo_B.velocity_demand;
  return velocity_setpoint;
}

/* Velocity controller with notch filter and limit; returns the torque. */
static real_T servo_Velocity(real_T velocity_setpoint)
{
  real_T state;
  real_T torque;
  real_T wanted;
  servo_B.velocity_error = velocity_setpoint - servo_U.velocity;
  wanted = servo_P.Kp * servo_B.velocity_error + servo_DW.integral;
  state = wanted - servo_P.NotchDenominator[0] * servo_DW.notch[0] -
    servo_P.NotchDenominator[1] * servo_DW.notch[1];
  servo_B.torque_free = servo_P.NotchNumerator[0] * state + servo_P.NotchNumerator[1] *
    servo_DW.notch[0] + servo_P.NotchNumerator[2] * servo_DW.notch[1] + servo_B.feed_forward;
  servo_DW.notch[1] = servo_DW.notch[0];
  servo_DW.notch[0] = state;
  torque = servo_Limit(servo_B.torque_free, servo_P.TorqueLimit);

  /* The integrator stands still while it would drive the torque further into its limit. */
  servo_B.is_saturated = (boolean_T)(torque != servo_B.torque_free);
  if ((!servo_B.is_saturated) || (servo_B.velocity_error * servo_B.torque_free < 0.0)) {
    servo_DW.integral += servo_P.Kp * servo_B.velocity_error * (servo_SAMPLE_TIME / servo_P.Ti);
    servo_DW.integral = servo_Limit(servo_DW.integral, servo_P.TorqueLimit);
  }

  return torque;
}

/* The states of the axis. */
static void servo_State_step(boolean_T is_operational, boolean_T is_fault, boolean_T reset)
{
  switch (servo_DW.state) {
   case servo_State_Disabled:
    servo_Stand();
    if (is_fault) {
      servo_Fail(servo_Reason_Drive);
    } else if (servo_P.Enable && is_operational) {
      servo_DW.state = servo_DW.is_referenced ? servo_State_Following : servo_State_Referencing;
      servo_DW.reference_start = servo_DW.position;
    }
    break;

   case servo_State_Referencing:
    servo_Seek();
    if (servo_DW.is_referenced) {
      servo_B.position = servo_U.position - servo_DW.offset;
      servo_Stand();
      servo_DW.state = servo_State_Following;
    }
    break;

   case servo_State_Following:
    servo_Profile(servo_Target());
    break;

   default:
    servo_Stand();
    servo_DW.fault_age++;
    if (reset || (servo_P.AutoReset && ((real_T)servo_DW.fault_age * servo_SAMPLE_TIME >=
          servo_P.FaultWait))) {
      servo_DW.fault_age = 0U;
      servo_DW.is_resetting = true;
    }

    if (servo_DW.is_resetting && (!is_fault)) {
      servo_DW.state = servo_State_Disabled;
      servo_DW.reason = servo_Reason_None;
    }
    break;
  }

  if ((servo_DW.state == servo_State_Referencing) || (servo_DW.state == servo_State_Following))
  {
    if (is_fault) {
      servo_Fail(servo_Reason_Drive);
    } else if (!is_operational || !servo_P.Enable) {
      servo_DW.state = servo_State_Disabled;
    }
  }
}

/* Model step function */
void servo_step(void)
{
  real_T friction;
  uint16_T status;
  boolean_T is_fault;
  boolean_T is_operational;
  boolean_T reset;
  if (!isfinite(servo_U.position) || !isfinite(servo_U.velocity)) {
    rtmSetErrorStatus(servo_M, "position or velocity is not a number");
    return;
  }

  /* Sum: '<S1>/Offset' */
  servo_B.position = servo_U.position - servo_DW.offset;

#if servo_COMMANDED
  servo_Receive();
#endif

  /* Chart: '<S1>/State' */
  status = (uint16_T)(servo_U.statusword & servo_STATUS_MASK_FAULT);
  is_fault = (boolean_T)((status == servo_STATUS_FAULT) || (status == servo_STATUS_REACTION));
  is_operational = (boolean_T)(((servo_U.statusword & servo_STATUS_MASK) ==
    servo_STATUS_OPERATION) && (servo_U.mode_display == servo_P.Mode));
  reset = (boolean_T)(servo_U.reset && (!servo_DW.reset_before));
  servo_DW.reset_before = servo_U.reset;
  servo_State_step(is_operational, is_fault, reset);
  servo_DW.switch_before = servo_U.reference_switch;

  /* The edge that resets the drive: off while waiting, then on for some samples. */
  servo_Y.controlword = servo_Command(servo_U.statusword, (boolean_T)(servo_DW.is_resetting &&
    (servo_DW.fault_age < servo_RESET_LENGTH)));
  servo_Y.mode = servo_P.Mode;
  if ((servo_DW.state == servo_State_Referencing) || (servo_DW.state == servo_State_Following))
  {
    servo_Smoothing();

    /* Sum: '<S4>/FeedForward' */
    friction = servo_Limit(servo_B.velocity_demand, 1.0) * servo_P.Friction +
      servo_B.velocity_demand * servo_P.Viscous;
    servo_B.feed_forward = servo_P.Inertia * servo_B.acceleration_demand + friction;
    servo_B.velocity_setpoint = servo_Position();
    servo_Y.velocity = servo_Limit(servo_B.velocity_setpoint, 1.2 * servo_P.VelocityLimit);
    if (servo_P.Mode == servo_MODE_CST) {
      servo_Y.torque = servo_Velocity(servo_B.velocity_setpoint);
    } else {
      servo_Y.torque = servo_Limit(servo_B.feed_forward, servo_P.TorqueLimit);
    }

    /* RelationalOperator: '<S1>/ErrorLimit' */
    if (fabs(servo_Y.following_error) > servo_P.ErrorLimit) {
      servo_Fail(servo_Reason_FollowingError);
    }
  }

  if ((servo_DW.state == servo_State_Disabled) || (servo_DW.state == servo_State_Fault)) {
    servo_Y.torque = 0.0;
    servo_Y.velocity = 0.0;
    servo_Y.following_error = 0.0;
  }

  /* Outport: '<Root>/demand' and the others */
  servo_Y.demand = servo_DW.demand;
  servo_Y.state = servo_DW.state;
  servo_Y.reason = servo_DW.reason;
  servo_Y.in_position = (boolean_T)((servo_DW.state == servo_State_Following) &&
    (servo_B.velocity_demand == 0.0) && (fabs(servo_Y.following_error) < servo_P.Window));
#if servo_COMMANDED
  servo_Send();
#endif
}

/* Model initialize function */
void servo_initialize(void)
{
  /* initialize error status */
  rtmSetErrorStatus(servo_M, (const char_T *)0);

  /* block signals, states, external inputs and outputs */
  (void) memset((void *)&servo_B, 0, sizeof(B_servo_T));
  (void) memset((void *)&servo_DW, 0, sizeof(DW_servo_T));
  (void) memset((void *)&servo_U, 0, sizeof(ExtU_servo_T));
  (void) memset((void *)&servo_Y, 0, sizeof(ExtY_servo_T));
}

/* Model terminate function */
void servo_terminate(void)
{
  /* (no terminate code required) */
}

/*
 * File trailer for servo.c
 *
 * [EOF]
 */
