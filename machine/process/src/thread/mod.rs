//! A thread made what it is asked to be, and what held for it.
//!
//! ```text
//! lock memory ─ timers ─ CPUs ─ policy        read back, where somebody asks what holds
//! ```
//!
//! The order matters: a thread is pinned and its memory locked while it still shares the CPU
//! fairly; the real-time policy comes last, so that nothing of the preparation runs under it. What
//! the operating system refuses is told and the thread goes on: whoever reads decides what that is
//! worth.

pub mod host_threads;
pub mod readback;
pub mod setting;

use std::io;

use quietcore_record::reason::NotInForce;
use quietcore_units::{
    CpuSet, MemoryLock, Scheduling, ThreadRequest, ThreadSetting, ThreadSettings,
};
use rustix::thread::gettid;
use serde::{Deserialize, Serialize};

/// The outcome of a request.
#[derive(Debug)]
pub struct Prepared {
    request: ThreadRequest,
    refused: Vec<(ThreadSetting, io::Error)>,
}

/// The settings that held for a thread, as read back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Its settings before its first cycle; `None` where they could not be read.
    pub state: Option<ThreadSettings>,
    /// Settings that were asked for and are not in force.
    pub degraded: Vec<NotInForce>,
    /// The settings at the end, where they are other ones.
    pub drift: Option<ThreadSettings>,
}

/// Asks the kernel to make the calling thread what `request` says.
pub fn prepare(request: &ThreadRequest) -> Prepared {
    let mut refused = Vec::new();
    let mut ask = |setting, result: io::Result<()>| {
        let is_granted = result.is_ok();
        refused.extend(result.err().map(|error| (setting, error)));
        is_granted
    };
    match request.memory {
        MemoryLock::Unasked => true,
        MemoryLock::InUse => ask(ThreadSetting::MemoryLock, setting::lock_memory_in_use()),
        MemoryLock::All => ask(ThreadSetting::MemoryLock, setting::lock_memory()),
    };
    if request.exact_timers {
        ask(ThreadSetting::TimerSlack, setting::drop_timer_slack());
    }
    let before = setting::allowed();
    let is_pinned =
        request.cpus.is_some_and(|cpus| ask(ThreadSetting::Affinity, setting::allow(cpus)));
    let scheduled = match setting::schedule(request.scheduling) {
        Err(error) if is_pinned && is_pin_that_stands_against(&error, request.scheduling) => {
            ask(ThreadSetting::Affinity, Err(error));
            before.and_then(setting::allow).and_then(|()| setting::schedule(request.scheduling))
        }
        scheduled => scheduled,
    };
    ask(ThreadSetting::Policy, scheduled);
    Prepared { request: *request, refused }
}

/// Makes another thread of this user what it is asked to be, by the host's number: its CPU and its
/// policy, since memory and timers are asked for by a thread itself.
pub fn prepare_other(thread: u32, request: &ThreadRequest) -> Prepared {
    let mut refused = Vec::new();
    let pinned = request.cpu().map_or(Ok(()), |cpu| setting::pin_other(thread, cpu));
    refused.extend(pinned.err().map(|error| (ThreadSetting::Affinity, error)));
    let scheduled = setting::schedule_other(thread, request.scheduling);
    refused.extend(scheduled.err().map(|error| (ThreadSetting::Policy, error)));
    Prepared { request: *request, refused }
}

/// While the kernel throttles real-time threads it refuses SCHED_DEADLINE to a thread that is
/// pinned within a larger domain of its scheduler. The policy is worth more than the pin.
fn is_pin_that_stands_against(error: &io::Error, scheduling: Scheduling) -> bool {
    let is_deadline = matches!(scheduling, Scheduling::Deadline { .. });
    is_deadline && error.kind() == io::ErrorKind::PermissionDenied
}

impl Prepared {
    /// Lists the settings that the kernel refused, with its errors.
    pub fn refused(&self) -> &[(ThreadSetting, io::Error)] {
        &self.refused
    }

    /// Returns the error with which the kernel refused a setting.
    pub fn refusal(&self, setting: ThreadSetting) -> Option<&io::Error> {
        self.refused.iter().find(|(refused, _)| *refused == setting).map(|(_, error)| error)
    }

    /// Reads back what holds for the thread, for a record. Called in the thread that was prepared.
    pub fn standing(self) -> Standing {
        self.standing_of(std::process::id(), own_number())
    }

    /// Reads back what holds for another thread that was prepared, by the host's numbers of its
    /// process and of itself.
    pub fn standing_of(self, process: u32, thread: u32) -> Standing {
        let state = readback::read(process, thread).ok();
        let mut degraded: Vec<NotInForce> = self
            .refused
            .iter()
            .map(|(setting, error)| NotInForce::refused(*setting, error))
            .collect();
        if let Some(state) = state.as_ref().filter(|_| degraded.is_empty()) {
            degraded = not_as_asked(&self.request, state);
        }
        Standing { state, degraded, drift: None }
    }
}

