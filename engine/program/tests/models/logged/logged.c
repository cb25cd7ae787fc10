/* A model that logs its outputs, with the tables of older and, where FUNCTIONS, of newer releases. Written
   for the tests. */
#include <stddef.h>
#include "rtwtypes.h"
#include "rt_logging.h"

int64_T logged_Y;
cint64_T logged_pair;

void logged_initialize(void)
{
  static RTWLogInfo rt_DataLoggingInfo;
  static int_T rt_LoggedOutputWidths[] = { 1 };
  static boolean_T rt_LoggedOutputIsVarDims[] = { 0 };
  static BuiltInDTypeId rt_LoggedOutputDataTypeIds[] = { SS_DOUBLE };
  static const char_T *rt_LoggedOutputLabels[] = { "" };
  static RTWLogDataTypeConvert rt_RTWLogDataTypeConvert[] = {
    { 0, SS_DOUBLE, SS_DOUBLE, 0, 0, 0, 1.0, 0, 0.0 }
  };
#ifdef FUNCTIONS
  static RTWPreprocessingFcnPtr rt_LoggingPreprocessingFcnPtrs[] = { (NULL) };
#endif
  static RTWLogSignalInfo rt_LoggedOutputSignalInfo[] = {
    {
      1,
      rt_LoggedOutputWidths,
      rt_LoggedOutputWidths,
      rt_LoggedOutputWidths,
      rt_LoggedOutputIsVarDims,
      (NULL),
      (NULL),
      rt_LoggedOutputDataTypeIds,
      rt_LoggedOutputWidths,
      (NULL),
#ifdef FUNCTIONS
      rt_LoggingPreprocessingFcnPtrs,
#endif
      { rt_LoggedOutputLabels },
      (NULL),
      (NULL),
      (NULL),
      { rt_LoggedOutputLabels },
      { (NULL) },
      (NULL),
      rt_RTWLogDataTypeConvert
    }
  };
  static void * rt_LoggedOutputSignalPtrs[1];

  rt_DataLoggingInfo.loggingInterval = (NULL);
  rt_LoggedOutputSignalPtrs[0] = &logged_Y;
  rtliSetLogYSignalInfo(&rt_DataLoggingInfo, rt_LoggedOutputSignalInfo);
  rtliSetLogYSignalPtrs(&rt_DataLoggingInfo, ((LogSignalPtrsType)rt_LoggedOutputSignalPtrs));
  rtliSetLogY(&rt_DataLoggingInfo, "yout");
}

void logged_step(void)
{
  logged_Y++;
}
