/* A program in the generator's style that counts, and does what it is told to do wrong. */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdint.h>

typedef struct {
    double gain;
    int32_t misbehave; /* 1 divides by zero, 2 loops, 3 reads nowhere, 4 reports an error */
} P_counter_T;

typedef struct {
    double input;
} ExtU_counter_T;

typedef struct {
    double output;
    double doubled;
} ExtY_counter_T;

typedef struct {
    uint32_t total;
    double filter[4];
} DW_counter_T;

typedef struct {
    const char *errorStatus;
} RT_MODEL_counter_T;

extern P_counter_T counter_P;
extern ExtU_counter_T counter_U;
extern ExtY_counter_T counter_Y;
extern DW_counter_T counter_DW;
extern RT_MODEL_counter_T *const counter_M;

extern void counter_initialize(void);
extern void counter_step(void);
extern void counter_terminate(void);

#endif
