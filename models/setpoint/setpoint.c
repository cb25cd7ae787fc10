/*
 * File: setpoint.c
 *
 * Code of the model 'setpoint': from station to station, each when the one before is reached.
 */

#include "setpoint.h"
#include <math.h>
#include <string.h>
#include "Com.h"

/* Fundamental sample time, in s */
#define setpoint_SAMPLE_TIME           (0.01)

/* Messages that are taken in one sample */
#define setpoint_ALARMS_MAX            (16)

/* Block parameters (default storage) */
P_setpoint_T setpoint_P = {
  /* Stations
   * Referenced by: '<S1>/Stations'
   */
  { 0.0, 62.83185307179586, 31.41592653589793, 94.24777960769379 },

  /* Velocities
   * Referenced by: '<S1>/Velocities'
   */
  { 250.0, 100.0, 50.0, 200.0 },

  /* Dwell
   * Referenced by: '<S1>/Dwell'
   */
  0.5,

  /* Window
   * Referenced by: '<S1>/Window'
   */
  0.1
};

/* Block signals (default storage) */
B_setpoint_T setpoint_B;

/* Block states (default storage) */
DW_setpoint_T setpoint_DW;

/* External outputs (root outports fed by signals with default storage) */
ExtY_setpoint_T setpoint_Y;

/* Real-time model */
static RT_MODEL_setpoint_T setpoint_M_;
RT_MODEL_setpoint_T *const setpoint_M = &setpoint_M_;

/* Where the axis is, both values of one of its cycles. */
static void setpoint_Actual(void)
{
  setpoint_B.status = Com_ReceiveSignalGroup(ComConf_ComSignalGroup_actual);
  (void) Com_ReceiveSignal(ComConf_ComSignal_actual_position, &setpoint_B.position);
  (void) Com_ReceiveSignal(ComConf_ComSignal_actual_in_position, &setpoint_B.in_position);
  setpoint_Y.is_connected = (boolean_T)(setpoint_B.status == E_OK);
}

/* Why the axis failed: each time counts. */
static void setpoint_Alarm(void)
{
  int32_T i;
  uint16_t length;
  for (i = 0; i < setpoint_ALARMS_MAX; i++) {
    length = (uint16_t)sizeof(setpoint_DW.last_alarm);
    if (Com_ReceiveDynSignal(ComConf_ComSignal_alarm_reason, &setpoint_DW.last_alarm, &length)
        != E_OK) {
      break;
    }

    setpoint_DW.alarms++;
  }
}

/* The next station, when this one was reached and stayed at. */
static void setpoint_Round(void)
{
  boolean_T is_there;
  is_there = (boolean_T)(setpoint_Y.is_connected && setpoint_B.in_position &&
    (fabs(setpoint_B.position - setpoint_P.Stations[setpoint_DW.station]) < setpoint_P.Window));
  if (is_there) {
    setpoint_DW.dwell++;
  } else {
    setpoint_DW.dwell = 0U;
  }

  if ((real_T)setpoint_DW.dwell * setpoint_SAMPLE_TIME >= setpoint_P.Dwell) {
    setpoint_DW.dwell = 0U;
    setpoint_DW.station++;
    if (setpoint_DW.station >= setpoint_STATIONS) {
      setpoint_DW.station = 0U;
      setpoint_DW.laps++;
    }
  }
}

/* Model step function */
void setpoint_step(void)
{
  setpoint_Actual();
  setpoint_Alarm();
  setpoint_Round();

  /* Outport: '<Root>/target' and '<Root>/velocity' */
  setpoint_Y.target = setpoint_P.Stations[setpoint_DW.station];
  setpoint_Y.velocity = setpoint_P.Velocities[setpoint_DW.station];
  (void) Com_SendSignal(ComConf_ComSignal_setpoint_target, &setpoint_Y.target);
  (void) Com_SendSignal(ComConf_ComSignal_setpoint_velocity, &setpoint_Y.velocity);
  (void) Com_SendSignalGroup(ComConf_ComSignalGroup_setpoint);
}

/* Model initialize function */
void setpoint_initialize(void)
{
  /* initialize error status */
  rtmSetErrorStatus(setpoint_M, (const char_T *)0);

  /* block signals, states and external outputs */
  (void) memset((void *)&setpoint_B, 0, sizeof(B_setpoint_T));
  (void) memset((void *)&setpoint_DW, 0, sizeof(DW_setpoint_T));
  (void) memset((void *)&setpoint_Y, 0, sizeof(ExtY_setpoint_T));
}

/* Model terminate function */
void setpoint_terminate(void)
{
  /* (no terminate code required) */
}

/*
 * File trailer for setpoint.c
 *
 * [EOF]
 */
