/* A program that uses Com.h in a partition without channels. */
#ifndef LONE_H
#define LONE_H

#include <stdint.h>

typedef struct {
    uint8_t sent;
    uint8_t received;
    uint8_t group;
    uint8_t message;
    uint64_t now;
    int64_t value;
} DW_lone_T;

extern DW_lone_T lone_DW;

extern void lone_initialize(void);
extern void lone_step(void);
extern void lone_terminate(void);

#endif
