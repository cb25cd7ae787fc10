/**
 * @file rtw_extmode.h
 * @brief What a model tells the server of external mode of itself, without effect.
 *
 * External mode lets the generator's editor look into a running program and is no part of it: variables
 * are watched, set and traced from outside here, whatever the program was generated with.
 */
#ifndef RTW_EXTMODE_H
#define RTW_EXTMODE_H

#include <rtwtypes.h>

typedef struct {
    void *nothing;
} RTWExtModeInfo;

#define rteiSetSubSystemActiveVectorAddresses(info, value) ((void)(info), (void)(value))
#define rteiSetModelMappingInfoPtr(info, value) ((void)(info), (void)(value))
#define rteiSetModelMappingInfo(info, value) ((void)(info), (void)(value))
#define rteiSetChecksumsPtr(info, value) ((void)(info), (void)(value))
#define rteiSetTPtr(info, value) ((void)(info), (void)(value))
#define rteiSetTFinalTicks(info, value) ((void)(info), (void)(value))
#define rteiSetPtrTFinalTicks(info, value) ((void)(info), (void)(value))

#endif
