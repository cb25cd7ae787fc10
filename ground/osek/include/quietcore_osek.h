/**
 * @file quietcore_osek.h
 * @brief The tables that the OSEK kernel runs by, and how a program's surroundings drive it.
 *
 * Programs include os.h. This file is for what a generator writes: the tables (`os_cfg.c`) and the
 * glue of a module. The kernel checks the tables before it starts, and refuses those that can't work.
 *
 * @code
 * level      0        1 ... 254              255            interrupt levels 1 ... 62
 *            idle     tasks, by priority     RES_SCHEDULER  ISRs, by priority
 * @endcode
 *
 * A larger number is more urgent on both scales. Identifiers are positions in the tables. Sets of
 * application modes have one bit each, mode 0 the lowest. Where there are no entries, a table may
 * be null.
 */
#ifndef QUIETCORE_OSEK_H
#define QUIETCORE_OSEK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of these layouts; the kernel refuses tables of another one. */
#define QUIETCORE_OSEK_VERSION 2u

/** Most tasks. */
#define QUIETCORE_OSEK_TASKS_MAX 255u
/** Most resources, RES_SCHEDULER among them. */
#define QUIETCORE_OSEK_RESOURCES_MAX 255u
/** Most alarms. */
#define QUIETCORE_OSEK_ALARMS_MAX 255u
/** Most counters. */
#define QUIETCORE_OSEK_COUNTERS_MAX 32u
/** Most schedule tables. */
#define QUIETCORE_OSEK_SCHEDULE_TABLES_MAX 32u
/** Most messages whose arrival something follows. */
#define QUIETCORE_OSEK_MESSAGES_MAX 64u
/** Most ISRs. */
#define QUIETCORE_OSEK_ISRS_MAX 62u
/** Most application modes. */
#define QUIETCORE_OSEK_MODES_MAX 32u
/** The level of a task that holds RES_SCHEDULER, or is not preemptable. */
#define QUIETCORE_OSEK_SCHEDULER_LEVEL 255u

/** @name Conformance classes (OSEK OS 2.2.3, 3.2) */
/** @{ */
#define QUIETCORE_OSEK_BCC1 0u
#define QUIETCORE_OSEK_BCC2 1u
#define QUIETCORE_OSEK_ECC1 2u
#define QUIETCORE_OSEK_ECC2 3u
/** @} */

/** @name How much services check (OSEK OS 2.2.3, 11.1.1) */
/** @{ */
#define QUIETCORE_OSEK_STANDARD 0u
#define QUIETCORE_OSEK_EXTENDED 1u
/** @} */

/** @name Kinds of tasks */
/** @{ */
#define QUIETCORE_OSEK_BASIC 0u
#define QUIETCORE_OSEK_EXTENDED_TASK 1u
/** @} */

/** @name Scales on which a ceiling stands */
/** @{ */
#define QUIETCORE_OSEK_TASK_LEVEL 0u
#define QUIETCORE_OSEK_INTERRUPT_LEVEL 1u
/** @} */

/** @name What an alarm or an expiry point does */
/** @{ */
/** Activates the task `object`. */
#define QUIETCORE_OSEK_ACTIVATE_TASK 0u
/** Sets `events` of the task `object`. */
#define QUIETCORE_OSEK_SET_EVENT 1u
/** Calls `callback`. */
#define QUIETCORE_OSEK_CALLBACK 2u
/** Advances the software counter `object` by one. */
#define QUIETCORE_OSEK_INCREMENT_COUNTER 3u
/** @} */

/** @name What follows a message that has come */
/** @{ */
/** Activates the task `object`. */
#define QUIETCORE_OSEK_NOTIFY_TASK 0u
/** Sets `events` of the task `object`. */
#define QUIETCORE_OSEK_NOTIFY_EVENT 1u
/** Raises the ISR `object`, which is of category 2. */
#define QUIETCORE_OSEK_NOTIFY_ISR 2u
/** @} */

/** A function of the program. */
typedef void (*quietcore_osek_entry)(void);

/** A task. */
struct quietcore_osek_task {
    quietcore_osek_entry entry; /**< Its function; never null. */
    uint64_t events;            /**< Events that it may wait for, a bit each; 0 for a basic task. */
    uint64_t budget_ns;         /**< Longest execution time of a job, in ns; 0 for no limit. */
    uint64_t inter_arrival_ns;  /**< Shortest time between two activations, in ns; 0 for no limit. */
    uint32_t autostart;         /**< Application modes in which it is activated at the start. */
    uint32_t stack_bytes;       /**< Bytes of its stack. */
    uint8_t priority;           /**< Its level, 1 to 254. */
    uint8_t running_level;      /**< The level it runs at: see running_level in configuration.rs. */
    uint8_t activations;        /**< Most activation requests at the same time, at least 1. */
    uint8_t kind;               /**< QUIETCORE_OSEK_BASIC or QUIETCORE_OSEK_EXTENDED_TASK. */
};

