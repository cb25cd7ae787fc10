/* Every kind of object of conveyor.oil in the service that it is for. */
#include "os_cfg.h"
#include "os.h"
#include <stdio.h>

DeclareTask(sort);
DeclareEvent(far);
DeclareResource(belt);
DeclareAlarm(full);

#ifdef __cplusplus
extern "C"
#endif
int use_all(void);

int use_all(void)
{
    EventMaskType events = part | jam | far;
    TickType ticks = OSMAXALLOWEDVALUE_parts + OSMINCYCLE_clock + OSTICKSPERBASE + OSMAXALLOWEDVALUE;

    ActivateTask(drive);
    SetEvent(sort, events);
    GetResource(belt_again);
    ReleaseResource(belt_again);
    SetRelAlarm(every_10_ms, ticks, OSTICKDURATION > 1u);
    switch (GetActiveApplicationMode()) {
    case service:
        return 1;
    case OSDEFAULTAPPMODE:
        return 0;
    default:
        return 2;
    }
}
