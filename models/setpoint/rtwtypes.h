/*
 * File: rtwtypes.h
 *
 * The types of the model's code, for compilers of C99 with 8-bit bytes.
 */

#ifndef RTWTYPES_H
#define RTWTYPES_H

#include <stdint.h>

typedef int8_t int8_T;
typedef uint8_t uint8_T;
typedef int16_t int16_T;
typedef uint16_t uint16_T;
typedef int32_t int32_T;
typedef uint32_t uint32_T;
typedef int64_t int64_T;
typedef uint64_t uint64_T;
typedef float real32_T;
typedef double real64_T;
typedef double real_T;
typedef double time_T;
typedef unsigned char boolean_T;
typedef int int_T;
typedef unsigned int uint_T;
typedef char char_T;
typedef unsigned char uchar_T;
typedef char_T byte_T;

#ifndef false
#define false                          (0U)
#endif

#ifndef true
#define true                           (1U)
#endif

#ifndef UNUSED_PARAMETER
#define UNUSED_PARAMETER(x)            (void) (x)
#endif

#endif                                 /* RTWTYPES_H */
