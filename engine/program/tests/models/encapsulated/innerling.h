/* A model inside of the other one. */
#ifndef RTW_HEADER_innerling_h_
#define RTW_HEADER_innerling_h_
#include "rtwtypes.h"

class innerlingModelClass {
 public:
  void initialize();
  void step(const real_T *rtu_In1, real_T *rty_Out1);
  real_T innerling_limit;
};

#endif
