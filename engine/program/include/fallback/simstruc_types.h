/**
 * @file simstruc_types.h
 * @brief What generated code needs of the description of a simulation.
 */
#ifndef SIMSTRUC_TYPES_H
#define SIMSTRUC_TYPES_H

#include <rtw_continuous.h>

/* What tables of types count beside numbers. */
typedef int_T fcn_call_T;
typedef int_T action_T;

#endif
