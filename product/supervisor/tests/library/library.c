#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

ExtY_library_T library_Y;
DW_library_T library_DW;
P_library_T library_P;
static RT_MODEL_library_T library_M_;
RT_MODEL_library_T *const library_M = &library_M_;

/* In turns on the two sides of what the C library keeps for a thread, so that it locks. */
static void allocate(void)
{
    static void *volatile kept[64];
    for (;;) {
        for (unsigned index = 0; index < 64; index++) {
            free(kept[index]);
            kept[index] = malloc(2000 + index * 600);
        }
    }
}

static void load(void)
{
    for (;;) {
        dlsym(RTLD_DEFAULT, "nothing has this name");
    }
}

/* The C library reads where nothing is. */
static void measure_nothing(void)
{
    const char *volatile nothing = NULL;
    library_Y.output = (double)strlen(nothing) + 1.0;
}

static void print_on_all(void)
{
    printf("step %u a\n", (unsigned)library_DW.total);
    fprintf(stderr, "step %u b\n", (unsigned)library_DW.total);
    puts("and more");
    if (write(1, "plainly\n", 8) < 0 || write(0, "nowhere", 7) < 0) {
        library_Y.output = -1.0;
    }
}

static void print_much(void)
{
    char line[1000];
    memset(line, 'x', sizeof line);
    for (int times = 0; times < 100; times++) {
        fwrite(line, 1, sizeof line, stdout);
        putchar('\n');
    }
}

static void close_all(void)
{
    for (int number = 0; number < 1100; number++) {
        close(number);
    }
    /* What is opened now gets the numbers that were the exchange's and the log's. */
    for (int number = 0; number < 1100; number++) {
        open("/dev/null", O_RDWR);
    }
    printf("nobody reads this\n");
}

/* Never outside of the C library, so wherever it is cut off, it is cut off in there. */
static void wait_for_ever(void)
{
    for (;;) {
        pause();
    }
}

void library_initialize(void)
{
    library_Y.output = 1.0;
}

void library_step(void)
{
    library_DW.total++;
    switch (library_P.call) {
    case 1: print_on_all(); break;
    case 2: print_much(); break;
    case 3: close_all(); library_P.call = 0; break;
    case 4: allocate(); break;
    case 5: load(); break;
    case 6: munlockall(); library_P.call = 0; break;
    case 7: library_P.call = 0; measure_nothing(); break;
    case 8: wait_for_ever(); break;
    }
}

void library_terminate(void)
{
}
