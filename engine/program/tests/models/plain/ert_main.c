/* A generator's example of a main; it is no part of the program. */
#include <stdio.h>
#include "plain.h"

#error this file must not be compiled

int_T main(int_T argc, const char *argv[])
{
  (void)(argc);
  (void)(argv);
  plain_initialize();
  while (rtmGetErrorStatus(plain_M) == (NULL)) {
    plain_step();
  }
  plain_terminate();
  return 0;
}
