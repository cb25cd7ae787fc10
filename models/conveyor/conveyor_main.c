/*
 * File: conveyor_main.c
 *
 * The conveyor as a program of its own. A partition brings what drives the kernel, and leaves this
 * file out.
 */

#include "os.h"

int main(void);
int main(void)
{
  StartOS(Normal);
  return 0;
}
