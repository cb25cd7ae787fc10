#include "shapes.h"

static uint32_T gain = 4U;

uint32_T other_gain(void)
{
  return gain;
}