/** An interrupt service routine. */
struct quietcore_osek_isr {
    quietcore_osek_entry entry; /**< Its function; never null. */
    uint32_t source;            /**< What raises it; see quietcore_osek_raise(). */
    uint8_t level;              /**< Its interrupt level, 1 to 62; category 1 above all of category 2. */
    uint8_t category;           /**< 1 or 2. */
};

/** A resource. */
struct quietcore_osek_resource {
    uint8_t scale;   /**< QUIETCORE_OSEK_TASK_LEVEL or QUIETCORE_OSEK_INTERRUPT_LEVEL. */
    uint8_t ceiling; /**< The highest level of those that use it. */
};

/** A counter. */
struct quietcore_osek_counter {
    uint32_t max_allowed;    /**< Its largest value; the next one is 0. */
    uint32_t ticks_per_base; /**< Ticks of the source for one of the counter; told, not used. */
    uint32_t min_cycle;      /**< Shortest cycle of a cyclic alarm, in ticks. */
    uint8_t hardware;        /**< 1: the machine's tick drives it. 0: IncrementCounter() does. */
    uint64_t tick_ns;        /**< Time of one tick of a hardware counter, in ns; else 0. */
};

/** What an alarm or an expiry point does. */
struct quietcore_osek_action {
    uint8_t kind;                  /**< QUIETCORE_OSEK_ACTIVATE_TASK and so on. */
    uint16_t object;               /**< The task, or the counter. */
    uint64_t events;               /**< The events to set. */
    quietcore_osek_entry callback; /**< The function to call; null for other actions. */
};

/** An alarm. */
struct quietcore_osek_alarm {
    struct quietcore_osek_action action; /**< What it does. */
    uint16_t counter;                    /**< The counter it belongs to. */
    uint32_t autostart;                  /**< Application modes in which it is set at the start. */
    uint32_t first;                      /**< Where it starts by itself: ticks until then; 0 is 1. */
    uint32_t cycle;                      /**< Where it starts by itself: its cycle; 0 for none. */
};

/** An expiry point of a schedule table. */
struct quietcore_osek_expiry_point {
    uint32_t offset;       /**< Ticks from the start of the table. */
    uint16_t first_action; /**< Its first action. */
    uint16_t action_count; /**< How many it has. */
};

/** A schedule table. */
struct quietcore_osek_schedule_table {
    uint16_t counter;     /**< The counter that drives it. */
    uint16_t first_point; /**< Its first expiry point. */
    uint16_t point_count; /**< How many it has, by rising offset; at least one. */
    uint8_t repeating;    /**< 1: it begins again when it is over. 0: it ends. */
    uint32_t duration;    /**< Ticks of one run. */
    uint32_t autostart;   /**< Application modes in which it starts by itself. */
    uint32_t start;       /**< Ticks from StartOS() to its start then; at least 1. */
};

/** A message of the partition's channels, and what follows when it has come. */
struct quietcore_osek_message {
    uint64_t events;      /**< The events to set. */
    uint16_t number;      /**< The number of the signal, queue or group, as Com.h has it. */
    uint8_t object;       /**< The task, or the ISR. */
    uint8_t notification; /**< QUIETCORE_OSEK_NOTIFY_TASK and so on. */
    uint8_t is_group;     /**< 1 where `number` is that of a group. */
};

/** The hooks of the program; null where it has none. */
struct quietcore_osek_hooks {
    quietcore_osek_entry startup;     /**< StartupHook() */
    void (*shutdown)(uint8_t status); /**< ShutdownHook() */
    void (*error)(uint8_t status);    /**< ErrorHook() */
    quietcore_osek_entry pre_task;    /**< PreTaskHook() */
    quietcore_osek_entry post_task;   /**< PostTaskHook() */
};

/** All tables of a program. They are constant, and outlive the kernel. */
struct quietcore_osek_configuration {
    uint32_t version;     /**< QUIETCORE_OSEK_VERSION. */
    uint8_t conformance;  /**< QUIETCORE_OSEK_BCC1 and so on. */
    uint8_t checking;     /**< QUIETCORE_OSEK_STANDARD or QUIETCORE_OSEK_EXTENDED. */
    uint8_t accounting;   /**< 1: jobs are told to quietcore_services.job; needed for budgets. */
    uint8_t mode_count;   /**< Number of application modes, 1 to 32. */
    struct quietcore_osek_hooks hooks;
    const struct quietcore_osek_task *tasks;
    const struct quietcore_osek_isr *isrs;
    const struct quietcore_osek_resource *resources;
    const struct quietcore_osek_counter *counters;
    const struct quietcore_osek_alarm *alarms;
    const struct quietcore_osek_schedule_table *schedule_tables;
    const struct quietcore_osek_expiry_point *expiry_points;
    const struct quietcore_osek_action *actions;
    const struct quietcore_osek_message *messages;
    const char *const *task_names; /**< Names of the tasks, as many as tasks; null where unknown. */
    uint32_t task_count;
    uint32_t isr_count;
    uint32_t resource_count;
    uint32_t counter_count;
    uint32_t alarm_count;
    uint32_t schedule_table_count;
    uint32_t expiry_point_count;
    uint32_t action_count;
    uint32_t message_count;
};

