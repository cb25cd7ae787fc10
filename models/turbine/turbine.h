/*
 * File: turbine.h
 *
 * Governor of a steam turbine. Two rates, for a multitasking scheduler:
 *
 *   turbine_step0   10 ms    speed governor, overspeed trip
 *   turbine_step1   100 ms   load controller; lower priority, after turbine_step0 of its instant
 */

#ifndef turbine_h_
#define turbine_h_
#ifndef turbine_COMMON_INCLUDES_
#define turbine_COMMON_INCLUDES_
#include "rtwtypes.h"
#endif                                 /* turbine_COMMON_INCLUDES_ */

#include "turbine_types.h"

/* Macros for accessing real-time model data structure */
#ifndef rtmGetErrorStatus
#define rtmGetErrorStatus(rtm)         ((rtm)->errorStatus)
#endif

#ifndef rtmSetErrorStatus
#define rtmSetErrorStatus(rtm, val)    ((rtm)->errorStatus = (val))
#endif

/* Block signals (default storage) */
typedef struct {
  real_T speed_setpoint;               /* '<S1>/Ramp': 1/min */
  real_T deviation;                    /* '<S1>/Sum': of the speed, share of the rated one */
  real_T steam_demand;                 /* '<S1>/PI': share of the rated steam */
  real_T opening;                      /* '<S1>/Characteristic': share, before the rate limit */
  real_T load_error;                   /* '<S2>/Sum': share of the rated power or speed */
} B_turbine_T;

/* Block states (default storage) for system '<Root>' */
typedef struct {
  real_T integral;                     /* '<S1>/Integrator': share of the rated steam */
  real_T ramp;                         /* '<S1>/Ramp': 1/min */
  real_T valve;                        /* '<S1>/RateLimiter': share */
  real_T load_reference;               /* '<S2>/Integrator': share of the rated steam */
  real_T load_buffer[2];               /* '<Root>/RateTransition': slow to fast */
  real_T slow_speed;                   /* '<Root>/RateTransition1': fast to slow, 1/min */
  real_T slow_power;                   /* '<Root>/RateTransition2': fast to slow, MW */
  turbine_State slow_state;            /* '<Root>/RateTransition3': fast to slow */
  turbine_State state;                 /* '<S1>/State' */
  int8_T load_active;                  /* '<Root>/RateTransition': the half that is valid */
  boolean_T reset_before;              /* '<S1>/Edge' */
} DW_turbine_T;

/* External inputs (root inport signals with default storage) */
typedef struct {
  real_T speed;                        /* '<Root>/speed': 1/min */
  real_T power;                        /* '<Root>/power': MW, electrical */
  real_T valve_position;               /* '<Root>/valve_position': share */
  boolean_T grid;                      /* '<Root>/grid': others keep the frequency */
  boolean_T reset;                     /* '<Root>/reset': a rising edge takes back a trip */
} ExtU_turbine_T;

/* External outputs (root outports fed by signals with default storage) */
typedef struct {
  real_T valve;                        /* '<Root>/valve': share, 1 is open */
  real_T load_reference;               /* '<Root>/load_reference': share of the rated steam */
  turbine_State state;                 /* '<Root>/state' */
  boolean_T trip;                      /* '<Root>/trip': closes the stop valve */
} ExtY_turbine_T;

/* Parameters (default storage) */
struct P_turbine_T_ {
  real_T Kp;                           /* '<S1>/PI': share of steam a share of speed */
  real_T Ti;                           /* '<S1>/PI': s */
  real_T Droop;                        /* '<S1>/Droop': share of speed a share of steam */
  real_T RatedSpeed;                   /* '<S1>/RatedSpeed': 1/min */
  real_T RatedPower;                   /* '<S2>/RatedPower': MW */
  real_T RunUpRate;                    /* '<S1>/Ramp': 1/min/s */
  real_T TripSpeed;                    /* '<S1>/Trip': 1/min */
  real_T OpeningRate;                  /* '<S1>/RateLimiter': 1/s */
  real_T ClosingRate;                  /* '<S1>/RateLimiter': 1/s */
  real_T Characteristic[11];           /* '<S1>/Characteristic': opening for steam 0, 0.1 .. 1 */
  real_T TargetPower;                  /* '<S2>/TargetPower': MW, on the grid */
  real_T PowerGain;                    /* '<S2>/Gain': 1/s, on the grid */
  real_T SpeedGain;                    /* '<S2>/Gain1': 1/s, on its own */
  real_T LoadRate;                     /* '<S2>/RateLimiter': 1/s */
  boolean_T Start;                     /* '<S1>/Start' */
};

/* Real-time Model Data Structure */
struct tag_RTM_turbine_T {
  const char_T * volatile errorStatus;

  /*
   * Timing:
   * TID[1] counts the samples of the fast rate until the slow one is due.
   */
  struct {
    struct {
      uint8_T TID[2];
    } TaskCounters;
  } Timing;
};

/* Block parameters (default storage) */
extern P_turbine_T turbine_P;

/* Block signals (default storage) */
extern B_turbine_T turbine_B;

/* Block states (default storage) */
extern DW_turbine_T turbine_DW;

/* External inputs (root inport signals with default storage) */
extern ExtU_turbine_T turbine_U;

/* External outputs (root outports fed by signals with default storage) */
extern ExtY_turbine_T turbine_Y;

/* Model entry point functions */
extern void turbine_initialize(void);
extern void turbine_step0(void);       /* Sample time: [0.01s, 0.0s] */
extern void turbine_step1(void);       /* Sample time: [0.1s, 0.0s] */
extern void turbine_terminate(void);

/* Real-time Model object */
extern RT_MODEL_turbine_T *const turbine_M;

/*-
 * The systems of the model:
 *
 * '<Root>' : 'turbine'
 * '<S1>'   : 'turbine/Governor'
 * '<S2>'   : 'turbine/Load'
 */
#endif                                 /* turbine_h_ */
