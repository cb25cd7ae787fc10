#include "spaced.h"

plant::spaced::P_spaced_T plant::spaced::spaced_P{
  0.5
};