/** The tables of the program; generated. */
extern const struct quietcore_osek_configuration quietcore_osek_configuration;
/** The names of its tasks; generated. */
extern const char *const quietcore_osek_task_names[];

/** What the loader of a module offers; see quietcore_services.h. */
struct quietcore_services;

/**
 * @name A program of its own
 * StartOS() of os.h calls this one.
 */
/** @{ */

/**
 * @brief Runs the kernel in the calling thread, with ticks of a timer of its own. Returns after
 * ShutdownOS(), and then nothing is left behind: no timer, no signal handler, no memory.
 * @param configuration the tables.
 * @param mode the application mode.
 * @return The status that ShutdownOS() got; 255 where the kernel could not start, and
 * quietcore_osek_error() says why.
 */
uint8_t quietcore_osek_start(const struct quietcore_osek_configuration *configuration, uint8_t mode);

/** @} */

/**
 * @name A module in a partition
 * The glue calls these, each from the thread that leads the partition. After a fault of the program
 * that made its caller jump out of one of them, quietcore_osek_terminate() or
 * quietcore_osek_initialize() follow.
 */
/** @{ */

/**
 * @brief Starts the kernel: startup hook, tasks, alarms and tables that start by themselves. Tasks
 * run from the first step on.
 * @param configuration the tables.
 * @param mode the application mode.
 * @param services what the loader offers; version 1 serves, without times and accounts.
 * @return 0 when it started; else quietcore_osek_error() says why not.
 */
uint8_t quietcore_osek_initialize(const struct quietcore_osek_configuration *configuration,
                                  uint8_t mode, const struct quietcore_services *services);
/**
 * @brief Looks at the messages, raises the tick, as many ticks as are due, and runs the tasks until none is ready, or until
 * the step has to be back.
 */
void quietcore_osek_step(void);
/**
 * @brief Told by the loader's signal handler, in the thread inside of quietcore_osek_step(): an
 * instant has come that was asked for. On other threads and outside of steps nothing comes of it. The
 * handler runs on the stack that it finds (no SA_ONSTACK), and blocks nothing (SA_NODEFER, empty
 * sa_mask): this function returns when what was interrupted goes on, perhaps in a later step.
 */
void quietcore_osek_interrupt(void);
/** @brief Ends the kernel without the shutdown hook. Nothing of it is left. */
void quietcore_osek_terminate(void);
/**
 * @brief Why the kernel does not run.
 * @return A sentence that stays valid; null where it runs, or was ended by
 * quietcore_osek_terminate().
 */
const char *quietcore_osek_error(void);
/**
 * @brief Whose stack overflowed, asked after a fault of the thread inside of quietcore_osek_step()
 * or quietcore_osek_initialize().
 * @param address what the fault accessed; where the operating system tells none (`SI_KERNEL`), the
 * stack pointer: a signal for which the stack had no room looks like that.
 * @return The task that ran, where its stack ends there; UINT32_MAX where it was something else.
 */
uint32_t quietcore_osek_overflowed(const void *address);
/**
 * @brief What lies below a stack: whole pages that nothing touches, and that a loader may make no
 * memory where quietcore_osek_initialize() could not.
 * @param index of the stack, from 0.
 * @param bytes gets how many bytes they are.
 * @return Their first address; null after the last stack.
 */
const void *quietcore_osek_guard(uint32_t index, size_t *bytes);
/**
 * @brief Which task a driven kernel was at when it was left: at the end of a step, or by a fault.
 * @return The task that ran; UINT32_MAX where the kernel was idle, or does not run.
 */
uint32_t quietcore_osek_under_way(void);

/** @} */

/**
 * @name Interrupts
 * An ISR has the number `source` in its table. In a program of its own the real-time signal
 * `SIGRTMIN + source` raises it too, for sources below 27.
 */
/** @{ */

/**
 * @brief Raises interrupts of a source. Any thread may call it. It is taken as soon as the interrupt
 * level allows.
 * @param source the number in the table of ISRs; any other is ignored.
 */
void quietcore_osek_raise(uint32_t source);
/**
 * @brief Raises interrupts of a source from the kernel's own thread, as an instruction `int` would:
 * where the level allows, the ISR has run when this returns. From any other thread it does what
 * quietcore_osek_raise() does.
 * @param source the number in the table of ISRs; any other is ignored.
 */
void quietcore_osek_trigger(uint32_t source);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* QUIETCORE_OSEK_H */
