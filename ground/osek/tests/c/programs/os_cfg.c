/* The tables of all test programs. A program defines the tasks that it uses; the others end at once.
 * What differs between programs is defined on the command line. */
#include "quietcore_osek.h"
#include "os_cfg.h"

uint8_t TerminateTask(void);

#ifndef ACCOUNTING
#define ACCOUNTING 0u
#endif
#ifndef BUDGET_NS
#define BUDGET_NS 0u
#endif
#ifndef LOW_AUTOSTART
#define LOW_AUTOSTART 1u
#endif

#define UNLESS_DEFINED(name)                                                                         \
    void name(void);                                                                                 \
    __attribute__((weak)) void name(void)

UNLESS_DEFINED(quietcore_osek_task_Low) { TerminateTask(); }
UNLESS_DEFINED(quietcore_osek_task_Middle) { TerminateTask(); }
UNLESS_DEFINED(quietcore_osek_task_High) { TerminateTask(); }
UNLESS_DEFINED(quietcore_osek_task_Deep) { TerminateTask(); }
UNLESS_DEFINED(quietcore_osek_isr_Button) {}
UNLESS_DEFINED(quietcore_osek_isr_Urgent) {}
UNLESS_DEFINED(quietcore_osek_isr_Fast) {}
UNLESS_DEFINED(quietcore_osek_callback_Called) {}
UNLESS_DEFINED(StartupHook) {}
UNLESS_DEFINED(PreTaskHook) {}
UNLESS_DEFINED(PostTaskHook) {}
void ErrorHook(uint8_t status);
__attribute__((weak)) void ErrorHook(uint8_t status) { (void)status; }
void ShutdownHook(uint8_t status);
__attribute__((weak)) void ShutdownHook(uint8_t status) { (void)status; }

static const struct quietcore_osek_task tasks[] = {
    [Low] = {.entry = quietcore_osek_task_Low,
             .autostart = LOW_AUTOSTART,
             .stack_bytes = 16384u,
             .priority = 1u,
             .running_level = 1u,
             .activations = 1u,
             .budget_ns = BUDGET_NS,
             .kind = QUIETCORE_OSEK_BASIC},
    [Middle] = {.entry = quietcore_osek_task_Middle,
                .stack_bytes = 16384u,
                .priority = 2u,
                .running_level = 2u,
                .activations = 1u,
                .kind = QUIETCORE_OSEK_BASIC},
    [High] = {.entry = quietcore_osek_task_High,
              .events = 3u,
              .stack_bytes = 16384u,
              .priority = 3u,
              .running_level = 3u,
              .activations = 1u,
              .kind = QUIETCORE_OSEK_EXTENDED_TASK},
    [Deep] = {.entry = quietcore_osek_task_Deep,
              .stack_bytes = 4096u,
              .priority = 4u,
              .running_level = 4u,
              .activations = 1u,
              .kind = QUIETCORE_OSEK_BASIC},
};
const char *const quietcore_osek_task_names[] = {"Low", "Middle", "High", "Deep"};

static const struct quietcore_osek_isr isrs[] = {
    {.entry = quietcore_osek_isr_Button, .source = BUTTON, .level = 2u, .category = 2u},
    {.entry = quietcore_osek_isr_Urgent, .source = URGENT, .level = 5u, .category = 2u},
    {.entry = quietcore_osek_isr_Fast, .source = FAST, .level = 9u, .category = 1u},
};
static const struct quietcore_osek_resource resources[] = {
    [Lock] = {.scale = QUIETCORE_OSEK_TASK_LEVEL, .ceiling = 2u},
    [Shared] = {.scale = QUIETCORE_OSEK_INTERRUPT_LEVEL, .ceiling = 2u},
    [RES_SCHEDULER] = {.scale = QUIETCORE_OSEK_TASK_LEVEL, .ceiling = 255u},
};
static const struct quietcore_osek_counter counters[] = {
    [Clock] = {.max_allowed = 9999u,
               .ticks_per_base = 1u,
               .min_cycle = 1u,
               .hardware = 1u,
               .tick_ns = OSTICKDURATION},
    [Turns] = {.max_allowed = 99u, .ticks_per_base = 1u, .min_cycle = 1u},
};
static const struct quietcore_osek_alarm alarms[] = {
    [ActivateMiddle] = {.action = {.kind = QUIETCORE_OSEK_ACTIVATE_TASK, .object = Middle},
                        .counter = Clock},
    [PingHigh] = {.action = {.kind = QUIETCORE_OSEK_SET_EVENT, .object = High, .events = Ping},
                  .counter = Clock},
    [Call] = {.action = {.kind = QUIETCORE_OSEK_CALLBACK,
                         .callback = quietcore_osek_callback_Called},
              .counter = Clock},
    [OnTurns] = {.action = {.kind = QUIETCORE_OSEK_ACTIVATE_TASK, .object = Middle},
                 .counter = Turns},
};
static const struct quietcore_osek_action actions[] = {
    {.kind = QUIETCORE_OSEK_ACTIVATE_TASK, .object = Middle},
    {.kind = QUIETCORE_OSEK_INCREMENT_COUNTER, .object = Turns},
};
static const struct quietcore_osek_expiry_point points[] = {
    {.offset = 0u, .first_action = 0u, .action_count = 1u},
    {.offset = 3u, .first_action = 1u, .action_count = 1u},
};
static const struct quietcore_osek_schedule_table tables[] = {
    [Table] = {.counter = Clock, .first_point = 0u, .point_count = 2u, .duration = 5u, .start = 1u},
};

#ifdef MESSAGES
static const struct quietcore_osek_message messages[] = {
    {.number = 3u, .notification = QUIETCORE_OSEK_NOTIFY_TASK, .object = Middle},
    {.number = 4u, .notification = QUIETCORE_OSEK_NOTIFY_EVENT, .object = High, .events = Ping},
    {.number = 3u, .is_group = 1u, .notification = QUIETCORE_OSEK_NOTIFY_ISR, .object = 0u},
};
#endif

const struct quietcore_osek_configuration quietcore_osek_configuration = {
    .version = QUIETCORE_OSEK_VERSION,
    .conformance = QUIETCORE_OSEK_ECC1,
    .checking = QUIETCORE_OSEK_EXTENDED,
    .accounting = ACCOUNTING,
    .mode_count = 2u,
    .hooks = {.startup = StartupHook,
              .shutdown = ShutdownHook,
              .error = ErrorHook,
              .pre_task = PreTaskHook,
              .post_task = PostTaskHook},
    .tasks = tasks,
    .isrs = isrs,
    .resources = resources,
    .counters = counters,
    .alarms = alarms,
    .schedule_tables = tables,
    .expiry_points = points,
    .actions = actions,
#ifdef MESSAGES
    .messages = messages,
    .message_count = sizeof messages / sizeof *messages,
#endif
    .task_names = quietcore_osek_task_names,
    .task_count = sizeof tasks / sizeof *tasks,
    .isr_count = sizeof isrs / sizeof *isrs,
    .resource_count = sizeof resources / sizeof *resources,
    .counter_count = sizeof counters / sizeof *counters,
    .alarm_count = sizeof alarms / sizeof *alarms,
    .schedule_table_count = sizeof tables / sizeof *tables,
    .expiry_point_count = sizeof points / sizeof *points,
    .action_count = sizeof actions / sizeof *actions,
};
