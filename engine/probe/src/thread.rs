//! A real-time thread that measures, and what held for it.
//!
//! What the operating system refuses is told and the run goes on, as with the other probes: whoever
//! reads the record decides what it is worth.

use std::io;
use std::thread;

use quietcore_process::readback::ThreadState;
use quietcore_process::setting::{self, Policy};
use quietcore_units::{CpuId, CpuSet};
use rustix::thread::gettid;

/// Stack of the thread: small, because all of it is locked.
const STACK_BYTES: usize = 256 << 10;

/// The remark where memory can't be locked, with its consequence.
const NOT_LOCKED: &str = "memory is not locked, so a page fault may be part of a value; run as \
                          root, or raise the memlock limit";

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
    pub state: Option<ThreadState>,
    /// What was asked for and is not in force, in words.
    pub degraded: Vec<String>,
    /// The settings after the last loop, where they are other ones.
    pub drift: Option<ThreadState>,
}

impl Standing {
    /// Locks the memory of the calling thread's process, changes nothing else, and reads back its
    /// settings.
    pub fn of_this_thread() -> Self {
        let refused = setting::lock_memory().err();
        let degraded = refused.map(|error| format!("{NOT_LOCKED} ({error})"));
        Self { state: read_back(), degraded: degraded.into_iter().collect(), drift: None }
    }

    /// Looks again at which settings are in force for a thread of this process, and keeps the first
    /// that are other ones.
    pub fn look_again(&mut self, thread: u32) {
        if self.drift.is_none()
            && let Ok(now) = ThreadState::read(std::process::id(), thread)
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
    let mut ask = |result: io::Result<()>, cost: &str| {
        if let Err(error) = result {
            degraded.push(format!("{cost} ({error})"));
        }
    };
    ask(setting::lock_memory(), NOT_LOCKED);
    ask(setting::drop_timer_slack(), "timers have the kernel's default slack of 50 µs");
    if let Some(cpu) = place.cpu {
        ask(setting::pin(cpu), "the thread could not be pinned to its CPU");
    }
    ask(
        setting::schedule(place.policy),
        "the kernel refused the real-time policy, so the thread ran as SCHED_OTHER; run as root, \
         or grant CAP_SYS_NICE or an rtprio limit",
    );
    let state = read_back();
    let refused = degraded.len();
    if let Some(state) = state.as_ref().filter(|_| refused == 0) {
        degraded.extend(not_as_asked(place, state));
    }
    Standing { state, degraded, drift: None }
}

/// What was granted and is not in force all the same: applied is not effective.
fn not_as_asked(place: Place, state: &ThreadState) -> Vec<String> {
    let mut words = Vec::new();
    let wanted = match place.policy {
        Policy::Fifo(priority) => format!("SCHED_FIFO {priority}"),
        Policy::Deadline { .. } => "SCHED_DEADLINE".to_owned(),
        Policy::Other => "SCHED_OTHER".to_owned(),
    };
    let in_force = state.policy_text();
    if in_force != wanted {
        words.push(format!("{wanted} was granted and {in_force} is in force"));
    }
    if let Some(cpu) = place.cpu
        && state.affinity != CpuSet::from_iter([cpu])
    {
        words.push(format!("the thread was pinned to CPU {cpu} and may run on {}", state.affinity));
    }
    words
}

/// The settings that are in force for the calling thread.
fn read_back() -> Option<ThreadState> {
    let thread = gettid().as_raw_nonzero().get().unsigned_abs();
    ThreadState::read(std::process::id(), thread).ok()
}

/// Whether other settings are in force than at first; memory that was locked since is none.
fn differs(first: Option<&ThreadState>, last: &ThreadState) -> bool {
    first.is_some_and(|first| {
        (first.policy, first.priority, &first.affinity)
            != (last.policy, last.priority, &last.affinity)
    })
}
