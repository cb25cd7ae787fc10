/* A program in the generator's style that counts, and misbehaves in one step. */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdint.h>

typedef struct {
    int32_t misbehave; /* 1 stores nowhere, 2 takes 30 ms, 3 reports an error */
} P_counter_T;

typedef struct {
    uint32_t total;
} DW_counter_T;

typedef struct {
    const char *errorStatus;
} RT_MODEL_counter_T;

extern P_counter_T counter_P;
extern DW_counter_T counter_DW;
extern RT_MODEL_counter_T *const counter_M;

extern void counter_initialize(void);
extern void counter_step(void);
extern void counter_terminate(void);

#endif
