#include "hoard.h"

#include <stdlib.h>
#include <string.h>

#define MIB (1u << 20)

DW_hoard_T hoard_DW;
static RT_MODEL_hoard_T hoard_M_;
RT_MODEL_hoard_T *const hoard_M = &hoard_M_;

void hoard_initialize(void)
{
}

void hoard_step(void)
{
    hoard_DW.total++;
    if (hoard_DW.refused) {
        return;
    }
    void *block = malloc(MIB);
    if (block) {
        memset(block, 1, MIB);
        hoard_DW.taken++;
    } else {
        hoard_DW.refused = 1;
    }
}

void hoard_terminate(void)
{
}
