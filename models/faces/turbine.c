/*
 * File: turbine.c
 *
 * The model 'turbine' as the tests call it: numbers in, numbers out. See src/controller.rs.
 */

#include "turbine.h"

void turbine_face_start(void);
void turbine_face_tune(uint32_t parameter, double value);
const char *turbine_face_cycle(const double *inputs, double *outputs);

static uint32_t turbine_face_cycles;

void turbine_face_start(void)
{
  static P_turbine_T initial;
  static boolean_T is_kept = false;

  /* Parameters are not set by the model's own initialize function. */
  if (!is_kept) {
    initial = turbine_P;
    is_kept = true;
  }

  turbine_P = initial;
  turbine_face_cycles = 0U;
  turbine_initialize();
}

void turbine_face_tune(uint32_t parameter, double value)
{
  switch (parameter) {
   case 0:
    turbine_P.Start = (boolean_T)(value != 0.0);
    break;

   case 1:
    turbine_P.TargetPower = value;
    break;

   default:
    turbine_P.Kp = value;
    break;
  }
}

const char *turbine_face_cycle(const double *inputs, double *outputs)
{
  turbine_U.speed = inputs[0];
  turbine_U.power = inputs[1];
  turbine_U.valve_position = inputs[2];
  turbine_U.grid = (boolean_T)(inputs[3] != 0.0);
  turbine_U.reset = (boolean_T)(inputs[4] != 0.0);
  turbine_step0();
  if (turbine_face_cycles % 10U == 0U) {
    turbine_step1();
  }

  turbine_face_cycles++;
  outputs[0] = turbine_Y.valve;
  outputs[1] = turbine_Y.trip;
  outputs[2] = turbine_Y.load_reference;
  outputs[3] = turbine_Y.state;
  return rtmGetErrorStatus(turbine_M);
}
