/* A program in the generator's style that calls what a real-time program should not. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdint.h>

typedef struct {
    double output;
} ExtY_library_T;

typedef struct {
    uint32_t total;
} DW_library_T;

typedef struct {
    int32_t call; /* 0: none; see `library.c` for the others */
} P_library_T;

typedef struct {
    const char *errorStatus;
} RT_MODEL_library_T;

extern ExtY_library_T library_Y;
extern DW_library_T library_DW;
extern P_library_T library_P;
extern RT_MODEL_library_T *const library_M;

extern void library_initialize(void);
extern void library_step(void);
extern void library_terminate(void);

#endif
