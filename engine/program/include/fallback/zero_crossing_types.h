/**
 * @file zero_crossing_types.h
 * @brief The sign that a trigger remembers, and the events that it can see.
 */
#ifndef ZERO_CROSSING_TYPES_H
#define ZERO_CROSSING_TYPES_H

#include <rtwtypes.h>

/* The remembered sign of a signal. */
typedef uint8_T ZCSigState;
#define ZERO_ZCSIG 0u
#define POS_ZCSIG 1u
#define NEG_ZCSIG 2u
#define UNINITIALIZED_ZCSIG 3u

/* The direction that a trigger waits for. */
typedef enum {
    FALLING_ZERO_CROSSING = -1,
    ANY_ZERO_CROSSING = 0,
    RISING_ZERO_CROSSING = 1
} ZCDirection;

/* What happened. */
typedef enum {
    FALLING_ZCEVENT = -1,
    NO_ZCEVENT = 0,
    RISING_ZCEVENT = 1
} ZCEventType;

#endif
