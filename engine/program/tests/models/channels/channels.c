/* Sends what it received, plus one, through the channels of its partition. Written for the tests. */
#include "Com.h"

uint8_t channels_Result = 0xFFU;

void channels_initialize(void)
{
}

void channels_step(void)
{
  double value = 0.0;

  channels_Result = Com_ReceiveSignal(3U, &value);
  value += 1.0;
  if (channels_Result == E_OK) {
    channels_Result = Com_SendSignal(4U, &value);
  }
}
