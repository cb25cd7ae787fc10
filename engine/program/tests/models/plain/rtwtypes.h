#ifndef RTWTYPES_H
#define RTWTYPES_H

typedef signed char int8_T;
typedef unsigned char uint8_T;
typedef short int16_T;
typedef unsigned short uint16_T;
typedef int int32_T;
typedef unsigned int uint32_T;
typedef float real32_T;
typedef double real_T;
typedef unsigned char boolean_T;
typedef int int_T;
typedef char char_T;

#endif
