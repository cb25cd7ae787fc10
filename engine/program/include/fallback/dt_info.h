/**
 * @file dt_info.h
 * @brief The tables by which external mode finds a model's variables; nobody reads them here.
 */
#ifndef DT_INFO_H
#define DT_INFO_H

#include <simstruc_types.h>

typedef struct {
    char_T *address;
    uint_T type_number;
    uint_T is_complex;
    uint_T count;
} DataTypeTransition;

typedef struct {
    uint_T numTransitions;
    DataTypeTransition *transitions;
} DataTypeTransitionTable;

typedef struct {
    const char_T *name;
    uint_T number;
    uint_T bytes;
} DataTypeInfo;

typedef struct {
    uint_T numDataTypes;
    uint_T *dataTypeSizes;
    const char_T **dataTypeNames;
    DataTypeTransitionTable *BTransTable;
    DataTypeTransitionTable *PTransTable;
    DataTypeInfo *dataTypeInfoTable;
} DataTypeTransInfo;

#endif
