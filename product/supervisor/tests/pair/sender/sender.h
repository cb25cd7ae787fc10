/* A program in the generator's style that sends what a receiver can check. */
#ifndef SENDER_H
#define SENDER_H

#include <stdint.h>

typedef struct {
    uint32_t burst; /* messages a step */
    uint8_t mute;   /* 1 sends nothing */
} P_sender_T;

typedef struct {
    int64_t count;    /* steps */
    uint32_t number;  /* of the message that was tried last */
    uint32_t sent;    /* messages that had room */
    uint32_t refused; /* messages that had none */
    uint8_t status;   /* of the group */
} DW_sender_T;

extern P_sender_T sender_P;
extern DW_sender_T sender_DW;

extern void sender_initialize(void);
extern void sender_step(void);
extern void sender_terminate(void);

#endif
