/* A module as the glue of a built program makes it, with a program that counts, crashes or loops. */
#include <stddef.h>
#include <stdint.h>

struct quietcore_services;

struct quietcore_module {
    uint32_t version;
    uint32_t rate_count;
    void (*initialize)(void);
    void (*step)(uint32_t rate);
    void (*terminate)(void);
    const char *(*error_status)(void);
    const struct quietcore_services **services;
    void (*interrupt)(void);
    const char *const *tasks;
    uint32_t task_count;
    uint32_t (*overflowed)(const void *address);
    uint32_t (*under_way)(void);
    const void *(*guard)(uint32_t index, size_t *bytes);
};

#ifndef VERSION
#define VERSION 3
#endif

int32_t counts[2] = {40, 50};
int32_t *volatile where = &counts[0];
int32_t divisor;
static const struct quietcore_services *services;

static void initialize(void) { counts[1] = 7; }
static void step(uint32_t rate)
{
    if (rate == 1) {
        counts[1] = counts[0] / divisor;
    }
    *where += 1;
}
static void terminate_it(void) { counts[0] = -1; }
static const char *error_status(void) { return counts[0] > 100 ? "too many" : 0; }

static uint32_t overflowed(const void *address) { return (uintptr_t)address == 64 ? 1 : UINT32_MAX; }
static uint32_t under_way(void) { return counts[0] == 42 ? 1 : UINT32_MAX; }
static const char *const tasks[] = {"fast", "slow"};

__attribute__((visibility("default"))) const struct quietcore_module quietcore_module = {
    VERSION, 2, initialize, step, terminate_it, error_status, &services, 0, tasks, 2, overflowed,
    under_way,
};
