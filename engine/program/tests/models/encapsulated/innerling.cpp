#include "innerling.h"

void innerlingModelClass::initialize()
{
  innerling_limit = 1000.0;
}

void innerlingModelClass::step(const real_T *rtu_In1, real_T *rty_Out1)
{
  *rty_Out1 = *rtu_In1 < innerling_limit ? *rtu_In1 : innerling_limit;
}
