//! The thread of a kernel's cycle, its timer and its shelter.

use std::cell::RefCell;
use std::io;
use std::mem::ManuallyDrop;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::com::Shelter;
use quietcore_exchange::{Recorder, Region, TaskState};
use quietcore_process::guard;
use quietcore_process::timer::ThreadTimer;
use quietcore_units::Nanos;

use crate::job::KernelTask;
use crate::kernel::{self, Allowance, CycleHost, Inside, Leading};
use crate::process::job::TaskJob;

std::thread_local! {
    /// Of the thread that leads; no other thread has one. It has no destructor: the first look at a
    /// thread-local with one allocates, and the first look of a thread that leads no kernel comes
    /// after a fault. [`end`] drops it.
    static LEADING: RefCell<ManuallyDrop<Option<(Leading, ThreadTimer)>>> =
        const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Does something if the calling thread leads a kernel.
#[inline]
fn leading<R>(work: impl FnOnce(&Leading, &ThreadTimer) -> R) -> Option<R> {
    LEADING.with(|place| {
        let place = place.try_borrow().ok()?;
        let (lead, timer) = place.as_ref()?;
        Some(work(lead, timer))
    })
}

/// The threads of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads;

impl CycleHost for Threads {
    #[inline]
    fn leading<R>(&self, work: impl FnOnce(&Leading) -> R) -> Option<R> {
        leading(|lead, _| work(lead))
    }

    fn interrupt_at(&self, instant: Option<Nanos>) {
        leading(|_, timer| timer.set(instant));
    }

    fn now(&self) -> Nanos {
        Monotonic.now()
    }

    fn shelter(&self) -> Shelter {
        Shelter { enter: guard::enter_shelter, leave: guard::leave_shelter }
    }
}

/// The cycle of a kernel in this process.
pub(crate) type KernelCycle<'a> = kernel::KernelCycle<'a, Threads>;

/// Makes the calling thread, which was prepared, the one that leads, with a row for each task: this
/// thread runs them all, so that what it was refused is refused to each. `None` when the region has
/// no place for one.
///
/// # Errors
/// When the kernel of the host has no timer for it.
pub(crate) fn lead<'a>(
    cycle: &KernelCycle<'a>,
    region: Region<'a>,
    tasks: &[KernelTask],
    first_row: u32,
    slot_cycles: u64,
    thread_id: u32,
) -> io::Result<Option<()>> {
    let timer = ThreadTimer::new()?;
    put(Some((Leading::new(), timer)));
    let Some(leader) = region.task(0) else { return Ok(None) };
    let take_over = |task, period, slot_cycles| {
        let mut recorder = Recorder::new(task, period, slot_cycles);
        recorder.refuse_as_to(&leader);
        recorder
    };
    Ok(cycle.open_rows(region, take_over, tasks, first_row, slot_cycles, thread_id))
}

/// Ends what [`lead`] began.
pub(crate) fn end(cycle: &KernelCycle<'_>, state: TaskState) {
    cycle.end(state);
    put(None);
}

/// Makes the calling thread one that leads, or not any more.
fn put(new: Option<(Leading, ThreadTimer)>) {
    let old = LEADING.with_borrow_mut(|place| std::mem::replace(&mut **place, new));
    drop(old);
}

/// Says that the calling thread is about to run the step of a build.
#[inline]
pub(crate) fn enter(build: Inside) {
    leading(|lead, _| lead.enter(build));
}

/// Stops the timer of the calling thread, if it leads a kernel: its step was ended by a fault.
pub(crate) fn stop_timer() {
    leading(|_, timer| timer.set(None));
}

/// Returns the limits of a step of the task that leads.
pub(crate) fn allowance_of(job: &TaskJob, margin: Nanos) -> Allowance {
    Allowance { period: job.release.interval(), deadline: job.deadline, margin }
}

#[cfg(test)]
mod tests;
