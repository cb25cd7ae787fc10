/*
 * File: ert_main.c
 *
 * An example of a main program for the model 'setpoint': a timer interrupt would call rt_OneStep.
 * A platform that runs the model brings its own main and leaves this file out.
 */

#include <stddef.h>
#include <stdio.h>
#include "Com.h"
#include "setpoint.h"

/* Without a loader there is nobody to talk to. */
const struct quietcore_services *quietcore_services_given = NULL;

void rt_OneStep(void);
void rt_OneStep(void)
{
  static boolean_T is_running = false;

  /* The step before is not done: that is an overrun. */
  if (is_running) {
    rtmSetErrorStatus(setpoint_M, "Overrun");
    return;
  }

  is_running = true;
  setpoint_step();
  is_running = false;
}

int_T main(int_T argc, const char *argv[])
{
  UNUSED_PARAMETER(argc);
  UNUSED_PARAMETER(argv);
  setpoint_initialize();
  printf("Attach rt_OneStep to a timer of 10 ms.\n");
  fflush((NULL));
  while (rtmGetErrorStatus(setpoint_M) == (NULL)) {
    /* Other work goes here. */
    rt_OneStep();
  }

  setpoint_terminate();
  return 0;
}
