/*
 * File: setpoint_types.h
 *
 * Types of the model 'setpoint'.
 */

#ifndef setpoint_types_h_
#define setpoint_types_h_
#include "rtwtypes.h"

/* Parameters (default storage) */
typedef struct P_setpoint_T_ P_setpoint_T;

/* Forward declaration for rtModel */
typedef struct tag_RTM_setpoint_T RT_MODEL_setpoint_T;

#endif                                 /* setpoint_types_h_ */
