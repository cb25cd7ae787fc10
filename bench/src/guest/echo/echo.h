/* A program in the generator's style that sends every number back that it receives. */
#ifndef ECHO_H
#define ECHO_H

#include <stdint.h>

typedef struct {
    uint32_t looks; /* without a new number, before a step ends */
} P_echo_T;

typedef struct {
    int64_t number; /* sent back last */
} DW_echo_T;

extern P_echo_T echo_P;
extern DW_echo_T echo_DW;

extern void echo_initialize(void);
extern void echo_step(void);
extern void echo_terminate(void);

#endif
