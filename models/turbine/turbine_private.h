/*
 * File: turbine_private.h
 *
 * What the files of the model 'turbine' share and nobody else needs.
 */

#ifndef turbine_private_h_
#define turbine_private_h_
#include "rtwtypes.h"
#include "turbine.h"

/* Sample times, in s */
#define turbine_SAMPLE_TIME0           (0.01)
#define turbine_SAMPLE_TIME1           (0.1)

/* Samples of the fast rate in one of the slow rate */
#define turbine_RATIO                  (10U)

/* Intervals of the valve's characteristic */
#define turbine_INTERVALS              (10)

/* Share of the rated speed from which on the turbine counts as running */
#define turbine_RUNNING_SHARE          (0.95)

#endif                                 /* turbine_private_h_ */
