/**
 * @file rt_logging.h
 * @brief The tables and calls by which a simulation logs, without effect.
 *
 * A controller runs for ever, so nothing is logged: variables are traced from outside. A generator's
 * tables name their members by position, and releases differ in how many there are; so each is an
 * address that nobody follows.
 */
#ifndef RT_LOGGING_H
#define RT_LOGGING_H

#include <builtin_typeid_types.h>
#include <rtwtypes.h>

/* Such tables leave members out, and put braces around some of them. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wmissing-braces"

typedef struct {
    void *loggingInterval;
} RTWLogInfo;

typedef void *LogSignalPtrsType;
typedef void (*RTWPreprocessingFcnPtr)(void);

typedef struct {
    int conversion;
    BuiltInDTypeId from;
    BuiltInDTypeId to;
    int is_signed;
    int bits;
    int is_biased;
    double slope;
    int exponent;
    double bias;
} RTWLogDataTypeConvert;

typedef union {
    const void *address;
} quietcore_log_column;

typedef struct {
    int numSignals;
    quietcore_log_column c01, c02, c03, c04, c05, c06, c07, c08, c09, c10, c11, c12;
    quietcore_log_column c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24;
} RTWLogSignalInfo;

#define rtliSetLogT(log, value) ((void)(log), (void)(value))
#define rtliSetLogX(log, value) ((void)(log), (void)(value))
#define rtliSetLogXFinal(log, value) ((void)(log), (void)(value))
#define rtliSetLogY(log, value) ((void)(log), (void)(value))
#define rtliSetLogVarNameModifier(log, value) ((void)(log), (void)(value))
#define rtliSetLogFormat(log, value) ((void)(log), (void)(value))
#define rtliSetLogMaxRows(log, value) ((void)(log), (void)(value))
#define rtliSetLogDecimation(log, value) ((void)(log), (void)(value))
#define rtliSetLogXSignalInfo(log, value) ((void)(log), (void)(value))
#define rtliSetLogXSignalPtrs(log, value) ((void)(log), (void)(value))
#define rtliSetLogYSignalInfo(log, value) ((void)(log), (void)(value))
#define rtliSetLogYSignalPtrs(log, value) ((void)(log), (void)(value))
#define rt_StartDataLogging(log, ...) ((void)(log))
#define rt_StartDataLoggingWithStartTime(log, ...) ((void)(log))
#define rt_UpdateTXYLogVars(log, ...) ((void)(log))
#define rt_UpdateTXXFYLogVars(log, ...) ((void)(log))
#define rt_StopDataLogging(file, log) ((void)(log))

#endif
