/*
 * File: turbine_types.h
 *
 * Types of the model 'turbine'.
 */

#ifndef turbine_types_h_
#define turbine_types_h_
#include "rtwtypes.h"
#ifndef DEFINED_TYPEDEF_FOR_turbine_State_
#define DEFINED_TYPEDEF_FOR_turbine_State_

/* What the governor is doing. */
typedef enum {
  turbine_State_Stopped = 0,           /* Default value */
  turbine_State_RunUp = 1,
  turbine_State_Running = 2,
  turbine_State_Tripped = 3
} turbine_State;

#endif

/* Parameters (default storage) */
typedef struct P_turbine_T_ P_turbine_T;

/* Forward declaration for rtModel */
typedef struct tag_RTM_turbine_T RT_MODEL_turbine_T;

#endif                                 /* turbine_types_h_ */
