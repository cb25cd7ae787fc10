/**
 * @file sysran_types.h
 * @brief Marks of subsystems that ran in a step, which external mode would read.
 */
#ifndef SYSRAN_TYPES_H
#define SYSRAN_TYPES_H

#include <rtwtypes.h>

typedef signed char sysRanDType;

enum {
    SUBSYS_RAN_BC_DISABLE,
    SUBSYS_RAN_BC_ENABLE,
    SUBSYS_RAN_BC_DISABLE_TO_ENABLE,
    SUBSYS_RAN_BC_ENABLE_TO_DISABLE,
    SUBSYS_RAN_BC_ONE_SHOT
};

#define srClearBC(state) ((state) = SUBSYS_RAN_BC_DISABLE)
#define srUpdateBC(state) ((state) = SUBSYS_RAN_BC_ENABLE)

#endif
