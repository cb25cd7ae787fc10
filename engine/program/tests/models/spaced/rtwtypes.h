#ifndef RTWTYPES_H
#define RTWTYPES_H
typedef signed char int8_T;
typedef unsigned char uint8_T;
typedef int int32_T;
typedef unsigned int uint32_T;
typedef double real_T;
typedef unsigned char boolean_T;
typedef int int_T;
typedef char char_T;
#endif
