/* Three rates behind one function that takes the number of the rate. Written for the tests. */
#ifndef RTW_HEADER_numbered_h_
#define RTW_HEADER_numbered_h_
#include "rtwtypes.h"

typedef struct tag_RTM_numbered_T RT_MODEL_numbered_T;

typedef struct {
  uint32_T Count[3];
} DW_numbered_T;

struct tag_RTM_numbered_T {
  const char_T *errorStatus;
  struct {
    time_T tFinal;
    boolean_T stopRequestedFlag;
    struct {
      uint8_T TID[3];
    } TaskCounters;
  } Timing;
};

extern DW_numbered_T numbered_DW;
extern RT_MODEL_numbered_T *const numbered_M;
extern void numbered_initialize(boolean_T firstTime);
extern void numbered_step(int_T tid);
extern void numbered_terminate(void);

#endif
