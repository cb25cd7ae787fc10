#include "ext_types.h"

static uint_T rtDataTypeSizes[] = {
  sizeof(real_T),
  sizeof(fcn_call_T),
  sizeof(pointer_T),
  sizeof(action_T)
};

static const char_T * rtDataTypeNames[] = {
  "real_T",
  "fcn_call_T",
  "pointer_T",
  "action_T"
};

static DataTypeTransition rtBTransitions[] = {
  { (char_T *)(&external_Y), 0, 0, 1 }
};

static DataTypeTransitionTable rtBTransTable = {
  1U,
  rtBTransitions
};
