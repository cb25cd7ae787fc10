/**
 * @file rt_logging.h
 * @brief The calls by which a simulation logs, without effect.
 */
#ifndef RT_LOGGING_H
#define RT_LOGGING_H

/* A controller runs for ever, so nothing is logged: variables are traced from outside. */
typedef struct {
    void *loggingInterval;
} RTWLogInfo;

#define rtliSetLogT(log, value) ((void)(log))
#define rtliSetLogX(log, value) ((void)(log))
#define rtliSetLogXFinal(log, value) ((void)(log))
#define rtliSetLogY(log, value) ((void)(log))
#define rtliSetLogVarNameModifier(log, value) ((void)(log))
#define rtliSetLogFormat(log, value) ((void)(log))
#define rtliSetLogMaxRows(log, value) ((void)(log))
#define rtliSetLogDecimation(log, value) ((void)(log))
#define rtliSetLogXSignalInfo(log, value) ((void)(log))
#define rtliSetLogXSignalPtrs(log, value) ((void)(log))
#define rtliSetLogYSignalInfo(log, value) ((void)(log))
#define rtliSetLogYSignalPtrs(log, value) ((void)(log))
#define rt_StartDataLogging(log, ...) ((void)(log))
#define rt_StartDataLoggingWithStartTime(log, ...) ((void)(log))
#define rt_UpdateTXYLogVars(log, ...) ((void)(log))
#define rt_UpdateTXXFYLogVars(log, ...) ((void)(log))
#define rt_StopDataLogging(file, log) ((void)(log))

#endif
