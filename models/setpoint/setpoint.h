/*
 * File: setpoint.h
 *
 * Sends an axis from station to station, as an operator panel would. Fundamental sample time: 10 ms.
 * Quantities are in rad, rad/s and s, at the motor.
 *
 * Channels: 'setpoint' (target, velocity) goes out; 'actual' (position, in_position) and the queue
 * 'alarm' (reason) come in.
 */

#ifndef setpoint_h_
#define setpoint_h_
#ifndef setpoint_COMMON_INCLUDES_
#define setpoint_COMMON_INCLUDES_
#include "rtwtypes.h"
#endif                                 /* setpoint_COMMON_INCLUDES_ */

#include "setpoint_types.h"

/* Stations of the round */
#define setpoint_STATIONS              (4)

/* Macros for accessing real-time model data structure */
#ifndef rtmGetErrorStatus
#define rtmGetErrorStatus(rtm)         ((rtm)->errorStatus)
#endif

#ifndef rtmSetErrorStatus
#define rtmSetErrorStatus(rtm, val)    ((rtm)->errorStatus = (val))
#endif

/* Block signals (default storage) */
typedef struct {
  real_T position;                     /* '<S2>/Receive': rad, where the axis is */
  uint8_T status;                      /* '<S2>/Receive': 0 in time, 144 overdue */
  boolean_T in_position;               /* '<S2>/Receive': it stands where it shall */
} B_setpoint_T;

/* Block states (default storage) for system '<Root>' */
typedef struct {
  uint32_T dwell;                      /* '<S1>/Counter': samples at the station */
  uint32_T laps;                       /* '<S1>/Laps': rounds that were completed */
  uint32_T alarms;                     /* '<S3>/Counter': messages that have come */
  uint8_T station;                     /* '<S1>/Index' */
  uint8_T last_alarm;                  /* '<S3>/Receive': why the axis failed last */
} DW_setpoint_T;

/* External outputs (root outports fed by signals with default storage) */
typedef struct {
  real_T target;                       /* '<Root>/target': rad */
  real_T velocity;                     /* '<Root>/velocity': rad/s, the most on the way */
  boolean_T is_connected;              /* '<Root>/is_connected': the axis answers in time */
} ExtY_setpoint_T;

/* Parameters (default storage) */
struct P_setpoint_T_ {
  real_T Stations[setpoint_STATIONS];  /* '<S1>/Stations': rad */
  real_T Velocities[setpoint_STATIONS];/* '<S1>/Velocities': rad/s, on the way to each */
  real_T Dwell;                        /* '<S1>/Dwell': s, at each station */
  real_T Window;                       /* '<S1>/Window': rad */
};

/* Real-time Model Data Structure */
struct tag_RTM_setpoint_T {
  const char_T * volatile errorStatus;
};

/* Block parameters (default storage) */
extern P_setpoint_T setpoint_P;

/* Block signals (default storage) */
extern B_setpoint_T setpoint_B;

/* Block states (default storage) */
extern DW_setpoint_T setpoint_DW;

/* External outputs (root outports fed by signals with default storage) */
extern ExtY_setpoint_T setpoint_Y;

/* Model entry point functions */
extern void setpoint_initialize(void);
extern void setpoint_step(void);
extern void setpoint_terminate(void);

/* Real-time Model object */
extern RT_MODEL_setpoint_T *const setpoint_M;

/*-
 * The systems of the model:
 *
 * '<Root>' : 'setpoint'
 * '<S1>'   : 'setpoint/Round'
 * '<S2>'   : 'setpoint/Actual'
 * '<S3>'   : 'setpoint/Alarm'
 */
#endif                                 /* setpoint_h_ */

/*
 * File trailer for setpoint.h
 *
 * [EOF]
 */
