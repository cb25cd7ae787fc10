//! Holds a partition for another one's sake, and lets it go on.
//!
//! ```text
//! run ── stand ──► the wish is written, and what can stop threads at once does ──► stands
//!  ▲                                                                                 │ wake
//!  └── go_on ── tasks have paused between two cycles ◄── threads run, the wish stays ┘
//! ```
//!
//! The wish, a flag in the exchange, alone holds the tasks between two cycles: no release is missed
//! and no watchdog runs, but a step under way is finished first. Means that stop the threads do so
//! in the middle of a step. The time for which they were stopped is written into the exchange
//! before they go on, so that a watchdog in the partition does not take it for time of its step.
//! The wish is withdrawn only when the tasks have seen it: they then begin anew with a release to
//! come, and not with all that have passed.
//!
//! A stopped process can't read that its host has gone: `serve` has asked the kernel to kill it
//! then.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::{Region, TaskState};
use quietcore_process::exchange::Exchange;
use quietcore_units::Nanos;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A way to stop the threads of a partition wherever they are. Both calls may be made at any time,
/// return at once, and allocate nothing.
pub trait Means: Send + fmt::Debug {
    /// Stops the threads, even within a step.
    ///
    /// # Errors
    /// The error of the kernel.
    fn stop(&mut self) -> io::Result<()>;

    /// Lets the threads go on.
    ///
    /// # Errors
    /// The error of the kernel.
    fn go_on(&mut self) -> io::Result<()>;
}

/// Stops a process by `SIGSTOP` and continues it by `SIGCONT`, and can't confuse it with a later
/// one of its number. That needs no rights over a process of the same user, no controller and no
/// group, and acts on threads of any policy.
#[derive(Debug)]
pub struct BySignal {
    process: OwnedFd,
}

impl BySignal {
    /// Opens a process that was not waited for yet.
    ///
    /// # Errors
    /// When there is no such process, or no descriptor left.
    pub fn new(process_id: u32) -> io::Result<Self> {
        let pid = Pid::from_raw(process_id.cast_signed()).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { process: pidfd_open(pid, PidfdFlags::empty())? })
    }

    fn send(&self, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(&self.process, signal) {
            // A process that has ended stands still, too.
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
    /// Makes a holder that holds by the wish, and at once where there are means for that.
    pub fn new(exchange: Arc<Exchange>, means: Option<Box<dyn Means>>) -> Self {
        Self { exchange, means, stopped_at: None }
    }

    /// Returns the region of the partition's exchange.
    pub fn region(&self) -> Region<'_> {
        self.exchange.region()
    }

    /// Asks the partition to stand. With `at_once` it also stops the threads, where there are means
    /// and the partition runs cycles already: what comes before them has time limits of its own.
    ///
    /// # Errors
    /// When the threads could not be stopped; the wish is expressed all the same.
    pub fn stand(&mut self, at_once: bool) -> io::Result<()> {
        self.region().request_hold(true);
        let runs = self.region().task(0).is_some_and(|task| task.state() == TaskState::Running);
        if let (Some(means), true, None) = (&mut self.means, at_once && runs, self.stopped_at) {
            means.stop()?;
            self.stopped_at = Some(Monotonic.now());
        }
        Ok(())
    }

    /// Lets stopped threads go on, to where they stand between two cycles.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn wake(&mut self) -> io::Result<()> {
        let (Some(means), Some(stopped_at)) = (&mut self.means, self.stopped_at) else {
            return Ok(());
        };
        let stopped = Monotonic.now().saturating_sub(stopped_at);
        self.exchange.region().add_stopped(stopped.get());
        self.stopped_at = None;
        means.go_on()
    }

    /// Returns `true` if its tasks stand between two cycles.
    pub fn stands(&self) -> bool {
        self.stopped_at.is_none() && self.region().is_paused()
    }

    /// Withdraws the wish, so that its tasks go on.
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

    /// Counts stops minus continuations, and fails where told to.
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
