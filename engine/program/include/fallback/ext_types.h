/**
 * @file ext_types.h
 * @brief For tables of types that external mode would send; see rtw_extmode.h.
 */
#ifndef EXT_TYPES_H
#define EXT_TYPES_H

#include <dt_info.h>

#endif
