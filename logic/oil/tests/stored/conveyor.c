/* The tables of the OSEK application `conveyor`. Generated from OIL; changes are lost. */
#include "quietcore_osek.h"
#include "os_cfg.h"

/* What the program defines: TASK(x), ISR(x), ALARMCALLBACK(x) and hooks. */
void quietcore_osek_task_drive(void);
void quietcore_osek_task_sort(void);
void quietcore_osek_task_fill(void);
void quietcore_osek_task_empty(void);
void quietcore_osek_task_report(void);
void quietcore_osek_isr_light_barrier(void);
void quietcore_osek_isr_stop_button(void);
void quietcore_osek_callback_box_is_full(void);
void StartupHook(void);
void ShutdownHook(uint8_t status);
void ErrorHook(uint8_t status);

/* Tasks. */
static const struct quietcore_osek_task quietcore_osek_tasks[] = {
    [drive] = {
        .entry = quietcore_osek_task_drive,
        .budget_ns = UINT64_C(500000),
        .inter_arrival_ns = UINT64_C(9000000),
        .stack_bytes = 16384u,
        .priority = 5u,
        .running_level = 5u,
        .activations = 1u,
        .kind = QUIETCORE_OSEK_BASIC,
    },
    [sort] = {
        .entry = quietcore_osek_task_sort,
        .events = UINT64_C(0x8000000000000003), /* part, jam, far */
        .autostart = 1u << normal | 1u << service,
        .stack_bytes = 32768u,
        .priority = 4u,
        .running_level = 4u,
        .activations = 1u,
        .kind = QUIETCORE_OSEK_EXTENDED_TASK,
    },
    [fill] = {
        .entry = quietcore_osek_task_fill,
        .stack_bytes = 16384u,
        .priority = 2u,
        .running_level = 3u,
        .activations = 3u,
        .kind = QUIETCORE_OSEK_BASIC,
    },
    [empty] = {
        .entry = quietcore_osek_task_empty,
        .stack_bytes = 16384u,
        .priority = 3u,
        .running_level = 3u,
        .activations = 1u,
        .kind = QUIETCORE_OSEK_BASIC,
    },
    [report] = {
        .entry = quietcore_osek_task_report,
        .stack_bytes = 16384u,
        .priority = 1u,
        .running_level = 255u,
        .activations = 1u,
        .kind = QUIETCORE_OSEK_BASIC,
    },
};

const char *const quietcore_osek_task_names[] = {
    [drive] = "drive",
    [sort] = "sort",
    [fill] = "fill",
    [empty] = "empty",
    [report] = "report",
};

/* ISRs. */
static const struct quietcore_osek_isr quietcore_osek_isrs[] = {
    [light_barrier] = { .entry = quietcore_osek_isr_light_barrier, .source = 0u, .level = 3u, .category = 2u },
    [stop_button] = { .entry = quietcore_osek_isr_stop_button, .source = 1u, .level = 40u, .category = 1u },
};

/* Resources. */
static const struct quietcore_osek_resource quietcore_osek_resources[] = {
    [belt] = { .scale = QUIETCORE_OSEK_INTERRUPT_LEVEL, .ceiling = 3u },
    [belt_again] = { .scale = QUIETCORE_OSEK_INTERRUPT_LEVEL, .ceiling = 3u },
    [paper] = { .scale = QUIETCORE_OSEK_TASK_LEVEL, .ceiling = 1u },
    [RES_SCHEDULER] = { .scale = QUIETCORE_OSEK_TASK_LEVEL, .ceiling = 255u },
};

/* Counters. */
static const struct quietcore_osek_counter quietcore_osek_counters[] = {
    [clock] = {
        .max_allowed = 4294967295u,
        .ticks_per_base = 10u,
        .min_cycle = 1u,
        .hardware = 1u,
        .tick_ns = UINT64_C(1000000),
    },
    [parts] = {
        .max_allowed = 99u,
        .ticks_per_base = 1u,
        .min_cycle = 2u,
    },
};

/* Alarms. */
static const struct quietcore_osek_alarm quietcore_osek_alarms[] = {
    [every_10_ms] = {
        .action = { .kind = QUIETCORE_OSEK_ACTIVATE_TASK, .object = drive },
        .counter = clock,
        .autostart = 1u << normal,
        .first = 10u,
        .cycle = 10u,
    },
    [count_part] = {
        .action = { .kind = QUIETCORE_OSEK_INCREMENT_COUNTER, .object = parts },
        .counter = clock,
    },
    [jammed] = {
        .action = { .kind = QUIETCORE_OSEK_SET_EVENT, .object = sort, .events = UINT64_C(0x8000000000000000) /* far */ },
        .counter = clock,
    },
    [full] = {
        .action = { .kind = QUIETCORE_OSEK_CALLBACK, .callback = quietcore_osek_callback_box_is_full },
        .counter = parts,
    },
};

