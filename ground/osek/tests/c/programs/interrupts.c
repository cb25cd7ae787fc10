/* ISRs by signals of another thread and of the process, and by the kernel's doorbell; nesting; a
 * burst of signals that came while the thread was away; category 1. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os.h"

enum { RAISES = 2000, BURST = 500 };

static atomic_int buttons;
static atomic_int urgents;
static atomic_int fasts;
static atomic_int middles;
static volatile int button_runs;
static volatile int nested;

ISR(Button)
{
    button_runs = 1;
    atomic_fetch_add(&buttons, 1);
    ActivateTask(Middle);
    errno = 77;
    button_runs = 0;
}

ISR(Urgent)
{
    nested += button_runs;
    atomic_fetch_add(&urgents, 1);
}

ISR(Fast) { atomic_fetch_add(&fasts, 1); }

TASK(Middle)
{
    atomic_fetch_add(&middles, 1);
    TerminateTask();
}

static void *raise_often(void *unused)
{
    for (int index = 0; index < RAISES; index++) {
        const int before = atomic_load(&middles);
        quietcore_osek_raise(BUTTON);
        while (atomic_load(&middles) == before) { /* Each one arrives, and leads to a job. */
        }
    }
    return unused;
}

static void *signal_often(void *unused)
{
    for (int index = 0; index < RAISES; index++) {
        const int before = atomic_load(&urgents);
        kill(getpid(), SIGRTMIN + (int)URGENT);
        while (atomic_load(&urgents) == before) {
        }
    }
    return unused;
}

TASK(Low)
{
    pthread_t threads[2];
    void *(*const starts[2])(void *) = {raise_often, signal_often};
    errno = 5;
    for (int index = 0; index < 2; index++) {
        if (pthread_create(&threads[index], NULL, starts[index], NULL) != 0) {
            puts("no thread");
        }
    }
    while (atomic_load(&buttons) < RAISES || atomic_load(&urgents) < RAISES) {
    }
    printf("errno of the interrupted: %d\n", errno);
    SuspendOSInterrupts(); /* What joins must not be preempted in the library. */
    for (int index = 0; index < 2; index++) {
        pthread_join(threads[index], NULL);
    }
    ResumeOSInterrupts();
    printf("raised %d, signalled %d, activated %s\n", atomic_load(&buttons), atomic_load(&urgents),
           atomic_load(&middles) == RAISES ? "each time" : "too seldom");

    DisableAllInterrupts();
    quietcore_osek_trigger(FAST);
    const int held = atomic_load(&fasts);
    EnableAllInterrupts();
    SuspendOSInterrupts();
    quietcore_osek_trigger(FAST);
    ResumeOSInterrupts();
    printf("category 1: %d held, %d in all\n", held, atomic_load(&fasts));

    sigset_t set;
    sigset_t before;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + (int)BUTTON);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    const int buttons_before = atomic_load(&buttons);
    for (int index = 0; index < BURST; index++) {
        sigqueue(getpid(), SIGRTMIN + (int)BUTTON, (union sigval){.sival_int = index});
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    /* 500 frames of a signal on this stack would be 2 MB. */
    printf("a burst is survived: %s\n", atomic_load(&buttons) > buttons_before ? "ok" : "lost");
    ShutdownOS(E_OK);
}

int main(void)
{
    /* The caller blocks what the machine needs: it is let in while that runs, and only then. */
    sigset_t set;
    sigfillset(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    StartOS(OSDEFAULTAPPMODE);
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    printf("blocked again: %d\n", sigismember(&set, SIGRTMAX - 3) && sigismember(&set, SIGRTMIN));
    return 0;
}
