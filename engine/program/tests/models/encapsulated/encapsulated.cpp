#include "encapsulated.h"

void encapsulatedModelClass::step()
{
  static int32_T calls = 0;
  encapsulated_DW.Total += encapsulated_P.Gain * encapsulated_U.In1
    + encapsulated_P.Table[encapsulated_DW.Steps % 3];
  encapsulated_DW.Steps++;
  calls++;
  LimiterMDLOBJ1.step(&encapsulated_DW.Total, &encapsulated_Y.Out1);
  if (encapsulated_U.Reset) {
    encapsulated_M->errorStatus = "reset was asked for";
  }
}

void encapsulatedModelClass::initialize()
{
  (void) memset((void *)encapsulated_M, 0, sizeof(RT_MODEL_encapsulated_T));
  (void) memset((void *)&encapsulated_DW, 0, sizeof(DW_encapsulated_T));
  LimiterMDLOBJ1.initialize();
  encapsulated_DW.Total = 0.5;
}

void encapsulatedModelClass::terminate()
{
  encapsulated_Y.Out1 = -1.0;
}

encapsulatedModelClass::encapsulatedModelClass()
{
  static const P_encapsulated_T encapsulated_P_temp = { 2.0, { 1.0, 10.0, 100.0 } };
  encapsulated_P = encapsulated_P_temp;
  encapsulated_M = &encapsulated_M_;
}

encapsulatedModelClass::~encapsulatedModelClass()
{
}

RT_MODEL_encapsulated_T * encapsulatedModelClass::getRTM()
{
  return encapsulated_M;
}
