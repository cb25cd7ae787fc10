/**
 * @file rtw_continuous.h
 * @brief Whether a step is one of the model's or one of its solver's in between.
 */
#ifndef RTW_CONTINUOUS_H
#define RTW_CONTINUOUS_H

#include <rtwtypes.h>

typedef enum { MINOR_TIME_STEP, MAJOR_TIME_STEP } SimTimeStep;

#endif
