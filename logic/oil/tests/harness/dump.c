/* Prints the generated tables as numbers, and what each function that they name calls itself. */
#include <inttypes.h>
#include <stdio.h>

#include "quietcore_osek.h"

extern const char *called;

static const struct quietcore_osek_configuration *const tables = &quietcore_osek_configuration;

static const char *call(quietcore_osek_entry entry)
{
    called = "nothing";
    if (entry != 0)
        entry();
    return called;
}

static void print_action(const struct quietcore_osek_action *action)
{
    printf(" %u %u %" PRIu64 " %s", action->kind, action->object, action->events,
           call(action->callback));
}

static void print_tasks(void)
{
    for (uint32_t i = 0; i < tables->task_count; i++) {
        const struct quietcore_osek_task *task = &tables->tasks[i];
        printf("task %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %u %u %u %u\n",
               tables->task_names[i], call(task->entry), task->events, task->budget_ns,
               task->inter_arrival_ns, task->autostart, task->stack_bytes, task->priority,
               task->running_level, task->activations, task->kind);
    }
}

static void print_objects(void)
{
    for (uint32_t i = 0; i < tables->isr_count; i++) {
        const struct quietcore_osek_isr *isr = &tables->isrs[i];
        printf("isr %s %u %u %u\n", call(isr->entry), isr->source, isr->level, isr->category);
    }
    for (uint32_t i = 0; i < tables->resource_count; i++)
        printf("resource %u %u\n", tables->resources[i].scale, tables->resources[i].ceiling);
    for (uint32_t i = 0; i < tables->counter_count; i++) {
        const struct quietcore_osek_counter *counter = &tables->counters[i];
        printf("counter %u %u %u %u %" PRIu64 "\n", counter->max_allowed, counter->ticks_per_base,
               counter->min_cycle, counter->hardware, counter->tick_ns);
    }
}

static void print_times(void)
{
    for (uint32_t i = 0; i < tables->alarm_count; i++) {
        const struct quietcore_osek_alarm *alarm = &tables->alarms[i];
        printf("alarm %u %u %u %u", alarm->counter, alarm->autostart, alarm->first, alarm->cycle);
        print_action(&alarm->action);
        printf("\n");
    }
    for (uint32_t i = 0; i < tables->schedule_table_count; i++) {
        const struct quietcore_osek_schedule_table *table = &tables->schedule_tables[i];
        printf("table %u %u %u %u %u %u %u\n", table->counter, table->first_point,
               table->point_count, table->repeating, table->duration, table->autostart,
               table->start);
    }
    for (uint32_t i = 0; i < tables->expiry_point_count; i++) {
        const struct quietcore_osek_expiry_point *point = &tables->expiry_points[i];
        printf("point %u %u %u\n", point->offset, point->first_action, point->action_count);
    }
    for (uint32_t i = 0; i < tables->action_count; i++) {
        printf("action");
        print_action(&tables->actions[i]);
        printf("\n");
    }
}

static void print_messages(void)
{
    for (uint32_t i = 0; i < tables->message_count; i++) {
        const struct quietcore_osek_message *message = &tables->messages[i];
        printf("message %u %u %u %u %" PRIu64 "\n", message->number, message->is_group,
               message->notification, message->object, message->events);
    }
}

int main(void)
{
    printf("configuration %u %u %u %u\n", tables->conformance, tables->checking, tables->accounting,
           tables->mode_count);
    printf("hooks %d %d %d %d %d\n", tables->hooks.startup != 0, tables->hooks.shutdown != 0,
           tables->hooks.error != 0, tables->hooks.pre_task != 0, tables->hooks.post_task != 0);
    print_tasks();
    print_objects();
    print_times();
    print_messages();
    return 0;
}
