/* A module whose `terminate` never returns, and whose `initialize` is one of four functions. */
#include <string.h>

#include "quietcore_module.h"

static void good(void) {}
static void endless(void)
{
    for (volatile int turn = 0;; turn = !turn) {
    }
}
static void crash(void) { *(volatile int *)(uintptr_t)0x40 = 1; }
/* The C library reads where nothing is. */
static void crash_in_library(void)
{
    const char *volatile nothing = 0;
    static volatile size_t length;
    length = strlen(nothing);
}
static void step(uint32_t rate) { (void)rate; }
static const char *error_status(void) { return 0; }
static const struct quietcore_services *services;

const struct quietcore_module quietcore_module = {
    .version = QUIETCORE_MODULE_VERSION,
    .rate_count = 1,
    .initialize = INITIALIZE,
    .step = step,
    .terminate = endless,
    .error_status = error_status,
    .services = &services,
};
