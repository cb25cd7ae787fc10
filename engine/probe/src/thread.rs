//! A real-time thread that measures, and what held for it.
//!
//! What the operating system refuses is told and the run goes on, as with the other probes: whoever
//! reads the record decides what it is worth.

use std::io;
use std::thread;

use quietcore_process::readback;
use quietcore_process::setting::{self, Policy};
use quietcore_record::reason::{NotInForce, ThreadSetting};
use quietcore_units::{CpuId, CpuSet, ThreadSettings};
use rustix::thread::gettid;

/// Stack of the thread: small, because all of it is locked.
const STACK_BYTES: usize = 256 << 10;

/// Where the thread shall run, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The CPU it is pinned to; `None` where it may move.
    pub cpu: Option<CpuId>,
    /// Its policy.
    pub policy: Policy,
}

/// What held for the thread, as read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its settings before the first loop; `None` where they could not be read.
    pub state: Option<ThreadSettings>,
    /// Settings that were asked for and are not in force.
    pub degraded: Vec<NotInForce>,
    /// The settings after the last loop, where they are other ones.
    pub drift: Option<ThreadSettings>,
}

impl Standing {
    /// Locks the memory of the calling thread's process, changes nothing else, and reads back its
    /// settings.
    pub fn of_this_thread() -> Self {
        let refused = setting::lock_memory().err();
        let degraded = refused.map(|error| NotInForce::refused(ThreadSetting::MemoryLock, error));
        Self { state: read_back(), degraded: degraded.into_iter().collect(), drift: None }
    }

    /// Looks again at which settings are in force for a thread of this process, and keeps the first
    /// that are other ones.
    pub fn look_again(&mut self, thread: u32) {
        if self.drift.is_none()
            && let Ok(now) = readback::read(std::process::id(), thread)
        {
            self.drift = Some(now).filter(|now| differs(self.state.as_ref(), now));
        }
    }
}

/// Runs `measure` in a thread of its own, which is called `name`.
pub(crate) fn run<T: Send>(
    name: &str,
    place: Place,
    measure: impl FnOnce() -> T + Send,
) -> Result<(T, Standing), String> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
        let spawned = builder.spawn_scoped(scope, || {
            let mut standing = prepare(place);
            let outcome = measure();
            let last = read_back();
            standing.drift = last.filter(|last| differs(standing.state.as_ref(), last));
            (outcome, standing)
        });
        let thread = spawned.map_err(|error| error.to_string())?;
        thread.join().map_err(|_| "it panicked".to_owned())
    })
}

/// Asks for the settings of the calling thread, and reads back which are in force.
pub fn prepare(place: Place) -> Standing {
    let mut degraded = Vec::new();
    let mut ask = |result: io::Result<()>, setting| {
        if let Err(error) = result {
            degraded.push(NotInForce::refused(setting, error));
        }
    };
    ask(setting::lock_memory(), ThreadSetting::MemoryLock);
    ask(setting::drop_timer_slack(), ThreadSetting::TimerSlack);
    if let Some(cpu) = place.cpu {
        ask(setting::pin(cpu), ThreadSetting::Affinity);
    }
    ask(setting::schedule(place.policy), ThreadSetting::Policy);
    let state = read_back();
    let refused = degraded.len();
    if let Some(state) = state.as_ref().filter(|_| refused == 0) {
        degraded.extend(not_as_asked(place, state));
    }
    Standing { state, degraded, drift: None }
}

/// Lists what was granted and is not in force all the same: applied is not effective.
fn not_as_asked(place: Place, state: &ThreadSettings) -> Vec<NotInForce> {
    let policy = NotInForce::other_policy(place.policy.scheduling(), state.policy);
    let elsewhere = place.cpu.filter(|cpu| state.affinity != CpuSet::from_iter([*cpu]));
    let cpus =
        elsewhere.map(|cpu| NotInForce::OtherCpus { cpu: cpu.get(), may_run_on: state.affinity });
    policy.into_iter().chain(cpus).collect()
}

/// Reads the settings that are in force for the calling thread.
fn read_back() -> Option<ThreadSettings> {
    let thread = gettid().as_raw_nonzero().get().unsigned_abs();
    readback::read(std::process::id(), thread).ok()
}

/// Whether other settings are in force than at first; memory that was locked since is none.
fn differs(first: Option<&ThreadSettings>, last: &ThreadSettings) -> bool {
    first.is_some_and(|first| (first.policy, first.affinity) != (last.policy, last.affinity))
}
