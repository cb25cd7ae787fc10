/* A program of three rates in the generator's style: a fast one, one by event, one by state.
 * The fast one spins for so many milliseconds, once. */
#ifndef RATES_H
#define RATES_H

#include <stdint.h>

typedef struct {
    uint32_t fast;
    uint32_t by_event;
    uint32_t by_state;
    uint8_t start;
    uint8_t on;
    uint32_t spin_ms;
} DW_rates_T;

extern DW_rates_T rates_DW;

extern void rates_initialize(void);
extern void rates_step0(void);
extern void rates_step1(void);
extern void rates_step2(void);

#endif
