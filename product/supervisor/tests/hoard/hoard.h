/* A program in the generator's style that takes memory until it is refused some. */
#ifndef HOARD_H
#define HOARD_H

#include <stdint.h>

typedef struct {
    uint32_t total;
    uint32_t taken; /* MiB */
    uint32_t refused;
} DW_hoard_T;

typedef struct {
    const char *errorStatus;
} RT_MODEL_hoard_T;

extern DW_hoard_T hoard_DW;
extern RT_MODEL_hoard_T *const hoard_M;

extern void hoard_initialize(void);
extern void hoard_step(void);
extern void hoard_terminate(void);

#endif
