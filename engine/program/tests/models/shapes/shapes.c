#include "shapes.h"

DW_shapes_T shapes_DW;
const real_T shapes_table[2] = { 1.25, -2.5 };
static uint32_T gain = 3U;
static uint32_T only_here = 11U;

void shapes_step(void)
{
  static uint32_T calls;
  uint32_T index = calls % 3U;

  calls++;
  shapes_DW.channels[index].Gain += shapes_table[0];
  shapes_DW.matrix[1][index] += 1.0F;
  shapes_DW.mode = Mode_Following;
  shapes_DW.phase = index + 5U;
  shapes_DW.error = -5;
  shapes_DW.overlay.word = gain + only_here + other_gain();
  shapes_DW.ticks--;
  shapes_DW.flag = (calls > 1U);
  shapes_DW.selected = &shapes_DW.channels[index];
  shapes_DW.name[0] = 'q';
}

void shapes_initialize(void)
{
  shapes_DW.ready = 1U;
}
