/* Calls a function of a control program so that its faults end the call and not the process.
 *
 *     enter: ordinal becomes odd ── sigsetjmp ── call ── ordinal becomes even: leave
 *                                       ▲          │
 *                                       └──────────┘  siglongjmp from the handler
 *
 * Between `sigsetjmp` and `siglongjmp` lie frames of C: this file's and the program's. Those of a
 * service that the program called may lie there too; while one owns something, the call is in
 * shelter and is not cancelled.
 *
 * A program that is a kernel with tasks of its own may be interrupted while it runs: the handler
 * calls the program's own function, which may go on in another context, so that the call returns
 * while the handler's frame waits on a task's stack for a later call. So that handler runs on the
 * stack that it finds, holds back no signal, and its place is left to the program. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

struct quietcore_guard {
    /* Odd while a call runs; another thread reads it. */
    _Atomic uint64_t ordinal;
    /* The ordinal of the call that shall be ended; another thread writes it. */
    _Atomic uint64_t cancelled;
};

struct quietcore_fault {
    /* The signal's number; zero where the call returned. */
    uint32_t signal;
    uint32_t reserved;
    /* What it accessed, for signals that say so. */
    uint64_t address;
    /* The instruction that was interrupted. */
    uint64_t instruction;
    /* What tells whose stack overflowed: `address`, or the stack pointer where there is none. */
    uint64_t overflow_address;
};

static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

static sigset_t guarded_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t index = 0; index < sizeof fault_signals / sizeof *fault_signals; index++) {
        sigaddset(&set, fault_signals[index]);
    }
    sigaddset(&set, SIGRTMIN + 1);
    /* What a handler of these has interrupted is over: no other context may go on from there. */
    sigaddset(&set, SIGRTMIN + 2);
    return set;
}

static _Thread_local volatile sig_atomic_t inside;
/* Not zero while the thread is where it must not be cancelled. */
static _Thread_local volatile sig_atomic_t sheltered;
/* Not zero when an interrupt came in shelter. */
static _Thread_local volatile sig_atomic_t interrupted;
/* What an interrupt calls; null where the program has nothing. */
static _Thread_local void (*volatile on_interrupt)(void);
static _Thread_local sigjmp_buf way_out;
static _Thread_local struct quietcore_fault caught;
static _Thread_local struct quietcore_guard *entered;

static uint64_t interrupted_instruction(const void *context)
{
#if defined(__x86_64__)
    return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uint64_t)((const ucontext_t *)context)->uc_mcontext.pc;
#else
#error "which register holds the interrupted instruction here?"
#endif
}

static uint64_t interrupted_stack(const void *context)
{
#if defined(__x86_64__)
    return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
#else
    return (uint64_t)((const ucontext_t *)context)->uc_mcontext.sp;
#endif
}

static void leave(int signal, const siginfo_t *information, const void *context)
{
    inside = 0;
    caught.signal = (uint32_t)signal;
    caught.address = (uint64_t)(uintptr_t)information->si_addr;
    caught.instruction = interrupted_instruction(context);
    /* A stack that has no room for a signal's frame is told without an address. */
    caught.overflow_address =
        information->si_code == SI_KERNEL ? interrupted_stack(context) : caught.address;
    siglongjmp(way_out, 1);
}

static void on_fault(int signal, siginfo_t *information, void *context)
{
    if (inside) {
        leave(signal, information, context);
    }
    /* Not a fault of the program: it happens again on return, with the kernel's own answer. */
    struct sigaction fallback;
    memset(&fallback, 0, sizeof fallback);
    fallback.sa_handler = SIG_DFL;
    sigaction(signal, &fallback, NULL);
    if (information->si_code <= 0) {
        raise(signal); /* Sent and not caused: it would not happen again. It waits for our return. */
    }
}

static void on_cancel(int signal, siginfo_t *information, void *context)
{
    if (!inside || sheltered) {
        return; /* Whoever cancels tries again. */
    }
    uint64_t now = atomic_load_explicit(&entered->ordinal, memory_order_relaxed);
    if (atomic_load_explicit(&entered->cancelled, memory_order_acquire) == now) {
        leave(signal, information, context);
    }
}

static void on_interrupting(int signal, siginfo_t *information, void *context)
{
    (void)signal;
    (void)information;
    (void)context;
    void (*const interrupt)(void) = on_interrupt;
    if (!inside || interrupt == NULL) {
        return; /* It comes too late. */
    }
    if (sheltered) {
        interrupted = 1;
        return;
    }
    const int kept = errno;
    interrupt();
    errno = kept;
}

/* Whether a call of this thread runs. */
int quietcore_guard_is_inside(void)
{
    return inside;
}

/* Begins a stretch of a call in which it is not cancelled: it has claimed what others need. */
void quietcore_guard_enter_shelter(void)
{
    sheltered = 1;
    atomic_signal_fence(memory_order_seq_cst);
}

void quietcore_guard_leave_shelter(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    sheltered = 0;
    atomic_signal_fence(memory_order_seq_cst);
    if (interrupted) {
        interrupted = 0;
        void (*const interrupt)(void) = on_interrupt;
        if (inside && interrupt != NULL) {
            interrupt();
        }
    }
}

/* The signal that interrupts; valid after the installation. */
int quietcore_guard_interrupting(void)
{
    return SIGRTMIN + 2;
}

/* Installs the handlers, once a process. Returns the cancelling signal, or -1. */
int quietcore_guard_install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    /* One handler at a time: frames of a second one would overflow the small stack they run on. */
    action.sa_mask = guarded_signals();
    action.sa_sigaction = on_fault;
    for (size_t index = 0; index < sizeof fault_signals / sizeof *fault_signals; index++) {
        if (sigaction(fault_signals[index], &action, NULL) != 0) {
            return -1;
        }
    }
    action.sa_sigaction = on_cancel;
    action.sa_flags |= SA_RESTART;
    const int cancelling = SIGRTMIN + 1;
    if (sigaction(cancelling, &action, NULL) != 0) {
        return -1;
    }
    /* On the stack that it finds, and with nothing held back: its frame may wait there. */
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = on_interrupting;
    return sigaction(quietcore_guard_interrupting(), &action, NULL) == 0 ? cancelling : -1;
}

/* Calls `call(argument)`; the interrupting signal calls `interrupt` meanwhile, unless that is null.
 * Returns 0 when it returned, 1 when a fault ended it. */
int quietcore_guard_call(struct quietcore_guard *guard, void (*call)(uint32_t), uint32_t argument,
                         void (*interrupt)(void), struct quietcore_fault *fault)
{
    const uint64_t ordinal = atomic_load_explicit(&guard->ordinal, memory_order_relaxed);
    int failed = 0;
    entered = guard;
    if (sigsetjmp(way_out, 0) == 0) {
        atomic_store_explicit(&guard->ordinal, ordinal + 1, memory_order_relaxed);
        on_interrupt = interrupt;
        interrupted = 0;
        inside = 1;
        atomic_signal_fence(memory_order_seq_cst);
        call(argument);
        atomic_signal_fence(memory_order_seq_cst);
        inside = 0;
    } else {
        sheltered = 0;
        /* The handler was left by a jump, so the kernel did not take back its mask. Saving the mask
         * beforehand would be a system call in every cycle; this is one after a fault. */
        const sigset_t set = guarded_signals();
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        *fault = caught;
        failed = 1;
    }
    atomic_store_explicit(&guard->ordinal, ordinal + 2, memory_order_relaxed);
    return failed;
}
