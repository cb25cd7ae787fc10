/*
 * File: servo.h
 *
 * Position control of one servo axis behind a CiA 402 drive. Fundamental sample time: 1 ms.
 * Quantities are in rad, rad/s, Nm and s, at the motor.
 */

#ifndef servo_h_
#define servo_h_
#ifndef servo_COMMON_INCLUDES_
#define servo_COMMON_INCLUDES_
#include "rtwtypes.h"
#endif                                 /* servo_COMMON_INCLUDES_ */

#include "servo_types.h"

/* Macros for accessing real-time model data structure */
#ifndef rtmGetErrorStatus
#define rtmGetErrorStatus(rtm)         ((rtm)->errorStatus)
#endif

#ifndef rtmSetErrorStatus
#define rtmSetErrorStatus(rtm, val)    ((rtm)->errorStatus = (val))
#endif

/* Block signals (default storage) */
typedef struct {
  real_T velocity_demand;              /* '<S2>/Smoothing': rad/s, without position correction */
  real_T acceleration_demand;          /* '<S2>/Difference': rad/s^2 */
  real_T velocity_setpoint;            /* '<S3>/Sum': rad/s, of the velocity controller */
  real_T velocity_error;               /* '<S4>/Sum': rad/s */
  real_T feed_forward;                 /* '<S4>/FeedForward': Nm */
  real_T torque_free;                  /* '<S4>/Notch': Nm, before the limit */
  real_T position;                     /* '<S1>/Offset': rad, from the reference */
  boolean_T is_saturated;              /* '<S4>/Saturation' */
#if servo_COMMANDED
  real_T commanded_target;             /* '<S7>/Receive': rad */
  real_T commanded_velocity;           /* '<S7>/Receive': rad/s, the most on the way */
  uint8_T command_status;              /* '<S7>/Receive': 0 in time, 144 overdue */
  servo_Reason told_reason;            /* '<S7>/Send': the last alarm that was sent */
#endif
} B_servo_T;

/* Block states (default storage) for system '<Root>' */
typedef struct {
  real_T position;                     /* '<S2>/Position': rad, of the unsmoothed profile */
  real_T velocity;                     /* '<S2>/Velocity': rad/s, of the unsmoothed profile */
  real_T demand;                       /* '<S2>/Demand': rad, smoothed */
  real_T filter[8];                    /* '<S2>/Smoothing': rad/s, the last velocities */
  real_T position_delay[2];            /* '<S3>/Delay': rad, the demand while it travels */
  real_T velocity_delay[2];            /* '<S3>/Delay1': rad/s */
  real_T integral;                     /* '<S4>/Integrator': Nm */
  real_T notch[2];                     /* '<S4>/Notch' */
  real_T offset;                       /* '<S1>/Offset': rad, reading at the reference */
  real_T reference_start;              /* '<S5>/Start': rad */
  uint32_T dwell;                      /* '<S6>/Counter': samples at rest */
  uint32_T fault_age;                  /* '<S1>/Counter': samples in the state Fault */
  servo_State state;                   /* '<S1>/State' */
  servo_Reason reason;                 /* '<S1>/State' */
  uint8_T filter_index;                /* '<S2>/Smoothing' */
  boolean_T is_referenced;             /* '<S5>/Memory' */
  boolean_T is_far;                    /* '<S6>/Memory': the next stroke comes back */
  boolean_T switch_before;             /* '<S5>/Edge' */
  boolean_T reset_before;              /* '<S1>/Edge' */
  boolean_T is_resetting;              /* '<S1>/State': the drive's fault is being reset */
} DW_servo_T;

/* External inputs (root inport signals with default storage) */
typedef struct {
  real_T position;                     /* '<Root>/position': rad, as the encoder counts */
  real_T velocity;                     /* '<Root>/velocity': rad/s */
  real_T torque;                       /* '<Root>/torque': Nm */
  real_T target;                       /* '<Root>/target': rad, while not Automatic */
  uint16_T statusword;                 /* '<Root>/statusword': CiA 402, object 6041 */
  int8_T mode_display;                 /* '<Root>/mode_display': CiA 402, object 6061 */
  boolean_T reference_switch;          /* '<Root>/reference_switch': on below the reference */
  boolean_T reset;                     /* '<Root>/reset': a rising edge leaves the state Fault */
} ExtU_servo_T;

