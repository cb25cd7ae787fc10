/*
 * File: servo_data.c
 *
 * Parameters of the model 'servo'.
 */

#include "servo.h"

/* Block parameters (default storage) */
P_servo_T servo_P = {
  /* Kv: a quarter of the velocity loop's bandwidth, or less
   * Referenced by: '<S3>/Kv'
   */
  60.0,

  /* Kp: both inertias at 270 rad/s
   * Referenced by: '<S4>/Kp'
   */
  0.065,

  /* Ti
   * Referenced by: '<S4>/Ti'
   */
  0.015,

  /* Inertia
   * Referenced by: '<S4>/Inertia'
   */
  2.4E-4,

  /* Friction
   * Referenced by: '<S4>/Friction'
   */
  0.12,

  /* Viscous
   * Referenced by: '<S4>/Viscous'
   */
  3.0E-4,

  /* TorqueLimit
   * Referenced by: '<S4>/Saturation'
   */
  7.0,

  /* NotchNumerator: damping 0.05 at 1780 rad/s
   * Referenced by: '<S4>/Notch'
   */
  { 0.7043721037988335, 0.2782860044117301, 0.6386770157541299 },

  /* NotchDenominator: damping 0.5 at 1780 rad/s
   * Referenced by: '<S4>/Notch'
   */
  { 0.2782860044117301, 0.3430491195529636 },

  /* VelocityLimit
   * Referenced by: '<S2>/Profile'
   */
  250.0,

  /* AccelerationLimit
   * Referenced by: '<S2>/Profile'
   */
  7000.0,

  /* ErrorLimit
   * Referenced by: '<S1>/ErrorLimit'
   */
  1.0,

  /* Window
   * Referenced by: '<S1>/Window'
   */
  0.005,

  /* Stroke: ten turns
   * Referenced by: '<S6>/Stroke'
   */
  62.83185307179586,

  /* Dwell
   * Referenced by: '<S6>/Dwell'
   */
  0.2,

  /* ReferenceVelocity
   * Referenced by: '<S5>/Velocity'
   */
  10.0,

  /* ReferenceRange
   * Referenced by: '<S5>/Range'
   */
  70.0,

  /* FaultWait
   * Referenced by: '<S1>/FaultWait'
   */
  0.5,

  /* Mode
   * Referenced by: '<S1>/Mode'
   */
  10,

  /* Enable
   * Referenced by: '<S1>/Enable'
   */
  true,

  /* AutoReset
   * Referenced by: '<S1>/AutoReset'
   */
  true,

  /* Automatic
   * Referenced by: '<S6>/Automatic'
   */
  true,

  /* UseSwitch
   * Referenced by: '<S5>/UseSwitch'
   */
  false
};

/*
 * File trailer for servo_data.c
 *
 * [EOF]
 */
