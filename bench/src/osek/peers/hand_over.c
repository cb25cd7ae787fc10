/* Hand-overs that Linux offers, each from a lower thread or context to a higher one and back.
 *
 *   hand_over KIND CPU PRIORITY TIMES
 *
 *   futex    two threads of SCHED_FIFO on one CPU; the lower one wakes the higher one, which runs at
 *            once and waits again
 *   condvar  the same with a condition variable of pthreads, signalled after its lock is free
 *   context  one thread; swapcontext to another context, and back
 */
#define _GNU_SOURCE

#include "reading.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static _Atomic uint32_t word;
static _Atomic int over;

static void wait_for_word(void)
{
    while (atomic_load(&word) == 0) {
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
}

static void *higher_by_futex(void *nothing)
{
    prioritise(1);
    for (;;) {
        wait_for_word();
        there_ended = reading();
        atomic_store(&word, 0);
        if (over) {
            return nothing;
        }
        back_began = reading();
    }
}

static void lower_by_futex(void)
{
    there_began = reading();
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    back_ended = reading();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked;

static void *higher_by_condvar(void *nothing)
{
    prioritise(1);
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!asked) {
            pthread_cond_wait(&changed, &lock);
        }
        there_ended = reading();
        asked = 0;
        if (over) {
            pthread_mutex_unlock(&lock);
            return nothing;
        }
        back_began = reading();
    }
}

static void lower_by_condvar(void)
{
    pthread_mutex_lock(&lock);
    asked = 1;
    pthread_mutex_unlock(&lock);
    there_began = reading();
    pthread_cond_signal(&changed);
    back_ended = reading();
}

static ucontext_t one, other;

static void other_context(void)
{
    for (;;) {
        there_ended = reading();
        back_began = reading();
        swapcontext(&other, &one);
    }
}

static void by_context(void)
{
    there_began = reading();
    swapcontext(&one, &other);
    back_ended = reading();
}

static void repeat(void (*once)(void))
{
    for (uint64_t time = 0; time < WARM_UP + times; time++) {
        once();
        take_down(time);
    }
}

static void with_thread(void *(*higher)(void *), void (*lower)(void))
{
    pthread_t thread;
    prioritise(0);
    int error = pthread_create(&thread, NULL, higher, NULL);
    if (error != 0) {
        fail("pthread_create", error);
    }
    /* It waits as soon as this thread sleeps once. */
    usleep(1000);
    repeat(lower);
    over = 1;
    lower();
    pthread_join(thread, NULL);
}

static void with_context(void)
{
    static char stack[64 * 1024];
    prioritise(0);
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof stack;
    makecontext(&other, other_context, 0);
    repeat(by_context);
}

int main(int count, char **arguments)
{
    if (count != 5) {
        fprintf(stderr, "usage: hand_over KIND CPU PRIORITY TIMES\n");
        return 2;
    }
    prepare(arguments + 2);
    if (strcmp(arguments[1], "futex") == 0) {
        with_thread(higher_by_futex, lower_by_futex);
    } else if (strcmp(arguments[1], "condvar") == 0) {
        with_thread(higher_by_condvar, lower_by_condvar);
    } else if (strcmp(arguments[1], "context") == 0) {
        with_context();
    } else {
        fprintf(stderr, "hand_over: there is no `%s`\n", arguments[1]);
        return 2;
    }
    print();
    return 0;
}
