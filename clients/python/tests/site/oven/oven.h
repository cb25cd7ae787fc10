/* An oven in the generator's style, with a variable of each kind of type. */
#ifndef OVEN_H
#define OVEN_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { OVEN_OFF = 0, OVEN_HEAT = 1, OVEN_HOLD = 2 } OvenMode;

typedef struct {
    double target;     /* degrees Celsius */
    float gain;        /* 1/s */
    int16_t offset;    /* degrees Celsius */
    OvenMode mode;
} P_oven_T;

typedef struct {
    bool door;
    double ambient;    /* degrees Celsius */
} ExtU_oven_T;

typedef struct {
    double temperature; /* degrees Celsius */
    OvenMode mode;
    bool warm;
} ExtY_oven_T;

typedef struct {
    uint32_t cycles;
    uint8_t trays[3];
} DW_oven_T;

typedef struct {
    const char *errorStatus;
} RT_MODEL_oven_T;

extern P_oven_T oven_P;
extern ExtU_oven_T oven_U;
extern ExtY_oven_T oven_Y;
extern DW_oven_T oven_DW;
extern RT_MODEL_oven_T *const oven_M;

extern void oven_initialize(void);
extern void oven_step(void);
extern void oven_terminate(void);

#endif
