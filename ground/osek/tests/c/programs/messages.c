/* A loader in small, whose module is notified of messages: an activation, an event and an ISR. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "os.h"
#include "quietcore_services.h"

static uint64_t due = 1000000000u;
static uint64_t signals[5];
static uint64_t groups[5];

static int activated;
static int pinged;
static int raised;
static int limits;

/* Until it has run, the event of High is refused, and owed. */
TASK(Low)
{
    ActivateTask(High);
    TerminateTask();
}

TASK(Middle)
{
    activated++;
    TerminateTask();
}

TASK(High)
{
    for (;;) {
        WaitEvent(Ping);
        ClearEvent(Ping);
        pinged++;
    }
}

ISR(Button)
{
    raised++;
    if (raised == 2) {
        ActivateTask(Middle);
    }
}

static uint64_t tell_due(const void *context)
{
    (void)context;
    return due;
}

static uint64_t signal_count(const void *context, uint16_t signal)
{
    (void)context;
    return signal < 5u ? signals[signal] : 0u;
}

static uint64_t group_count(const void *context, uint16_t group)
{
    (void)context;
    return group < 5u ? groups[group] : 0u;
}

static void note_error(const void *context, uint32_t task, uint8_t status, uint8_t service)
{
    (void)context;
    limits += task == Middle && status == E_OS_LIMIT && service == OSServiceId_ActivateTask;
}

static void step(const char *what)
{
    due += OSTICKDURATION;
    quietcore_osek_step();
    printf("%s: activated %d, pinged %d, raised %d\n", what, activated, pinged, raised);
}

static void begin(struct quietcore_services *services)
{
    printf("initialize: %d\n",
           quietcore_osek_initialize(&quietcore_osek_configuration, 0, services));
}

int main(void)
{
    struct quietcore_services services;
    memset(&services, 0, sizeof services);
    services.version = QUIETCORE_SERVICES_VERSION;
    services.bytes = sizeof services;
    services.due = tell_due;
    services.error = note_error;
    services.signal_count = signal_count;
    services.group_count = group_count;
    begin(&services);
    step("nothing was sent");
    signals[3] = 1;
    step("a signal");
    signals[4] = 1;
    groups[3] = 7;
    step("another, and a group");
    step("nothing new");
    signals[3] = 5;
    signals[4] = 9;
    step("several sendings");
    groups[3] = 8;
    signals[3] = 6;
    step("a task that its ISR activates, too");
    printf("refused once: %d\n", limits);
    step("it is owed nothing more");
    quietcore_osek_terminate();

    activated = pinged = raised = 0;
    begin(&services);
    step("a new start is told of all that lies there");
    step("once");
    quietcore_osek_terminate();

    /* A loader that counts nothing. */
    activated = pinged = raised = 0;
    services.version = 4u;
    services.bytes = (uint32_t)offsetof(struct quietcore_services, signal_count);
    begin(&services);
    step("an older loader");
    quietcore_osek_terminate();
    return 0;
}
