/**
 * @file builtin_typeid_types.h
 * @brief The numbers of the types, as logged data name them.
 */
#ifndef BUILTIN_TYPEID_TYPES_H
#define BUILTIN_TYPEID_TYPES_H

typedef enum {
    SS_DOUBLE,
    SS_SINGLE,
    SS_INT8,
    SS_UINT8,
    SS_INT16,
    SS_UINT16,
    SS_INT32,
    SS_UINT32,
    SS_BOOLEAN
} BuiltInDTypeId;

typedef int DTypeId;

#endif
