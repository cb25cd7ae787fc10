/*
 * File: servo_private.h
 *
 * What the files of the model 'servo' share and nobody else needs.
 */

#ifndef servo_private_h_
#define servo_private_h_
#include "rtwtypes.h"
#include "servo.h"

/* Fundamental sample time, in s */
#define servo_SAMPLE_TIME              (0.001)

/* Samples by which the profile is smoothed */
#define servo_FILTER_LENGTH            (8)

/* Samples for which the command that resets the drive stays on */
#define servo_RESET_LENGTH             (10U)

/* CiA 402: bits of the statusword that tell the state, with and without 'quick stop' */
#define servo_STATUS_MASK              (0x006FU)
#define servo_STATUS_MASK_FAULT        (0x004FU)
#define servo_STATUS_DISABLED          (0x0040U)
#define servo_STATUS_READY             (0x0021U)
#define servo_STATUS_SWITCHED_ON       (0x0023U)
#define servo_STATUS_OPERATION         (0x0027U)
#define servo_STATUS_REACTION          (0x000FU)
#define servo_STATUS_FAULT             (0x0008U)

/* CiA 402: commands in the controlword */
#define servo_CONTROL_NOTHING          (0x0000U)
#define servo_CONTROL_SHUTDOWN         (0x0006U)
#define servo_CONTROL_SWITCH_ON        (0x0007U)
#define servo_CONTROL_OPERATION        (0x000FU)
#define servo_CONTROL_RESET            (0x0080U)

/* CiA 402: modes of operation */
#define servo_MODE_CSV                 (9)
#define servo_MODE_CST                 (10)

#endif                                 /* servo_private_h_ */
