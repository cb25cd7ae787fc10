/*
 * File: tank.h
 *
 * Level control of a tank with a pump. Fundamental sample time: 100 ms. Compact packaging: all of
 * the model is in tank.c and here, and its data have short names.
 */

#ifndef tank_h_
#define tank_h_
#include "rtwtypes.h"
#ifndef DEFINED_TYPEDEF_FOR_State_
#define DEFINED_TYPEDEF_FOR_State_

/* What the level control is doing. */
typedef enum {
  State_Off = 0,                       /* Default value */
  State_Controlling = 1,
  State_Full = 2,
  State_SensorFault = 3
} State;

#endif

/* Macros for accessing real-time model data structure */
#ifndef rtmGetErrorStatus
#define rtmGetErrorStatus(rtm)         ((rtm)->errorStatus)
#endif

#ifndef rtmSetErrorStatus
#define rtmSetErrorStatus(rtm, val)    ((rtm)->errorStatus = (val))
#endif

/* Forward declaration for rtModel */
typedef struct tag_RTM RT_MODEL;

/* Block signals and states (default storage) for system '<Root>' */
typedef struct {
  real_T setpoint;                     /* '<S1>/RateLimiter': m, on its way to the target */
  real_T integral;                     /* '<S1>/Integrator': share of the pump's speed */
  real_T error;                        /* '<S1>/Sum': m */
  real_T demand;                       /* '<S1>/PI': share, before the limit */
  uint32_T fault_count;                /* '<Root>/Counter': samples without a valid level */
  State state;                         /* '<Root>/State' */
} DW;

/* External inputs (root inport signals with default storage) */
typedef struct {
  real_T level;                        /* '<Root>/level': m */
  real_T outflow;                      /* '<Root>/outflow': l/s */
  real_T pump_speed;                   /* '<Root>/pump_speed': share */
  boolean_T full;                      /* '<Root>/full': switch below the edge */
} ExtU;

/* External outputs (root outports fed by signals with default storage) */
typedef struct {
  real_T pump;                         /* '<Root>/pump': share, speed setpoint */
  State state;                         /* '<Root>/state' */
  boolean_T alarm;                     /* '<Root>/alarm': the tank is full or its level unknown */
} ExtY;

/* Parameters (default storage) */
typedef struct {
  real_T Setpoint;                     /* '<S1>/Setpoint': m */
  real_T SetpointRate;                 /* '<S1>/RateLimiter': m/s */
  real_T Kp;                           /* '<S1>/PI': 1/m */
  real_T Ti;                           /* '<S1>/PI': s */
  real_T BackCalculation;              /* '<S1>/AntiWindup': 1/s */
  real_T FlowGain;                     /* '<S1>/FeedForward': share of speed a l/s */
  real_T Area;                         /* '<S1>/FeedForward': l a m, to follow the ramp */
  real_T StaticSpeed;                  /* '<S1>/FeedForward': share at which the pump just lifts */
  real_T LevelMinimum;                 /* '<Root>/Range': m, readings below are invalid */
  real_T LevelMaximum;                 /* '<Root>/Range': m, readings above are invalid */
  boolean_T Run;                       /* '<Root>/Run' */
} P;

/* Real-time Model Data Structure */
struct tag_RTM {
  const char_T * volatile errorStatus;
};

/* Block parameters (default storage) */
extern P rtP;

/* Block signals and states (default storage) */
extern DW rtDW;

/* External inputs (root inport signals with default storage) */
extern ExtU rtU;

/* External outputs (root outports fed by signals with default storage) */
extern ExtY rtY;

/* Model entry point functions */
extern void tank_initialize(void);
extern void tank_step(void);

/* Real-time Model object */
extern RT_MODEL *const rtM;

/*-
 * The systems of the model:
 *
 * '<Root>' : 'tank'
 * '<S1>'   : 'tank/Level'
 */
#endif                                 /* tank_h_ */
