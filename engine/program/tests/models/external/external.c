/* A model with external mode, in the manner of releases up to 2020. Written for the tests. */
#include "external.h"
#include "external_dt.h"

real_T external_Y;
int8_T external_ran;
static RTWExtModeInfo rt_ExtModeInfo;

void external_initialize(void)
{
  static const sysRanDType rtAlwaysEnabled = SUBSYS_RAN_BC_ENABLE;
  static const sysRanDType *systemRan[2];
  static DataTypeTransInfo dtInfo;
  static const void *mapping;
  static uint32_T checksums[4];

  checksums[0] = (1U);
  rteiSetSubSystemActiveVectorAddresses(&rt_ExtModeInfo, systemRan);
  systemRan[0] = &rtAlwaysEnabled;
  systemRan[1] = (sysRanDType *)&external_ran;
  rteiSetModelMappingInfoPtr(&rt_ExtModeInfo, &mapping);
  rteiSetChecksumsPtr(&rt_ExtModeInfo, checksums);
  rteiSetTPtr(&rt_ExtModeInfo, &external_Y);
  mapping = &dtInfo;
  dtInfo.numDataTypes = 4;
  dtInfo.dataTypeSizes = &rtDataTypeSizes[0];
  dtInfo.dataTypeNames = &rtDataTypeNames[0];
  dtInfo.BTransTable = &rtBTransTable;
}

void external_step(void)
{
  srClearBC(external_ran);
  external_Y += 1.0;
  srUpdateBC(external_ran);
  rtExtModeUploadCheckTrigger(1);
  {
    rtExtModeUpload(0, external_Y);
  }
}
