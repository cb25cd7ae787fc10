/* A program in the generator's style that takes 300 ms to initialize. */
#ifndef SLOW_H
#define SLOW_H

#include <stdint.h>

typedef struct {
    uint32_t total;
} DW_slow_T;

extern DW_slow_T slow_DW;

extern void slow_initialize(void);
extern void slow_step(void);

#endif
