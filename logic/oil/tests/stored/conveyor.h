/* The objects of the OSEK application `conveyor`. Generated from OIL; changes are lost. */
#ifndef OS_CFG_H
#define OS_CFG_H

#include <stdint.h>

/* Conformance class, and what is switched on. */
#define QUIETCORE_OSEK_CLASS_ECC2 1
#define QUIETCORE_OSEK_EXTENDED_STATUS 0
#define QUIETCORE_OSEK_USE_GET_SERVICE_ID 1
#define QUIETCORE_OSEK_USE_PARAMETER_ACCESS 1

/* Application modes. */
enum {
    OSDEFAULTAPPMODE = 0,
    normal = 0, /* the default */
    service = 1
};

/* Tasks. */
enum {
    drive = 0, /* priority 10, basic */
    sort = 1, /* priority 5, extended */
    fill = 2, /* priority 2, basic */
    empty = 3, /* priority 3, basic */
    report = 4 /* priority 0, basic, not preemptable */
};

/* ISRs. */
enum {
    light_barrier = 0, /* category 2, level 3, source 0 */
    stop_button = 1 /* category 1, level 40, source 1 */
};

/* Resources. */
enum {
    belt = 0, /* ceiling: interrupt level 3 */
    belt_again = 1, /* another name of belt */
    paper = 2, /* ceiling: level 1 of tasks */
    RES_SCHEDULER = 3 /* ceiling: level 255 of tasks */
};

/* Events, as masks. */
enum {
    part = 2,
    jam = 1
};

/* Events whose masks no enumerator of C99 can hold. */
static const uint64_t far __attribute__((unused)) = UINT64_C(0x8000000000000000);

/* Counters. */
enum {
    clock = 0, /* hardware, a tick of 1000000 ns */
    parts = 1 /* software */
};

/* Alarms. */
enum {
    every_10_ms = 0, /* on clock */
    count_part = 1, /* on clock */
    jammed = 2, /* on clock */
    full = 3 /* on parts */
};

/* Schedule tables. */
enum {
    shift = 0 /* on clock */
};

/* Counter clock. */
#define OSMAXALLOWEDVALUE_clock 4294967295u
#define OSTICKSPERBASE_clock 10u
#define OSMINCYCLE_clock 1u

/* Counter parts. */
#define OSMAXALLOWEDVALUE_parts 99u
#define OSTICKSPERBASE_parts 1u
#define OSMINCYCLE_parts 2u

/* The system counter is clock. */
#define OSMAXALLOWEDVALUE 4294967295u
#define OSTICKSPERBASE 10u
#define OSMINCYCLE 1u
#define OSTICKDURATION UINT64_C(1000000) /* ns */

#endif /* OS_CFG_H */
