#ifndef RTW_HEADER_external_h_
#define RTW_HEADER_external_h_
#include "rtwtypes.h"
#include "rtw_extmode.h"
#include "sysran_types.h"
#include "dt_info.h"
#include "ext_work.h"

extern real_T external_Y;
extern int8_T external_ran;
extern void external_initialize(void);
extern void external_step(void);

#endif
