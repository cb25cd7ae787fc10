/**
 * @file ext_work.h
 * @brief The calls by which a step serves external mode, without effect; see rtw_extmode.h.
 */
#ifndef EXT_WORK_H
#define EXT_WORK_H

#include <rtw_extmode.h>

#define rtExtModeUpload(task, time) ((void)(task), (void)(time))
#define rtExtModeUploadCheckTrigger(count) ((void)(count))
#define rtExtModeUploadCheckEndTrigger() ((void)0)
#define rtExtModeCheckEndTrigger() ((void)0)
#define rtExtModeCheckInit(...) ((void)0)
#define rtExtModeOneStep(...) ((void)0)
#define rtExtModePauseIfNeeded(...) ((void)0)
#define rtExtModeWaitForStartPkt(...) ((void)0)
#define rtExtModeShutdown(...) ((void)0)
#define rtExtModeTornadoStartup(...) ((void)0)

#endif
