#ifndef LATE_H
#define LATE_H

#include <stdint.h>

typedef struct {
    int32_t spin_ms;
} P_late_T;

typedef struct {
    uint32_t total;
} DW_late_T;

extern P_late_T late_P;
extern DW_late_T late_DW;

extern void late_initialize(void);
extern void late_step(void);

#endif