impl Standing {
    /// Locks the memory of the calling thread's process, changes nothing else, and reads back the
    /// thread's settings.
    pub fn of_this_thread() -> Self {
        let refused = setting::lock_memory().err();
        let degraded = refused.map(|error| NotInForce::refused(ThreadSetting::MemoryLock, error));
        Self { state: read_back(), degraded: degraded.into_iter().collect(), drift: None }
    }

    /// Looks again at which settings are in force for a thread of this process, and keeps the first
    /// that are other ones.
    pub fn look_again(&mut self, thread: u32) {
        self.look_again_at(std::process::id(), thread);
    }

    /// Does the same for a thread of another process.
    pub fn look_again_at(&mut self, process: u32, thread: u32) {
        if self.drift.is_none()
            && let Ok(now) = readback::read(process, thread)
        {
            self.drift = Some(now).filter(|now| differs(self.state.as_ref(), now));
        }
    }

    /// Does the same for the calling thread.
    pub fn look_again_here(&mut self) {
        self.look_again(own_number());
    }
}

/// Lists what was granted and is not in force all the same: applied is not effective.
fn not_as_asked(request: &ThreadRequest, state: &ThreadSettings) -> Vec<NotInForce> {
    let policy = NotInForce::other_policy(request.scheduling.policy(), state.policy);
    let elsewhere = request.cpu().filter(|cpu| state.affinity != CpuSet::from_iter([*cpu]));
    let cpus =
        elsewhere.map(|cpu| NotInForce::OtherCpus { cpu: cpu.get(), may_run_on: state.affinity });
    policy.into_iter().chain(cpus).collect()
}

/// Reads the settings that are in force for the calling thread.
fn read_back() -> Option<ThreadSettings> {
    readback::read(std::process::id(), own_number()).ok()
}

/// Returns the kernel's number of the calling thread.
fn own_number() -> u32 {
    gettid().as_raw_nonzero().get().unsigned_abs()
}

/// Returns whether other settings are in force than at first; memory that was locked since is none.
fn differs(first: Option<&ThreadSettings>, last: &ThreadSettings) -> bool {
    first.is_some_and(|first| (first.policy, first.affinity) != (last.policy, last.affinity))
}

#[cfg(test)]
mod tests {
    use quietcore_units::{ByteSize, CpuId, SchedulingPolicy};

    use super::*;

    const FIFO: Scheduling = Scheduling::Fifo { priority: 90 };

    fn in_force(policy: SchedulingPolicy, cpus: &str) -> ThreadSettings {
        ThreadSettings { policy, affinity: cpus.parse().unwrap(), locked: ByteSize::new(1 << 20) }
    }

    #[test]
    fn what_was_granted_and_is_not_in_force_is_said() {
        let request = ThreadRequest::new(FIFO).on(CpuId::new(1));
        assert_eq!(not_as_asked(&request, &in_force(FIFO.policy(), "1")), []);
        let other = in_force(SchedulingPolicy::Other, "0-1");
        let said: Vec<String> =
            not_as_asked(&request, &other).iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "SCHED_FIFO 90 was granted and SCHED_OTHER is in force",
                "the thread was pinned to CPU 1 and may run on 0,1"
            ]
        );
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_refused_and_told_once() {
        let beyond = CpuId::new(quietcore_units::CPU_LIMIT - 1);
        let request = ThreadRequest::new(Scheduling::Other).on(beyond);
        let degraded = std::thread::spawn(move || {
            let prepared = prepare(&request);
            assert!(prepared.refusal(ThreadSetting::Affinity).is_some());
            assert!(prepared.refusal(ThreadSetting::Policy).is_none());
            prepared.standing().degraded
        });
        let degraded = degraded.join().unwrap();
        assert!(
            matches!(
                degraded[..],
                [NotInForce::SettingRefused { setting: ThreadSetting::Affinity, .. }]
            ),
            "{degraded:?}"
        );
    }

    #[test]
    fn a_thread_is_what_it_asked_to_be() {
        let standing = std::thread::spawn(|| {
            let cpu = setting::allowed().unwrap().iter().last();
            let request = ThreadRequest::new(Scheduling::Other).on(cpu);
            (cpu, prepare(&request).standing())
        });
        let (cpu, standing) = standing.join().unwrap();
        assert_eq!(standing.degraded, []);
        let state = standing.state.unwrap();
        assert_eq!(state.affinity, CpuSet::from_iter(cpu));
        assert_eq!(state.policy, SchedulingPolicy::Other);
    }
}
