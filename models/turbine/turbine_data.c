/*
 * File: turbine_data.c
 *
 * Parameters of the model 'turbine'.
 */

#include "turbine.h"

/* Block parameters (default storage) */
P_turbine_T turbine_P = {
  /* Kp
   * Referenced by: '<S1>/PI'
   */
  80.0,

  /* Ti
   * Referenced by: '<S1>/PI'
   */
  4.0,

  /* Droop
   * Referenced by: '<S1>/Droop'
   */
  0.04,

  /* RatedSpeed
   * Referenced by: '<S1>/RatedSpeed'
   */
  3000.0,

  /* RatedPower
   * Referenced by: '<S2>/RatedPower'
   */
  10.0,

  /* RunUpRate
   * Referenced by: '<S1>/Ramp'
   */
  150.0,

  /* TripSpeed
   * Referenced by: '<S1>/Trip'
   */
  3300.0,

  /* OpeningRate
   * Referenced by: '<S1>/RateLimiter'
   */
  0.5,

  /* ClosingRate
   * Referenced by: '<S1>/RateLimiter'
   */
  3.0,

  /* Characteristic: the flow through the valve is x (1.6 - 0.6 x)
   * Referenced by: '<S1>/Characteristic'
   */
  { 0.00000, 0.06404, 0.13148, 0.20295,
    0.27924, 0.36151, 0.45142, 0.55160,
    0.66667, 0.80629, 1.00000 },

  /* TargetPower
   * Referenced by: '<S2>/TargetPower'
   */
  6.0,

  /* PowerGain
   * Referenced by: '<S2>/Gain'
   */
  0.1,

  /* SpeedGain
   * Referenced by: '<S2>/Gain1'
   */
  4.0,

  /* LoadRate
   * Referenced by: '<S2>/RateLimiter'
   */
  0.1,

  /* Start
   * Referenced by: '<S1>/Start'
   */
  true
};

/*
 * File trailer for turbine_data.c
 *
 * [EOF]
 */
