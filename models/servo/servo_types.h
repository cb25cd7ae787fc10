/*
 * File: servo_types.h
 *
 * Types of the model 'servo'.
 */

#ifndef servo_types_h_
#define servo_types_h_
#include "rtwtypes.h"

/*
 * Variant control: where another program commands the axis through the channels 'setpoint'
 * (target, velocity), 'actual' (position, in_position) and 'alarm' (reason).
 */
#if defined(ComConf_ComSignal_setpoint_target) && defined(ComConf_ComSignal_setpoint_velocity) && \
  defined(ComConf_ComSignal_actual_position) && defined(ComConf_ComSignal_actual_in_position) && \
  defined(ComConf_ComSignal_alarm_reason)
#define servo_COMMANDED                (1)
#else
#define servo_COMMANDED                (0)
#endif

#ifndef DEFINED_TYPEDEF_FOR_servo_State_
#define DEFINED_TYPEDEF_FOR_servo_State_

/* What the axis is doing. */
typedef enum {
  servo_State_Disabled = 0,            /* Default value */
  servo_State_Referencing = 1,
  servo_State_Following = 2,
  servo_State_Fault = 3
} servo_State;

#endif

#ifndef DEFINED_TYPEDEF_FOR_servo_Reason_
#define DEFINED_TYPEDEF_FOR_servo_Reason_

/* Why the axis is in the state Fault. */
typedef enum {
  servo_Reason_None = 0,               /* Default value */
  servo_Reason_Drive = 1,
  servo_Reason_FollowingError = 2,
  servo_Reason_NoReference = 3
} servo_Reason;

#endif

/* Parameters (default storage) */
typedef struct P_servo_T_ P_servo_T;

/* Forward declaration for rtModel */
typedef struct tag_RTM_servo_T RT_MODEL_servo_T;

#endif                                 /* servo_types_h_ */
