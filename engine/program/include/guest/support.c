/*
 * What a program for a guest has in place of an operating system and its threads. Linked before the
 * C library, so that the library takes these functions in place of its own.
 *
 * The library's functions find what belongs to a thread through the segment register FS. Here only
 * one word of that is left in use: the one by which they notice that their stack was overwritten,
 * where they were compiled so.
 */
#include <stddef.h>
#include <stdint.h>

/* The model-specific register that holds the base of FS. */
#define FS_BASE 0xC0000100u

/*
 * What FS refers to: first its own address, as the ABI says; at 0x28 the word that is compared. It
 * lies at the start of the data of every build, and the word is zero in all of them: so it does
 * not matter to which of the two slots FS refers, nor whether that is being written.
 */
__attribute__((section(".quietcore.thread"), used))
static uintptr_t quietcore_thread[8] = {(uintptr_t)quietcore_thread};

/* Called before anything else of the program. In a process, which is not privileged, FS is that of
 * the process. */
void quietcore_guest_begin(void)
{
    uint16_t code_segment;

    __asm__ volatile("mov %%cs, %0" : "=r"(code_segment));
    if ((code_segment & 3u) == 0u) {
        uintptr_t base = (uintptr_t)quietcore_thread;
        __asm__ volatile("wrmsr"
                         :
                         : "c"(FS_BASE), "a"((uint32_t)base), "d"((uint32_t)(base >> 32))
                         : "memory");
    }
}

/* An invalid instruction: the guest reports it as the crash that it is. */
__attribute__((noreturn)) static void crash(void)
{
    __builtin_trap();
}

/* One error number for all tasks. */
static int error_number;

int *__errno_location(void)
{
    return &error_number;
}

/* The library's own name for it. */
int *___errno_location(void)
{
    return &error_number;
}

__attribute__((noreturn)) void abort(void)
{
    crash();
}

__attribute__((noreturn)) void __assert_fail(const char *text, const char *file, int line,
                                             const char *function)
{
    (void)text;
    (void)file;
    (void)line;
    (void)function;
    crash();
}

__attribute__((noreturn)) void __stack_chk_fail(void)
{
    crash();
}

/* A stream that prints into memory has no lock; this is called for others alone. */
int __lockfile(void *stream)
{
    (void)stream;
    return 0;
}

void __unlockfile(void *stream)
{
    (void)stream;
}

/* Texts of errors depend on the language of a thread. */
char *strerror(int error)
{
    static char text[] = "error of the C library";

    (void)error;
    return text;
}

/* Wide characters of the locale "C", as the library without a thread has no other. */
int wctomb(char *text, wchar_t wide)
{
    if (text == NULL) {
        return 0;
    }
    if ((uint32_t)wide > 127u) {
        return -1;
    }
    *text = (char)wide;
    return 1;
}
