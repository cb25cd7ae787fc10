/*
 * File: ert_main.c
 *
 * An example of a main program for the model 'tank': a timer interrupt would call rt_OneStep.
 * A platform that runs the model brings its own main and leaves this file out.
 */

#include <stddef.h>
#include <stdio.h>
#include "tank.h"

void rt_OneStep(void);
void rt_OneStep(void)
{
  static boolean_T is_running = false;

  /* The step before is not done: that is an overrun. */
  if (is_running) {
    rtmSetErrorStatus(rtM, "Overrun");
    return;
  }

  is_running = true;

  /* Set the inputs in rtU here. */
  tank_step();

  /* Take the outputs from rtY here. */
  is_running = false;
}

int_T main(int_T argc, const char *argv[])
{
  UNUSED_PARAMETER(argc);
  UNUSED_PARAMETER(argv);
  tank_initialize();
  printf("Attach rt_OneStep to a timer of 100 ms.\n");
  fflush((NULL));
  while (rtmGetErrorStatus(rtM) == (NULL)) {
    /* Other work goes here. */
    rt_OneStep();
  }

  return 0;
}
