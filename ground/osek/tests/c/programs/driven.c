/* A loader in small: it drives the kernel step by step, with a timer of its own, and shows what
 * becomes of tasks that are too long, of crashes, and of a shutdown. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os.h"
#include "quietcore_services.h"

/* How long a step may take: far longer than a busy machine keeps a thread from its processor. */
#define STEP_NS 50000000u

/* The loader's time goes on by the cycle, except where a step has to be cut. */
static uint64_t due = 1000000000u;
static uint64_t until_in_ns;
static timer_t timer;
static int timer_calls;

static volatile int middles;
static volatile int lows;
static volatile long spun;
static volatile int fatal;
static volatile int in_section;
static volatile int section_ended;
static TickType seen_by_middle;

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

TASK(Low)
{
    lows++;
    SetRelAlarm(ActivateMiddle, 1u, 1u);
    for (;;) { /* Background: cut by the end of each step, preempted by the alarm. */
        spun++;
    }
}

TASK(Middle)
{
    if (fatal == 7) {
        GetCounterValue(Clock, &seen_by_middle);
    }
    if (++middles == 3) {
        ActivateTask(High);
    }
    TerminateTask();
}

static __attribute__((noinline)) int descend(volatile int depth)
{
    volatile char frame[512];
    memset((char *)frame, depth, sizeof frame);
    return depth == 0 ? 0 : descend(depth - 1) + frame[1];
}

TASK(High)
{
    if (fatal == 4) {
        descend(1000000);
    }
    if (fatal == 1) {
        *(volatile int *)8 = 1;
    }
    if (fatal == 2) {
        ShutdownOS(7);
    }
    if (fatal == 3) {
        in_section = 1;
        SuspendOSInterrupts();
        const uint64_t end = now_ns() + 2u * STEP_NS;
        while (now_ns() < end) {
        }
        section_ended = 1;
        ResumeOSInterrupts();
        section_ended = 2;
    }
    if (fatal == 6) {
        for (int index = 0; index < 100000; index++) {
            ActivateTask(High);
        }
    }
    if (fatal == 5) {
        const uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + STEP_NS + STEP_NS / 2u;
        while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
        }
    }
    TerminateTask();
}

void StartupHook(void) { puts("StartupHook"); }

void ShutdownHook(StatusType status) { printf("ShutdownHook %d\n", status); }

static uint64_t tell_due(const void *context) { return context == NULL ? due : 0u; }

static uint64_t tell_until(const void *context)
{
    return context == NULL ? now_ns() + until_in_ns : 0u;
}

static void interrupt_at(const void *context, uint64_t instant)
{
    struct itimerspec setting;
    memset(&setting, 0, sizeof setting);
    if (instant != 0u) {
        setting.it_value.tv_sec = (time_t)(instant / 1000000000u);
        setting.it_value.tv_nsec = (long)(instant % 1000000000u);
    }
    timer_settime(timer, TIMER_ABSTIME, &setting, NULL);
    timer_calls += context == NULL;
}

static int jobs[4];
static uint64_t latest_release;
static uint64_t execution_ns; /* Of High. */
static uint64_t running_ns;

static void note_job(const void *context, const struct quietcore_job *job)
{
    jobs[job->task] += context == NULL;
    latest_release = job->released_ns;
    if (job->task == High) {
        execution_ns = job->execution_ns;
        running_ns = job->finished_ns - job->started_ns;
    }
}

/* Set where the number of cycles depends on the machine, and with it the activations too many. */
static int some_cycles;
static int told;

static void note_error(const void *context, uint32_t task, uint8_t status, uint8_t service)
{
    told++;
    if (context == NULL && !some_cycles) {
        printf("error: task %d status %d service %d\n", (int)task, status, service);
    }
}

static void on_timer(int signal, siginfo_t *information, void *context)
{
    (void)signal, (void)information, (void)context;
    quietcore_osek_interrupt();
}

static sigjmp_buf way_out;
static const void *fault_address;

static void on_fault(int signal, siginfo_t *information, void *context)
{
    (void)signal, (void)context;
    fault_address = information->si_addr;
    siglongjmp(way_out, 1);
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | flags;
    sigaction(signal, &action, NULL);
}

/* Returns 0, or 1 where the step crashed. */
static int step(uint64_t milliseconds)
{
    due += milliseconds * 1000000u;
    if (sigsetjmp(way_out, 0) != 0) {
        return 1;
    }
    quietcore_osek_step();
    return 0;
}

static const char *error(void)
{
    const char *text = quietcore_osek_error();
    return text == NULL ? "none" : text;
}

