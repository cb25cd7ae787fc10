/**
 * @file quietcore_types.h
 * @brief The names that generated code gives to numbers.
 *
 * Generators write these for the processor that they generate for. Here they are for the one that the
 * compiler compiles for, so the types have the widths that their names promise.
 */
#ifndef QUIETCORE_TYPES_H
#define QUIETCORE_TYPES_H

#include <stdint.h>

#ifndef __cplusplus
#ifndef false
#define false (0U)
#endif
#ifndef true
#define true (1U)
#endif
#endif

typedef int8_t int8_T;
typedef uint8_t uint8_T;
typedef int16_t int16_T;
typedef uint16_t uint16_T;
typedef int32_t int32_T;
typedef uint32_t uint32_T;
typedef float real32_T;
typedef double real64_T;

typedef double real_T;
typedef double time_T;
typedef unsigned char boolean_T;
typedef int int_T;
typedef unsigned int uint_T;
typedef unsigned long ulong_T;
typedef unsigned long long ulonglong_T;
typedef char char_T;
typedef unsigned char uchar_T;
typedef char_T byte_T;

typedef struct { real32_T re, im; } creal32_T;
typedef struct { real64_T re, im; } creal64_T;
typedef struct { real_T re, im; } creal_T;
typedef struct { int8_T re, im; } cint8_T;
typedef struct { uint8_T re, im; } cuint8_T;
typedef struct { int16_T re, im; } cint16_T;
typedef struct { uint16_T re, im; } cuint16_T;
typedef struct { int32_T re, im; } cint32_T;
typedef struct { uint32_T re, im; } cuint32_T;

#define MAX_int8_T ((int8_T)INT8_MAX)
#define MIN_int8_T ((int8_T)INT8_MIN)
#define MAX_uint8_T ((uint8_T)UINT8_MAX)
#define MAX_int16_T ((int16_T)INT16_MAX)
#define MIN_int16_T ((int16_T)INT16_MIN)
#define MAX_uint16_T ((uint16_T)UINT16_MAX)
#define MAX_int32_T ((int32_T)INT32_MAX)
#define MIN_int32_T ((int32_T)INT32_MIN)
#define MAX_uint32_T ((uint32_T)UINT32_MAX)
/* A `rtwtypes.h` that leaves the numbers to the generator's installation defines these itself, behind
   guards of these names, before or after this header is read. */
#ifndef INT64_T
#define INT64_T
typedef int64_t int64_T;
#endif
#ifndef UINT64_T
#define UINT64_T
typedef uint64_t uint64_T;
#endif
#ifndef CINT64_T
#define CINT64_T
typedef struct { int64_T re, im; } cint64_T;
#endif
#ifndef CUINT64_T
#define CUINT64_T
typedef struct { uint64_T re, im; } cuint64_T;
#endif
#ifndef POINTER_T
#define POINTER_T
typedef void *pointer_T;
#endif

#ifndef MAX_int64_T
#define MAX_int64_T ((int64_T)INT64_MAX)
#define MIN_int64_T ((int64_T)INT64_MIN)
#endif
#ifndef MAX_uint64_T
#define MAX_uint64_T ((uint64_T)UINT64_MAX)
#endif

#endif
