/**
 * @file ext_mode.h
 * @brief External mode as newer releases call it, without effect; see rtw_extmode.h.
 */
#ifndef EXT_MODE_H
#define EXT_MODE_H

#include <rtw_extmode.h>

typedef enum {
    EXTMODE_SUCCESS = 0,
    EXTMODE_INVALID_ARG = -1,
    EXTMODE_INIT_ERROR = -2,
    EXTMODE_NOT_INITIALIZED = -3,
    EXTMODE_NO_MEMORY = -4,
    EXTMODE_ERROR = -5,
    EXTMODE_PKT_RX_TIMEOUT_EXPIRED = -6
} extmodeErrorCode_T;

typedef double extmodeSimulationTime_T;
typedef uint16_T extmodeEventId_T;

#define EXTMODE_WAIT_FOREVER (-1)

static inline extmodeErrorCode_T extmodeEvent(extmodeEventId_T event, extmodeSimulationTime_T time)
{
    (void)event;
    (void)time;
    return EXTMODE_SUCCESS;
}

static inline boolean_T extmodeStopRequested(const RTWExtModeInfo *info)
{
    (void)info;
    return 0;
}

static inline boolean_T extmodeSimulationComplete(void)
{
    return 0;
}

#endif
