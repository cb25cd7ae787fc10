//! The channels of a partition, as its program sees them by number.
//!
//! ```text
//! descriptor ─ map ─ is it what the job says? ─┐
//!                                              ├─► table of signals ─► services ─► every build
//! job: entries, order of the signals ──────────┘
//! ```
//!
//! All of it lives as long as the process, because programs do, and is given out for ever.

use std::boxed::Box;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::channel::{Channel, WaitClock};
use quietcore_exchange::com::{ComTable, Shelter};
use quietcore_process::channel::ChannelMemory;
use quietcore_process::guard;

use crate::channels::{Numbered, compare};
use crate::process::error::{ChannelCause, RunError};
use crate::process::job::{ChannelJob, ProgramJob};

/// The channels of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channels {
    table: &'static ComTable<'static>,
}

impl Channels {
    /// Maps the channels of a process. To be called once in it: what it takes is not given back. A
    /// program with a kernel of its own may not wait for values, as that would hold up all tasks.
    ///
    /// # Errors
    /// [`RunError`] when a channel can't be mapped, or is not what the job says.
    pub(crate) fn of(job: &ProgramJob) -> Result<Self, RunError> {
        Self::open(&job.channels, job.kernel_tasks.is_empty())
    }

    /// Maps channels, for a program that may wait for their values or may not.
    pub(crate) fn open(jobs: &[ChannelJob], may_wait: bool) -> Result<Self, RunError> {
        let mut numbered = Numbered::default();
        for job in jobs {
            let added = map(job).and_then(|channel| {
                Ok(numbered.add(&channel, job.sends, &job.entries, &job.signals)?)
            });
            added.map_err(|cause| RunError::Channel { name: job.name.clone(), cause })?;
        }
        let shelter = Shelter { enter: guard::enter_shelter, leave: guard::leave_shelter };
        let table =
            numbered.into_table(shelter, may_wait.then_some(WAIT_CLOCK), Monotonic.now())?;
        let table: &'static ComTable<'static> = Box::leak(Box::new(table));
        Ok(Self { table })
    }

    /// The signals and groups.
    pub(crate) fn table(&self) -> &'static ComTable<'static> {
        self.table
    }
}

/// The clock of partitions, and a sleep of the thread that waits.
const WAIT_CLOCK: WaitClock =
    WaitClock { now: || Monotonic.now(), sleep_until: |due| Monotonic.sleep_until(due) };

/// Maps a channel and compares its table with the job.
fn map(job: &ChannelJob) -> Result<Channel<'static>, ChannelCause> {
    let memory = ChannelMemory::inherited(job.descriptor, job.device.clone())?;
    let channel = Box::leak(Box::new(memory)).channel();
    compare(&channel, &job.entries)?;
    Ok(channel)
}

#[cfg(test)]
mod tests;