int main(void)
{
    static char fault_stack[65536];
    const stack_t stack = {.ss_sp = fault_stack, .ss_size = sizeof fault_stack};
    struct sigevent event;
    struct quietcore_services services;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    sigaltstack(&stack, NULL);
    handle(SIGRTMIN + 2, on_timer, 0);
    handle(SIGSEGV, on_fault, SA_ONSTACK);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN + 2;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    memset(&services, 0, sizeof services);
    services.version = QUIETCORE_SERVICES_VERSION;
    services.bytes = sizeof services;
    services.due = tell_due;
    services.until = tell_until;
    services.interrupt_at = interrupt_at;
    services.job = note_job;
    services.error = note_error;

    /* Nothing to be stepped. */
    step(1);
    quietcore_osek_interrupt();
    printf("before: %s\n", error());
    int result = quietcore_osek_initialize(&quietcore_osek_configuration, 9, &services);
    printf("mode 9: %d %s\n", result, error());

    until_in_ns = STEP_NS;
    printf("initialize: %d\n",
           quietcore_osek_initialize(&quietcore_osek_configuration, 0, &services));
    printf("tasks run from the first step on: %d\n", lows);
    step(1);
    printf("step 0: low %d middle %d, it spun: %d\n", lows, middles, spun > 0);
    const long before = spun;
    step(1);
    printf("step 1: low %d middle %d, it spun on: %d\n", lows, middles, spun > before);
    step(3); /* Two cycles were missed; the task with one activation is activated once more. */
    printf("step 4: middle %d jobs %d, released at the first of three ticks: %d\n", middles,
           jobs[1], latest_release == due - 2000000u);

    some_cycles = 1;
    fatal = 3;
    middles = 2;
    step(1);
    printf("a critical section is not cut: %d %d\n", in_section, section_ended);
    while (section_ended != 2) {
        step(1);
    }

    fatal = 5;
    middles = 2;
    const int done = jobs[2];
    for (step(1); jobs[2] == done; step(0)) {
        const struct timespec pause = {0, 20000000};
        nanosleep(&pause, NULL); /* The loader has the processor. */
    }
    printf("time outside of a step is no execution time: %d\n",
           running_ns > 20000000u && execution_ns + 20000000u <= running_ns);

    some_cycles = 0;
    puts("crash");
    fatal = 1;
    middles = 2;
    printf("crashed: %d\n", step(1));
    const long at_crash = spun;
    printf("a step after it does nothing: %d\n", step(1) == 0 && spun == at_crash);
    quietcore_osek_terminate();
    step(1);
    fatal = 0;
    printf("again: %d\n", quietcore_osek_initialize(&quietcore_osek_configuration, 0, &services));
    middles = 0;
    step(1);
    step(1);
    printf("after the crash: low %d middle %d\n", lows, middles);
    fatal = 1;
    middles = 2;
    printf("crashed: %d in a stack: %d\n", step(1),
           quietcore_osek_overflowed(fault_address) != UINT32_MAX);
    fatal = 4;
    quietcore_osek_initialize(&quietcore_osek_configuration, 0, &services);
    middles = 2;
    step(1);
    printf("crashed: %d", step(1));
    printf(" in the stack of task %u\n", quietcore_osek_overflowed(fault_address));
    fatal = 2;
    printf("again without an end: %d\n",
           quietcore_osek_initialize(&quietcore_osek_configuration, 0, &services));
    middles = 2;
    step(1);
    step(1);
    printf("ended: %s\n", error());
    const long last = spun;
    step(1);
    printf("it stands: %d\n", spun == last);
    quietcore_osek_terminate();
    printf("terminated: %s\n", error());

    /* Each step has to be back before it begins: it still comes back, and the tasks wait. */
    until_in_ns = 0u;
    fatal = 0;
    quietcore_osek_initialize(&quietcore_osek_configuration, 0, &services);
    for (int index = 0; index < 1000; index++) {
        step(1);
    }
    puts("late steps come back");
    until_in_ns = STEP_NS;

    /* An error in a loop is told as often as in each cycle of a millisecond, each second. */
    fatal = 6;
    quietcore_osek_initialize(&quietcore_osek_configuration, 0, &services);
    some_cycles = 1;
    middles = 2;
    step(1);
    told = 0;
    step(1);
    fatal = 0;
    step(1);
    printf("a flood is told in part: %d\n", told >= 900 && told <= 10000);

    /* Ticks that are so late that one interrupt leaves some are all there before a task runs. */
    fatal = 7;
    quietcore_osek_initialize(&quietcore_osek_configuration, 0, &services);
    step(1);
    step(9000);
    printf("late ticks: %u\n", seen_by_middle);
    fatal = 0;
    some_cycles = 0;

    /* A mode in which nothing starts: steps of an idle kernel. */
    printf("idle: %d\n", quietcore_osek_initialize(&quietcore_osek_configuration, 1, &services));
    timer_calls = 0;
    for (int index = 0; index < 100; index++) {
        step(1);
    }
    printf("timer set for nothing: %d times\n", timer_calls);
    services.version = 1;
    services.bytes = 88;
    fatal = 0;
    printf("a loader of version 1: %d\n",
           quietcore_osek_initialize(&quietcore_osek_configuration, 1, &services));
    step(1);
    quietcore_osek_terminate();
    return 0;
}
