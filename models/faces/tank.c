/*
 * File: tank.c
 *
 * The model 'tank' as the tests call it: numbers in, numbers out. See src/controller.rs.
 */

#include "tank.h"

void tank_face_start(void);
void tank_face_tune(uint32_t parameter, double value);
const char *tank_face_cycle(const double *inputs, double *outputs);

void tank_face_start(void)
{
  static P initial;
  static boolean_T is_kept = false;

  /* Parameters are not set by the model's own initialize function. */
  if (!is_kept) {
    initial = rtP;
    is_kept = true;
  }

  rtP = initial;
  tank_initialize();
}

void tank_face_tune(uint32_t parameter, double value)
{
  switch (parameter) {
   case 0:
    rtP.Run = (boolean_T)(value != 0.0);
    break;

   case 1:
    rtP.Setpoint = value;
    break;

   default:
    rtP.Kp = value;
    break;
  }
}

const char *tank_face_cycle(const double *inputs, double *outputs)
{
  rtU.level = inputs[0];
  rtU.outflow = inputs[1];
  rtU.pump_speed = inputs[2];
  rtU.full = (boolean_T)(inputs[3] != 0.0);
  tank_step();
  outputs[0] = rtY.pump;
  outputs[1] = rtY.state;
  outputs[2] = rtY.alarm;
  outputs[3] = rtDW.setpoint;
  return rtmGetErrorStatus(rtM);
}
