/* Calls most of what generated code calls of the C library; the tests look at the results. */
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <immintrin.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double library_U = 0.5, library_Y, parsed, parts[4];
int kinds, sorted[4] = {3, 1, 4, 2}, wrong, kept, wide;
char text[64];
struct {
    char name[8];
} copied;
uint64_t quotient;

static int order(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

static int return_here(void)
{
    jmp_buf before;
    volatile int times = setjmp(before);

    if (times == 0) {
        longjmp(before, 7);
    }
    return times;
}

void library_initialize(void)
{
    srand(1);
}

void library_step(void)
{
    double u = library_U;

    library_Y = sin(u) + cos(u * 1e5) + tan(u) + exp(u) + log(u) + pow(u, 2.5) + sqrt(u) +
                atan2(u, 2) + fmod(u, 0.3) + floor(u) + hypot(u, 1) + tanh(u) + cbrt(u);
    kinds = !!isnan(library_Y * NAN) + 2 * !!isinf(u / 0.0) + 4 * (fpclassify(u) == FP_NORMAL) +
            8 * !!signbit(-u) + 16 * !!isfinite(u) + 32 * (fegetround() == FE_TONEAREST) +
            64 * (fabs(u) < DBL_MAX);
    snprintf(text, sizeof text, "%d %5.3f %s %lx %m %lc", INT_MAX, u, "axis", ULONG_MAX, L'z');
    parsed = strtod("-12.75e1", NULL) + (double)strtol("0x1f", NULL, 0);
    errno = 0;
    (void)strtol("99999999999999999999", NULL, 10);
    wrong = errno == ERANGE;
    qsort(sorted, 4, sizeof sorted[0], order);
    memcpy(&copied, "servo", 6);
    memmove(copied.name + 1, copied.name, 5);
    parts[0] = modf(3.25, &parts[1]);
    parts[2] = frexp(48.0, &wide);
    parts[3] = ldexp(0.75, 4);
    kept = return_here() + toupper('a') + !!isdigit('5') + (int)strlen(text) + abs(-3) +
           div(7, 2).quot;
    /* A division of 128 bits, which the compiler's own library does. */
    quotient = (uint64_t)((unsigned __int128)UINT64_MAX * (unsigned)kept / 1000003u);
}
