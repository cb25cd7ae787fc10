#ifndef RTWTYPES_H
#define RTWTYPES_H

typedef signed char int8_T;
typedef unsigned char uint8_T;
typedef unsigned int uint32_T;
typedef long long int64_T;
typedef double real_T;
typedef double time_T;
typedef unsigned char boolean_T;
typedef int int_T;
typedef char char_T;
typedef struct {
  real_T re;
  real_T im;
} creal_T;

#endif
