/* A module whose step does nothing but call one part of the C library, and never returns. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quietcore_module.h"

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

static void step(uint32_t rate)
{
    (void)rate;
    for (;;) {
        PART();
    }
}

static void nothing(void) {}
static const char *error_status(void) { return 0; }
static const struct quietcore_services *services;

const struct quietcore_module quietcore_module = {
    .version = QUIETCORE_MODULE_VERSION,
    .rate_count = 1,
    .initialize = nothing,
    .step = step,
    .terminate = nothing,
    .error_status = error_status,
    .services = &services,
};
