/* The objects of all test programs, as the generator writes them. */
#ifndef OS_CFG_H
#define OS_CFG_H

#include <stdint.h>

#define QUIETCORE_OSEK_CLASS_ECC1 1
#define QUIETCORE_OSEK_EXTENDED_STATUS 1
#define QUIETCORE_OSEK_USE_GET_SERVICE_ID 1
#define QUIETCORE_OSEK_USE_PARAMETER_ACCESS 1

/* Application modes. */
enum { OSDEFAULTAPPMODE = 0, Plain = 0, Other = 1 };
/* Tasks. */
enum { Low = 0, Middle = 1, High = 2, Deep = 3 };
/* Resources. */
enum { Lock = 0, Shared = 1, RES_SCHEDULER = 2 };
/* Events, as masks. */
enum { Ping = 1, Pong = 2 };
/* Counters. */
enum { Clock = 0, Turns = 1 };
/* Alarms. */
enum { ActivateMiddle = 0, PingHigh = 1, Call = 2, OnTurns = 3 };
/* Schedule tables. */
enum { Table = 0 };

/* Sources of the ISRs. */
#define BUTTON 3u
#define URGENT 4u
#define FAST 5u

#define OSMAXALLOWEDVALUE_Clock 9999u
#define OSTICKSPERBASE_Clock 1u
#define OSMINCYCLE_Clock 1u
#define OSMAXALLOWEDVALUE 9999u
#define OSTICKSPERBASE 1u
#define OSMINCYCLE 1u
#define OSTICKDURATION UINT64_C(1000000)

#endif
