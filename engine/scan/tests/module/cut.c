/* A module whose step does nothing but call one part of the C library, and never returns. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct quietcore_module {
    unsigned version;
    unsigned rate_count;
    void (*initialize)(void);
    void (*step)(unsigned rate);
    void (*terminate)(void);
    const char *(*error_status)(void);
    const void **services;
    void (*interrupt)(void);
    const char *const *tasks;
    unsigned task_count;
    unsigned (*overflowed)(const void *address);
    unsigned (*under_way)(void);
    const void *(*guard)(unsigned index, unsigned long *bytes);
};

/* Of sizes that the C library keeps for no thread apart, and one that comes from the kernel. */
static void call_malloc(void)
{
    static void *volatile kept[64];
    for (unsigned index = 0; index < 64; index++) {
        void *old = kept[index];
        kept[index] = NULL; /* Cut off from here on it is lost, and not freed twice. */
        free(old);
        kept[index] = malloc(2000 + index * 600);
    }
    char *large = malloc(4 << 20);
    if (large) {
        memset(large, 1, 1 << 20);
    }
    free(large);
}

static void call_stdio(void)
{
    printf("step %d of %s: %f\n", 1, "many", 0.5);
    fflush(stdout);
}

static void call_loader(void)
{
    dlsym(RTLD_DEFAULT, "nothing has this name");
    void *self = dlopen(NULL, RTLD_NOW);
    if (self) {
        dlclose(self);
    }
}

static void step(unsigned rate)
{
    (void)rate;
    for (;;) {
        PART();
    }
}

static void nothing(void) {}
static const char *error_status(void) { return 0; }

const struct quietcore_module quietcore_module = {
    3, 1, nothing, step, nothing, error_status, 0, 0, 0, 0, 0, 0, 0,
};