/* Actions of all expiry points. */
static const struct quietcore_osek_action quietcore_osek_actions[] = {
    { .kind = QUIETCORE_OSEK_ACTIVATE_TASK, .object = fill },
    { .kind = QUIETCORE_OSEK_SET_EVENT, .object = sort, .events = UINT64_C(0x2) /* part */ },
    { .kind = QUIETCORE_OSEK_ACTIVATE_TASK, .object = empty },
    { .kind = QUIETCORE_OSEK_CALLBACK, .callback = quietcore_osek_callback_box_is_full },
};

/* Expiry points of all schedule tables. */
static const struct quietcore_osek_expiry_point quietcore_osek_expiry_points[] = {
    { .offset = 0u, .first_action = 0u, .action_count = 2u }, /* begin */
    { .offset = 50u, .first_action = 2u, .action_count = 2u }, /* middle */
};

/* Schedule tables. */
static const struct quietcore_osek_schedule_table quietcore_osek_schedule_tables[] = {
    [shift] = {
        .counter = clock,
        .first_point = 0u,
        .point_count = 2u,
        .repeating = 1u,
        .duration = 100u,
        .autostart = 1u << normal,
        .start = 5u,
    },
};

#if defined(ComConf_ComSignalGroup_order)
#define QUIETCORE_MESSAGE_order .number = ComConf_ComSignalGroup_order, .is_group = 1u
#elif defined(ComConf_ComSignal_order)
#define QUIETCORE_MESSAGE_order .number = ComConf_ComSignal_order
#else
#error "MESSAGE order: define ComConf_ComSignal_order, as the build for a partition of a site does"
#endif

#if defined(ComConf_ComSignalGroup_order_jam)
#define QUIETCORE_MESSAGE_order_jam .number = ComConf_ComSignalGroup_order_jam, .is_group = 1u
#elif defined(ComConf_ComSignal_order_jam)
#define QUIETCORE_MESSAGE_order_jam .number = ComConf_ComSignal_order_jam
#else
#error "MESSAGE order_jam: define ComConf_ComSignal_order_jam, as the build for a partition of a site does"
#endif

#if defined(ComConf_ComSignalGroup_drive)
#define QUIETCORE_MESSAGE_drive .number = ComConf_ComSignalGroup_drive, .is_group = 1u
#elif defined(ComConf_ComSignal_drive)
#define QUIETCORE_MESSAGE_drive .number = ComConf_ComSignal_drive
#else
#error "MESSAGE drive: define ComConf_ComSignal_drive, as the build for a partition of a site does"
#endif

/* Messages. */
static const struct quietcore_osek_message quietcore_osek_messages[] = {
    { QUIETCORE_MESSAGE_order, .notification = QUIETCORE_OSEK_NOTIFY_TASK, .object = report },
    { QUIETCORE_MESSAGE_order_jam, .notification = QUIETCORE_OSEK_NOTIFY_EVENT, .object = sort, .events = UINT64_C(0x1) /* jam */ },
    { QUIETCORE_MESSAGE_drive, .notification = QUIETCORE_OSEK_NOTIFY_ISR, .object = light_barrier },
};

const struct quietcore_osek_configuration quietcore_osek_configuration = {
    .version = QUIETCORE_OSEK_VERSION,
    .conformance = QUIETCORE_OSEK_ECC2,
    .checking = QUIETCORE_OSEK_STANDARD,
    .accounting = 1u,
    .mode_count = 2u,
    .hooks.startup = StartupHook,
    .hooks.shutdown = ShutdownHook,
    .hooks.error = ErrorHook,
    .task_names = quietcore_osek_task_names,
    .tasks = quietcore_osek_tasks,
    .task_count = 5u,
    .isrs = quietcore_osek_isrs,
    .isr_count = 2u,
    .resources = quietcore_osek_resources,
    .resource_count = 4u,
    .counters = quietcore_osek_counters,
    .counter_count = 2u,
    .alarms = quietcore_osek_alarms,
    .alarm_count = 4u,
    .schedule_tables = quietcore_osek_schedule_tables,
    .schedule_table_count = 1u,
    .expiry_points = quietcore_osek_expiry_points,
    .expiry_point_count = 2u,
    .actions = quietcore_osek_actions,
    .action_count = 4u,
    .messages = quietcore_osek_messages,
    .message_count = 3u,
};
