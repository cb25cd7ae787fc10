//! The running monitor: watches the exchanges of all partitions, and sheds the less critical ones
//! when one that matters more is late.
//!
//! ```text
//! exchanges ── read, twice a period ──► counting ──► judge ──► rounds ── hold, at once ──► victims
//!                                                                │
//!                                                                └── told ──► keepers: events,
//!                                                                             restarts, figures
//! ```
//!
//! | module | content |
//! |--------|------|
//! | [`counting`] | finds what is new in an exchange since the last look |
//! | [`judge`] | judges if it is enough for a reaction |
//! | [`post`] | the meeting point of keeper and monitor, one a partition |
//! | [`rounds`] | looks at all partitions, holds some and lets them go |
//! | [`figures`] | number and speed of sheddings |
//!
//! One thread looks at all partitions. If anything may be shed, it has a real-time priority above
//! all tasks, runs on the housekeeping CPUs, and its memory is locked: from its first look on it
//! allocates nothing and waits for nobody. A post that its keeper is using is passed over and
//! looked at half a period later. Everything that can take long, such as an event's text or a
//! restart, is left to the keepers.
//!
//! A reaction takes one period at most (promise P98): half of it passes until the next look, and
//! the rest is for the look and one system call for each victim.

mod counting;
pub(crate) mod figures;
mod judge;
pub(crate) mod post;
mod rounds;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use quietcore_clock::{Clock, Monotonic};
use quietcore_process::thread::prepare;
use quietcore_site::Site as SiteFile;
use quietcore_units::{MemoryLock, Nanos, Scheduling, ThreadRequest, ThreadSetting};

use crate::control::Severity;
use crate::keeper::EventLog;
use post::Post;
#[cfg(any(test, feature = "simulation"))]
pub(crate) use rounds::Rounds;
#[cfg(not(any(test, feature = "simulation")))]
use rounds::Rounds;

/// Name under which the monitor's own events are told; no partition has it.
const HOST: &str = "host";
/// Shortest time between two looks: half of the shortest period that can be shed for.
const LOOK_MIN: Nanos = Nanos::from_micros(50);
/// Time between two looks where nothing is shed, and the longest one otherwise.
const LOOK_MAX: Nanos = Nanos::from_millis(10);
/// Highest real-time priority that the kernel's own threads leave to programs.
const PRIORITY_MAX: u32 = 98;

/// The monitor of a running site. Dropping it gives back what is shed, and ends its thread.
#[derive(Debug)]
pub(crate) struct RunningMonitor {
    posts: Vec<Option<Arc<Post>>>,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RunningMonitor {
    /// Starts to watch, if the site file asks for it.
    ///
    /// # Errors
    /// When this process has no threads left.
    pub(crate) fn start(site: &SiteFile, events: &Arc<EventLog>) -> io::Result<Self> {
        let end = Arc::new(AtomicBool::new(false));
        let partitions = site.partitions();
        if !partitions.iter().any(|one| one.monitor.is_written) {
            return Ok(Self { posts: vec![None; partitions.len()], end, thread: None });
        }
        let posts = post::all(partitions);
        let mut rounds = Rounds::new(partitions, posts.clone());
        let sheds = partitions.iter().any(|one| one.monitor.sheds());
        let every = look_every(site);
        let scheduling = sheds.then(|| above_all_tasks(site));
        let (ended, events) = (Arc::clone(&end), Arc::clone(events));
        let watch = move || {
            if let Some(scheduling) = scheduling {
                be_first(scheduling, &events);
            }
            let mut due = Monotonic.now();
            while !ended.load(Ordering::Relaxed) {
                rounds.look(&Monotonic);
                // A late look moves the next ones; none is made up for.
                due = (due + every).max(Monotonic.now());
                Monotonic.sleep_until(due);
            }
        };
        let thread = thread::Builder::new().name("monitor".to_owned()).spawn(watch)?;
        let posts = posts.into_iter().map(Some).collect();
        Ok(Self { posts, end, thread: Some(thread) })
    }

    /// Returns the post at which the keeper of a partition meets the monitor.
    pub(crate) fn post(&self, index: usize) -> Option<Arc<Post>> {
        self.posts.get(index).cloned().flatten()
    }

    /// Gives back what is shed, and ends the thread.
    pub(crate) fn stop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has let go what it held.
            let _ = thread.join();
        }
    }
}

impl Drop for RunningMonitor {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Makes a monitor without a thread, which looks when it is told to, and its posts.
#[cfg(any(test, feature = "simulation"))]
pub(crate) fn by_hand(site: &SiteFile) -> (Vec<Arc<Post>>, Rounds) {
    let posts = post::all(site.partitions());
    let rounds = Rounds::new(site.partitions(), posts.clone());
    (posts, rounds)
}

/// Returns half of the shortest period of those that shed.
fn look_every(site: &SiteFile) -> Nanos {
    let shedding = site.partitions().iter().filter(|one| one.monitor.sheds());
    let shortest = shedding.map(|one| one.program.period).min();
    let half = shortest.map_or(LOOK_MAX, |period| Nanos::new(period.get() / 2));
    half.clamp(LOOK_MIN, LOOK_MAX)
}

/// Returns a scheduling above that of all tasks of the site.
fn above_all_tasks(site: &SiteFile) -> Scheduling {
    let tasks = site.partitions().iter().flat_map(|one| &one.program.tasks);
    Scheduling::above_all(tasks.map(|task| task.scheduling)).at_most(PRIORITY_MAX)
}

/// Puts the calling thread before all others. Reports what the kernel refuses: the monitor looks
/// all the same, but may come late.
fn be_first(scheduling: Scheduling, events: &EventLog) {
    let warn = |what: &str, error: &io::Error, remedy: &str| {
        let text = format!("{what} ({error}), so load may be shed late; {remedy}");
        events.note(HOST, "monitor", Severity::Warning, &text);
    };
    // Without exact timers the kernel's default slack of 50 µs comes on top of each wait.
    let request = ThreadRequest { memory: MemoryLock::InUse, ..ThreadRequest::new(scheduling) };
    let prepared = prepare(&request);
    if let Some(error) = prepared.refusal(ThreadSetting::MemoryLock) {
        warn("the monitor's memory is not locked", error, "raise `memlock`, or run as root");
    }
    if let Some(error) = prepared.refusal(ThreadSetting::Policy) {
        warn("the monitor has no real-time priority", error, "grant `rtprio`, or run as root");
    }
}

#[cfg(test)]
mod tests;
