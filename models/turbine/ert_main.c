/*
 * File: ert_main.c
 *
 * An example of a main program for the model 'turbine': a timer interrupt would call rt_OneStep.
 * A platform that runs the model brings its own main and leaves this file out.
 */

#include <stddef.h>
#include <stdio.h>
#include "turbine.h"

void rt_OneStep(void);
void rt_OneStep(void)
{
  static boolean_T is_running[2] = { false, false };
  static uint8_T count = 0U;
  boolean_T is_due;

  /* The fast step before is not done: that is an overrun. */
  if (is_running[0]) {
    rtmSetErrorStatus(turbine_M, "Overrun");
    return;
  }

  is_running[0] = true;

  /* Set the inputs in turbine_U here. */
  is_due = (boolean_T)(count == 0U);
  count = (uint8_T)((count + 1U) % 10U);
  turbine_step0();

  /* Take the outputs from turbine_Y here. */
  is_running[0] = false;

  /* From here on the next interrupt may come in. */
  if (is_due) {
    if (is_running[1]) {
      rtmSetErrorStatus(turbine_M, "Overrun");
      return;
    }

    is_running[1] = true;
    turbine_step1();
    is_running[1] = false;
  }
}

int_T main(int_T argc, const char *argv[])
{
  UNUSED_PARAMETER(argc);
  UNUSED_PARAMETER(argv);
  turbine_initialize();
  printf("Attach rt_OneStep to a timer of 10 ms.\n");
  fflush((NULL));
  while (rtmGetErrorStatus(turbine_M) == (NULL)) {
    /* Other work goes here. */
    rt_OneStep();
  }

  turbine_terminate();
  return 0;
}
