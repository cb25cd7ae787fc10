/* A limiter whose data are passed with the model structure. Written for the tests. */
#ifndef RTW_HEADER_reusable_h_
#define RTW_HEADER_reusable_h_
#include "rtwtypes.h"

typedef struct tag_RTM RT_MODEL;

typedef struct {
  int16_T Held;
} DW;

typedef struct {
  int16_T Limits[2];
  boolean_T Enable;
} P;

typedef struct {
  int16_T In1;
} ExtU;

typedef struct {
  int16_T Out1;
} ExtY;

struct tag_RTM {
  P *defaultParam;
  ExtU *inputs;
  ExtY *outputs;
  DW *dwork;
};

extern void reusable_initialize(RT_MODEL *const rtM);
extern void reusable_step(RT_MODEL *const rtM);

#endif
