//! Has a partition stand still for another one's sake, and go on.
//!
//! ```text
//! run ── stand ──► the wish is written, and what can stop threads at once does ──► stands
//!  ▲                                                                                 │ wake
//!  └── go_on ── tasks have paused between two cycles ◄── threads run, the wish stays ┘
//! ```
//!
//! The wish alone holds the tasks between two cycles: no release is missed and no watchdog runs,
//! but a step under way is finished first. Means that stop the threads do so in the middle of it.
//! How long they were stopped is written into the exchange before they go on, so that a watchdog in
//! the partition does not take it for the time of its step. The wish is taken away only when the
//! tasks have seen it: they begin anew with a release to come, and not with all that have passed.
//!
//! A stopped process can't read that its host has gone: `serve` has the kernel end it then.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::{Region, TaskState};
use quietcore_process::exchange::Exchange;
use quietcore_units::Nanos;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Stops the threads of a partition wherever they are. Both calls may be made at any time, return
/// at once, and allocate nothing.
pub trait Means: Send + fmt::Debug {
    /// Stops them.
    ///
    /// # Errors
    /// Those of the kernel.
    fn stop(&mut self) -> io::Result<()>;

    /// Lets them go on.
    ///
    /// # Errors
    /// Those of the kernel.
    fn go_on(&mut self) -> io::Result<()>;
}

/// `SIGSTOP` and `SIGCONT` to one process, which can't be confused with a later one of its number.
/// They need no rights over a process of the same user, no controller and no group, and act on
/// threads of any policy.
#[derive(Debug)]
pub struct BySignal {
    process: OwnedFd,
}

impl BySignal {
    /// Means for a process that was not waited for yet.
    ///
    /// # Errors
    /// When there is no such process, or no descriptor left.
    pub fn new(process_id: u32) -> io::Result<Self> {
        let pid = Pid::from_raw(process_id.cast_signed()).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { process: pidfd_open(pid, PidfdFlags::empty())? })
    }

    fn send(&self, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(&self.process, signal) {
            // One that has ended stands as still as can be.
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Means for BySignal {
    fn stop(&mut self) -> io::Result<()> {
        self.send(Signal::STOP)
    }

    fn go_on(&mut self) -> io::Result<()> {
        self.send(Signal::CONT)
    }
}

/// Holds one partition. Dropping it lets the partition go on.
#[derive(Debug)]
pub struct Holder {
    exchange: Arc<Exchange>,
    means: Option<Box<dyn Means>>,
    stopped_at: Option<Nanos>,
}

impl Holder {
    /// Holds by the wish, and at once where there are means for that.
    pub fn new(exchange: Arc<Exchange>, means: Option<Box<dyn Means>>) -> Self {
        Self { exchange, means, stopped_at: None }
    }

    /// The partition's exchange.
    pub fn region(&self) -> Region<'_> {
        self.exchange.region()
    }

    /// Has the partition stand. `at_once` also stops its threads where there are means and it runs
    /// cycles already: what comes before them has times of its own to keep.
    ///
    /// # Errors
    /// When its threads could not be stopped; the wish stands all the same.
    pub fn stand(&mut self, at_once: bool) -> io::Result<()> {
        self.region().request_hold(true);
        let runs = self.region().task(0).is_some_and(|task| task.state() == TaskState::Running);
        if let (Some(means), true, None) = (&mut self.means, at_once && runs, self.stopped_at) {
            means.stop()?;
            self.stopped_at = Some(Monotonic.now());
        }
        Ok(())
    }

    /// Lets its threads go on, to where they stand between two cycles.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn wake(&mut self) -> io::Result<()> {
        let (Some(means), Some(stopped_at)) = (&mut self.means, self.stopped_at) else {
            return Ok(());
        };
        let stopped = Monotonic.now().saturating_sub(stopped_at);
        self.exchange.region().add_stopped(stopped.get());
        self.stopped_at = None;
        means.go_on()
    }

    /// Whether its tasks stand between two cycles.
    pub fn stands(&self) -> bool {
        self.stopped_at.is_none() && self.region().is_paused()
    }

    /// Lets its tasks go on.
    pub fn go_on(&mut self) {
        self.region().request_hold(false);
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Where the kernel refuses that, stopping the partition ends its process by force.
        let _ = self.wake();
        self.go_on();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI32, Ordering};

    use quietcore_exchange::{Recorder, Shape};

    use super::*;

    /// Counts stops less continuations, and fails where told to.
    #[derive(Debug)]
    struct Fake(Arc<AtomicI32>, bool);

    impl Means for Fake {
        fn stop(&mut self) -> io::Result<()> {
            if self.1 {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }

        fn go_on(&mut self) -> io::Result<()> {
            self.0.fetch_sub(1, Ordering::Relaxed);
            Ok(())
        }
    }

    fn holder(state: TaskState, fails: bool) -> (Holder, Arc<Exchange>, Arc<AtomicI32>) {
        let exchange = Arc::new(Exchange::create(&Shape::of_tasks(1)).unwrap());
        let task = exchange.region().task(0).unwrap();
        Recorder::new(task, Nanos::from_millis(1), 1).set_state(state);
        let stops = Arc::new(AtomicI32::new(0));
        let means = Box::new(Fake(Arc::clone(&stops), fails));
        (Holder::new(Arc::clone(&exchange), Some(means)), exchange, stops)
    }

    #[test]
    fn who_stands_is_stopped_once_and_goes_on_with_the_time_that_it_stood() {
        let (mut holder, exchange, stops) = holder(TaskState::Running, false);
        holder.stand(true).unwrap();
        holder.stand(true).unwrap();
        assert_eq!(stops.load(Ordering::Relaxed), 1);
        assert!(exchange.region().pause_requested() && !holder.stands());
        holder.wake().unwrap();
        assert_eq!(stops.load(Ordering::Relaxed), 0);
        assert!(exchange.region().stopped_ns() > 0);
        assert!(exchange.region().pause_requested(), "until the tasks have seen it");
        exchange.region().set_paused(true);
        assert!(holder.stands());
        holder.go_on();
        assert!(!exchange.region().pause_requested());
    }

    #[test]
    fn who_does_not_run_yet_or_may_finish_its_step_is_not_stopped() {
        let (mut starting, _, stops) = holder(TaskState::Starting, false);
        starting.stand(true).unwrap();
        assert_eq!(stops.load(Ordering::Relaxed), 0);
        let (mut running, exchange, stops) = holder(TaskState::Running, false);
        running.stand(false).unwrap();
        assert_eq!(stops.load(Ordering::Relaxed), 0);
        assert!(exchange.region().pause_requested());
        assert_eq!(exchange.region().stopped_ns(), 0);
    }

    #[test]
    fn nothing_stays_held_by_whom_is_gone() {
        let (mut held, exchange, stops) = holder(TaskState::Running, false);
        held.stand(true).unwrap();
        drop(held);
        assert_eq!(stops.load(Ordering::Relaxed), 0);
        assert!(!exchange.region().pause_requested());
        let (mut refused, exchange, _) = holder(TaskState::Running, true);
        refused.stand(true).unwrap_err();
        assert!(exchange.region().pause_requested(), "the wish stands all the same");
    }
}
