/* A program in the generator's style that checks what a sender sends, and answers. */
#ifndef RECEIVER_H
#define RECEIVER_H

#include <stdint.h>

typedef struct {
    uint32_t drain; /* messages taken a step at most */
    uint32_t scale; /* of the answer */
} P_receiver_T;

typedef struct {
    int64_t count;
    int64_t opposite;
    uint32_t steps;
    uint32_t torn;     /* sets of which one member was of another moment */
    uint32_t timeouts; /* steps in which the group was overdue */
    uint32_t received; /* messages */
    uint32_t last;     /* number of the last message */
    uint32_t disorder; /* messages that came after a later one */
    uint8_t status;    /* of the group */
    uint8_t first;     /* of the group, in the first step */
    double initial;    /* of a signal that nobody sends, in the first step */
} DW_receiver_T;

extern P_receiver_T receiver_P;
extern DW_receiver_T receiver_DW;

extern void receiver_initialize(void);
extern void receiver_step(void);
extern void receiver_terminate(void);

#endif
