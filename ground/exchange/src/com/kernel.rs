//! Services that a program with a kernel of its own asks of its scan cycle.
//!
//! ```text
//! release ── due ─────────────────────────────── until ── next release
//!             └ step: the kernel raises its tick, its tasks run ┘ back, whichever task runs
//! ```
//!
//! The functions behind it are called by C inside of the step of rate 0, on whatever stack the
//! kernel's task has: they are short and use little of it.

use core::fmt;

use quietcore_units::{KernelJob, Nanos};

/// The cycle that a kernel runs in. None of these waits or allocates.
pub trait KernelHost: Sync {
    /// The instant at which this cycle was due.
    fn due(&self) -> Nanos;

    /// The instant at which its step has to be back.
    fn until(&self) -> Nanos;

    /// The instant now, for programs that have no operating system to ask. Who runs others does not
    /// tell it: they ask their own.
    fn clock(&self) -> Nanos {
        Nanos::ZERO
    }

    /// Has the program's `interrupt` called at an instant, if its step still runs then; `None` is
    /// never. The last call counts.
    fn interrupt_at(&self, instant: Option<Nanos>);

    /// Takes note of a job.
    fn note_job(&self, job: &KernelJob);

    /// Takes note of an error: the task that it is about, the status and the service as the kernel
    /// numbers them.
    fn note_error(&self, task: Option<u32>, status: u8, service: u8);
}

/// The cycle of programs that are no kernels.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoKernel;

impl KernelHost for NoKernel {
    fn due(&self) -> Nanos {
        Nanos::ZERO
    }

    fn until(&self) -> Nanos {
        Nanos::ZERO
    }

    fn interrupt_at(&self, _: Option<Nanos>) {}

    fn note_job(&self, _: &KernelJob) {}

    fn note_error(&self, _: Option<u32>, _: u8, _: u8) {}
}

impl fmt::Debug for dyn KernelHost + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KernelHost")
    }
}
