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
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

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
/* The stack of a call that was ended, from the interrupted function upwards. */
enum { STACK_WORDS = 512 };
static _Thread_local uintptr_t stack_left[STACK_WORDS];
static _Thread_local size_t stack_words;
/* The frames of a call begin below this address. */
static _Thread_local uintptr_t stack_begin;
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

/* Copies the stack, which is written over as soon as the call is over. The kernel reads it: where the
 * stack of a kernel's task ends is not known here, and a program that went wrong may have left its
 * stack pointer anywhere. */
static void keep_stack(uint64_t stack)
{
    const size_t page_bytes = sizeof stack_left;
    const size_t own_bytes = stack < stack_begin ? stack_begin - stack : page_bytes;
    const size_t bytes = own_bytes < page_bytes ? own_bytes : page_bytes;
    const size_t to_page_end = page_bytes - stack % page_bytes;
    const size_t first = to_page_end < bytes ? to_page_end : bytes;
    /* What is not there ends the copy between two parts, so that each lies in a page of its own. */
    struct iovec to = {stack_left, sizeof stack_left};
    struct iovec from[2] = {{(void *)(uintptr_t)stack, first},
                            {(void *)(uintptr_t)(stack + first), bytes - first}};
    const ssize_t copied = process_vm_readv(getpid(), &to, 1, from, 2, 0);
    stack_words = copied > 0 ? (size_t)copied / sizeof *stack_left : 0;
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
    keep_stack(interrupted_stack(context));
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

/* Whether the instruction in front of this one calls a function. */
static int is_behind_a_call(const uint8_t *instruction)
{
#if defined(__x86_64__)
    const uint8_t *const at = instruction;
    const int is_near = at[-5] == 0xE8;
    /* `call` by way of a register, or of memory at a register or at the next instruction. */
    const int by_register = at[-2] == 0xFF && (at[-1] & 0xF8) == 0xD0;
    const int by_memory = at[-2] == 0xFF && (at[-1] & 0xF8) == 0x10;
    const int by_memory_near = at[-3] == 0xFF && (at[-2] & 0xF8) == 0x50;
    const int by_memory_far = at[-6] == 0xFF && ((at[-5] & 0xF8) == 0x90 || at[-5] == 0x15);
    return is_near || by_register || by_memory || by_memory_near || by_memory_far;
#else
    uint32_t before;
    memcpy(&before, instruction - 4, sizeof before);
    /* `bl` and `blr`. */
    return (before & 0xFC000000) == 0x94000000 || (before & 0xFFFFFC1F) == 0xD63F0000;
#endif
}

/* The code from `begin` to `end`, which can be read, from which the call of this thread that was
 * ended last had called what it was ended in: the address behind the call, or 0. */
uint64_t quietcore_guard_called_from(uint64_t begin, uint64_t end)
{
    const uint64_t call_bytes_max = 6;
    for (size_t index = 0; index < stack_words; index++) {
        const uintptr_t word = stack_left[index];
        if (word >= begin + call_bytes_max && word < end &&
            is_behind_a_call((const uint8_t *)word)) {
            return word;
        }
    }
    return 0;
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
    stack_begin = (uintptr_t)__builtin_frame_address(0);
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
