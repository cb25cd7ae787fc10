#include "plain.h"

P_plain_T plain_P = {
  2.0,

  { 0.0, 10.0, 20.0, 30.0 }
};
