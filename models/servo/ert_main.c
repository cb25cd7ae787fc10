/*
 * File: ert_main.c
 *
 * An example of a main program for the model 'servo': a timer interrupt would call rt_OneStep.
 * A platform that runs the model brings its own main and leaves this file out.
 */

#include <stddef.h>
#include <stdio.h>
#include "servo.h"

void rt_OneStep(void);
void rt_OneStep(void)
{
  static boolean_T is_running = false;

  /* The step before is not done: that is an overrun. */
  if (is_running) {
    rtmSetErrorStatus(servo_M, "Overrun");
    return;
  }

  is_running = true;

  /* Set the inputs in servo_U here. */
  servo_step();

  /* Take the outputs from servo_Y here. */
  is_running = false;
}

int_T main(int_T argc, const char *argv[])
{
  UNUSED_PARAMETER(argc);
  UNUSED_PARAMETER(argv);
  servo_initialize();
  printf("Attach rt_OneStep to a timer of 1 ms.\n");
  fflush((NULL));
  while (rtmGetErrorStatus(servo_M) == (NULL)) {
    /* Other work goes here. */
    rt_OneStep();
  }

  servo_terminate();
  return 0;
}
