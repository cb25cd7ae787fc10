/* A model as a class, in the manner of releases from 2012 to 2019. Written for the tests. */
#ifndef RTW_HEADER_encapsulated_h_
#define RTW_HEADER_encapsulated_h_
#include <stddef.h>
#include <string.h>
#include "rtwtypes.h"
#include "innerling.h"

typedef struct tag_RTM_encapsulated_T RT_MODEL_encapsulated_T;

typedef struct {
  real_T Total;
  int32_T Steps;
} DW_encapsulated_T;

typedef struct {
  real_T In1;
  boolean_T Reset;
} ExtU_encapsulated_T;

typedef struct {
  real_T Out1;
} ExtY_encapsulated_T;

struct P_encapsulated_T_ {
  real_T Gain;
  real_T Table[3];
};

typedef struct P_encapsulated_T_ P_encapsulated_T;

struct tag_RTM_encapsulated_T {
  const char_T * volatile errorStatus;
};

class encapsulatedModelClass {
 public:
  ExtU_encapsulated_T encapsulated_U;
  ExtY_encapsulated_T encapsulated_Y;
  void initialize();
  void step();
  void terminate();
  encapsulatedModelClass();
  virtual ~encapsulatedModelClass();
  RT_MODEL_encapsulated_T * getRTM();

 private:
  P_encapsulated_T encapsulated_P;
  DW_encapsulated_T encapsulated_DW;
  innerlingModelClass LimiterMDLOBJ1;
  RT_MODEL_encapsulated_T encapsulated_M_;
  RT_MODEL_encapsulated_T *encapsulated_M;
};

#endif
