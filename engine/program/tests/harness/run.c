/*
 * Loads a module the way a partition does, or puts an image for a guest where it belongs (see place.h), and
 * does what its arguments say, one after the other:
 *
 *   run MODULE IMAGE_ADDRESS IMAGE_BYTES COMMAND...
 *
 *   remap                       puts the data image into shared memory, in place
 *   services                    gives the program services that know signals 3 and 4
 *   init | terminate            calls them
 *   step:RATE:COUNT             steps
 *   status                      prints the error status, or "none"
 *   peek:OFFSET:BYTES           prints a little-endian word of the data image
 *   poke:OFFSET:BYTES:MASK:VALUE  changes the bits of a word
 *
 * A fault prints "fault" with the address of the instruction, counted from the load base; for an
 * image that is the address itself.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "place.h"
#include "quietcore_services.h"

static unsigned char *image;
/* What is read: the image itself, after a remap the same memory as a monitor sees it. */
static const unsigned char *outside;

static void on_fault(int number, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;
#if defined(__x86_64__)
    uintptr_t instruction = (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    uintptr_t instruction = (uintptr_t)at->uc_mcontext.pc;
#else
    uintptr_t instruction = 0;
    (void)at;
#endif
    (void)info;
    leave();
    printf("fault %d %" PRIxPTR "\n", number, instruction - base);
    fflush(stdout);
    _exit(0);
}

static uint8_t receive(const void *context, uint16_t signal, void *value)
{
    const double answer = 41.0;
    (void)context;
    if (signal != 3) {
        return 1;
    }
    memcpy(value, &answer, sizeof answer);
    return 0;
}

static uint8_t send(const void *context, uint16_t signal, const void *value)
{
    double sent;
    (void)context;
    memcpy(&sent, value, sizeof sent);
    printf("sent %u %g\n", (unsigned)signal, sent);
    return 0;
}

static const struct quietcore_services services = {
    .version = QUIETCORE_SERVICES_VERSION,
    .bytes = sizeof services,
    .send_signal = send,
    .receive_signal = receive,
};

static int remap(size_t bytes)
{
    int file = memfd_create("image", 0);
    if (file < 0 || write(file, image, bytes) != (ssize_t)bytes) {
        return 1;
    }
    void *mapped = mmap(image, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    outside = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    return mapped != image || outside == MAP_FAILED;
}

static int command(const struct quietcore_module *module, char *text, size_t bytes)
{
    uint64_t offset, length, mask, value, rate, count, word = 0;

    if (strcmp(text, "remap") == 0) {
        return remap(bytes);
    } else if (strcmp(text, "services") == 0) {
        *module->services = &services;
        no_thread = 0;
    } else if (strcmp(text, "init") == 0) {
        enter();
        module->initialize();
        leave();
    } else if (strcmp(text, "terminate") == 0) {
        enter();
        module->terminate();
        leave();
    } else if (strcmp(text, "status") == 0) {
        const char *status = module->error_status();
        printf("%s\n", status ? status : "none");
    } else if (sscanf(text, "step:%" SCNu64 ":%" SCNu64, &rate, &count) == 2) {
        enter();
        while (count--) {
            module->step((uint32_t)rate);
        }
        leave();
    } else if (sscanf(text, "peek:%" SCNu64 ":%" SCNu64, &offset, &length) == 2) {
        memcpy(&word, outside + offset, length);
        printf("%" PRIu64 "\n", word);
    } else if (sscanf(text, "poke:%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64, &offset, &length,
                      &mask, &value) == 4) {
        memcpy(&word, image + offset, length);
        word = (word & ~mask) | value;
        memcpy(image + offset, &word, length);
    } else {
        return 1;
    }
    return 0;
}

int main(int count, char **arguments)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    if (count < 4) {
        return 2;
    }
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    const struct quietcore_module *module = load(arguments[1]);
    image = (unsigned char *)(base + strtoull(arguments[2], NULL, 10));
    outside = image;
    size_t bytes = strtoull(arguments[3], NULL, 10);
    printf("rates %u\n", module->rate_count);
    for (int index = 4; index < count; index++) {
        if (command(module, arguments[index], bytes) != 0) {
            fprintf(stderr, "failed: %s\n", arguments[index]);
            return 2;
        }
    }
    fflush(stdout);
    return 0;
}
