/* Every shape of data that a path can lead into. Written for the tests. */
#ifndef RTW_HEADER_shapes_h_
#define RTW_HEADER_shapes_h_
#include "rtwtypes.h"

typedef enum {
  Mode_Fault = -1,
  Mode_Off = 0,
  Mode_Following = 2
} Mode;

typedef struct {
  real_T Gain;
  int16_T Offset;
} Channel;

typedef struct {
  Channel channels[3];
  real32_T matrix[2][3];
  Mode mode;
  uint32_T ready : 1;
  uint32_T phase : 3;
  int32_T error : 12;
  union {
    uint32_T word;
    uint8_T bytes[4];
  } overlay;
  struct {
    int64_T ticks;
    boolean_T flag;
  };
  const Channel *selected;
  void (*callback)(void);
  long double wide;
  char_T name[8];
} DW_shapes_T;

extern DW_shapes_T shapes_DW;
extern const real_T shapes_table[2];
extern void shapes_initialize(void);
extern void shapes_step(void);
extern uint32_T other_gain(void);

#endif