/* External outputs (root outports fed by signals with default storage) */
typedef struct {
  real_T torque;                       /* '<Root>/torque': Nm, whole (cst) or fed forward (csv) */
  real_T velocity;                     /* '<Root>/velocity': rad/s, used by the mode csv */
  real_T demand;                       /* '<Root>/demand': rad, where the axis shall be */
  real_T following_error;              /* '<Root>/following_error': rad */
  servo_State state;                   /* '<Root>/state' */
  servo_Reason reason;                 /* '<Root>/reason' */
  uint16_T controlword;                /* '<Root>/controlword': CiA 402, object 6040 */
  int8_T mode;                         /* '<Root>/mode': CiA 402, object 6060 */
  boolean_T in_position;               /* '<Root>/in_position' */
} ExtY_servo_T;

/* Parameters (default storage) */
struct P_servo_T_ {
  real_T Kv;                           /* '<S3>/Kv': 1/s, position controller */
  real_T Kp;                           /* '<S4>/Kp': Nm s/rad, velocity controller */
  real_T Ti;                           /* '<S4>/Ti': s, reset time of the velocity controller */
  real_T Inertia;                      /* '<S4>/Inertia': kg m^2, motor and load */
  real_T Friction;                     /* '<S4>/Friction': Nm, fed forward while moving */
  real_T Viscous;                      /* '<S4>/Viscous': Nm s/rad, fed forward */
  real_T TorqueLimit;                  /* '<S4>/Saturation': Nm */
  real_T NotchNumerator[3];            /* '<S4>/Notch': 283 Hz at 1 ms */
  real_T NotchDenominator[2];          /* '<S4>/Notch': without its leading 1 */
  real_T VelocityLimit;                /* '<S2>/Profile': rad/s */
  real_T AccelerationLimit;            /* '<S2>/Profile': rad/s^2 */
  real_T ErrorLimit;                   /* '<S1>/ErrorLimit': rad */
  real_T Window;                       /* '<S1>/Window': rad, of in_position */
  real_T Stroke;                       /* '<S6>/Stroke': rad */
  real_T Dwell;                        /* '<S6>/Dwell': s, between two strokes */
  real_T ReferenceVelocity;            /* '<S5>/Velocity': rad/s */
  real_T ReferenceRange;               /* '<S5>/Range': rad, the longest way to the reference */
  real_T FaultWait;                    /* '<S1>/FaultWait': s, until AutoReset */
  int8_T Mode;                         /* '<S1>/Mode': 9 csv, 10 cst */
  boolean_T Enable;                    /* '<S1>/Enable' */
  boolean_T AutoReset;                 /* '<S1>/AutoReset' */
  boolean_T Automatic;                 /* '<S6>/Automatic': strokes instead of the target */
  boolean_T UseSwitch;                 /* '<S5>/UseSwitch': otherwise it is referenced on the spot */
};

/* Real-time Model Data Structure */
struct tag_RTM_servo_T {
  const char_T * volatile errorStatus;
};

/* Block parameters (default storage) */
extern P_servo_T servo_P;

/* Block signals (default storage) */
extern B_servo_T servo_B;

/* Block states (default storage) */
extern DW_servo_T servo_DW;

/* External inputs (root inport signals with default storage) */
extern ExtU_servo_T servo_U;

/* External outputs (root outports fed by signals with default storage) */
extern ExtY_servo_T servo_Y;

/* Model entry point functions */
extern void servo_initialize(void);
extern void servo_step(void);
extern void servo_terminate(void);

/* Real-time Model object */
extern RT_MODEL_servo_T *const servo_M;

/*-
 * The systems of the model:
 *
 * '<Root>' : 'servo'
 * '<S1>'   : 'servo/Axis'
 * '<S2>'   : 'servo/Axis/Profile'
 * '<S3>'   : 'servo/Axis/Position'
 * '<S4>'   : 'servo/Axis/Velocity'
 * '<S5>'   : 'servo/Axis/Referencing'
 * '<S6>'   : 'servo/Axis/Strokes'
 * '<S7>'   : 'servo/Command'
 */
#endif                                 /* servo_h_ */
