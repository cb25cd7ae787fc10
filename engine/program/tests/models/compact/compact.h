/* The short names, two files, and no rtwtypes.h. Written for the tests. */
#ifndef RTW_HEADER_compact_h_
#define RTW_HEADER_compact_h_
#include "rtwtypes.h"

typedef struct {
  uint16_T Level;
  creal_T Phase;
} DW;

typedef struct {
  uint16_T Fill;
} ExtU;

typedef struct {
  boolean_T Full;
} ExtY;

typedef struct {
  uint16_T Size;
} P;

extern DW rtDW;
extern ExtU rtU;
extern ExtY rtY;
extern P rtP;
extern void compact_initialize(void);
extern void compact_step(void);

#endif
