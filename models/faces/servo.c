/*
 * File: servo.c
 *
 * The model 'servo' as the tests call it: numbers in, numbers out. See src/controller.rs.
 */

#include "servo.h"

void servo_face_start(void);
void servo_face_tune(uint32_t parameter, double value);
const char *servo_face_cycle(const double *inputs, double *outputs);

void servo_face_start(void)
{
  static P_servo_T initial;
  static boolean_T is_kept = false;

  /* Parameters are not set by the model's own initialize function. */
  if (!is_kept) {
    initial = servo_P;
    is_kept = true;
  }

  servo_P = initial;
  servo_initialize();
}

void servo_face_tune(uint32_t parameter, double value)
{
  switch (parameter) {
   case 0:
    servo_P.Mode = (int8_T)value;
    break;

   case 1:
    servo_P.Automatic = (boolean_T)(value != 0.0);
    break;

   case 2:
    servo_P.UseSwitch = (boolean_T)(value != 0.0);
    break;

   case 3:
    servo_P.Enable = (boolean_T)(value != 0.0);
    break;

   case 4:
    servo_P.ErrorLimit = value;
    break;

   default:
    servo_P.Kp = value;
    break;
  }
}

const char *servo_face_cycle(const double *inputs, double *outputs)
{
  servo_U.position = inputs[0];
  servo_U.velocity = inputs[1];
  servo_U.torque = inputs[2];
  servo_U.statusword = (uint16_T)inputs[3];
  servo_U.mode_display = (int8_T)inputs[4];
  servo_U.reference_switch = (boolean_T)(inputs[5] != 0.0);
  servo_U.target = inputs[6];
  servo_U.reset = (boolean_T)(inputs[7] != 0.0);
  servo_step();
  outputs[0] = servo_Y.torque;
  outputs[1] = servo_Y.velocity;
  outputs[2] = servo_Y.controlword;
  outputs[3] = servo_Y.mode;
  outputs[4] = servo_Y.demand;
  outputs[5] = servo_Y.following_error;
  outputs[6] = servo_Y.state;
  outputs[7] = servo_Y.in_position;
  return rtmGetErrorStatus(servo_M);
}
