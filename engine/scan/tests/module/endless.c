/* A module whose `terminate` never returns, nor its `initialize` where that is `endless`. */
#include "quietcore_module.h"

static void good(void) {}
static void endless(void)
{
    for (volatile int turn = 0;; turn = !turn) {
    }
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
