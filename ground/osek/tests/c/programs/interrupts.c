/* ISRs by signals of another thread and of the process, and by the kernel's doorbell; nesting; a
 * burst of signals that came while the thread was away; category 1. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
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
static atomic_int refused;
/* Whoever raises waits here until what it led to has been seen. */
static sem_t middle_ended;
static sem_t urgent_ran;
static volatile int button_runs;
static volatile int nested;

ISR(Button)
{
    button_runs = 1;
    atomic_fetch_add(&buttons, 1);
    if (ActivateTask(Middle) != E_OK) {
        atomic_fetch_add(&refused, 1);
    }
    errno = 77;
    button_runs = 0;
}

ISR(Urgent)
{
    nested += button_runs;
    atomic_fetch_add(&urgents, 1);
    sem_post(&urgent_ran);
}

ISR(Fast) { atomic_fetch_add(&fasts, 1); }

TASK(Middle)
{
    atomic_fetch_add(&middles, 1);
    TerminateTask();
}

static void wait_for(sem_t *event)
{
    while (sem_wait(event) != 0) { /* A signal that was meant for the process came here. */
    }
}

static void *raise_often(void *unused)
{
    for (int index = 0; index < RAISES; index++) {
        quietcore_osek_raise(BUTTON);
        wait_for(&middle_ended);
    }
    return unused;
}

static void *signal_often(void *unused)
{
    for (int index = 0; index < RAISES; index++) {
        kill(getpid(), SIGRTMIN + (int)URGENT);
        wait_for(&urgent_ran);
    }
    return unused;
}

TASK(Low)
{
    pthread_t threads[2];
    void *(*const starts[2])(void *) = {raise_often, signal_often};
    sem_init(&middle_ended, 0, 0);
    sem_init(&urgent_ran, 0, 0);
    errno = 5;
    for (int index = 0; index < 2; index++) {
        if (pthread_create(&threads[index], NULL, starts[index], NULL) != 0) {
            puts("no thread");
        }
    }
    int ended = 0;
    while (ended < RAISES || atomic_load(&urgents) < RAISES) {
        /* A job of Middle that counted itself has ended when Low, which is lower, runs. */
        for (; ended < atomic_load(&middles) + atomic_load(&refused); ended++) {
            sem_post(&middle_ended);
        }
    }
    printf("errno of the interrupted: %d\n", errno);
    SuspendOSInterrupts(); /* What joins must not be preempted in the library. */
    for (int index = 0; index < 2; index++) {
        pthread_join(threads[index], NULL);
    }
    ResumeOSInterrupts();
    printf("raised %d, signalled %d, activated %d, refused %d\n", atomic_load(&buttons),
           atomic_load(&urgents), atomic_load(&middles), atomic_load(&refused));

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
