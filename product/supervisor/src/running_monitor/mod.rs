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
//! | module | what |
//! |--------|------|
//! | [`counting`] | what is new in an exchange since the last look |
//! | [`judge`] | when it is enough for a reaction |
//! | [`post`] | where keeper and monitor meet, one a partition |
//! | [`rounds`] | a look at all partitions, and who is held until when |
//! | [`figures`] | how often and how fast load was shed |
//!
//! One thread looks. Where something may be shed it has a real-time priority above all tasks, runs
//! on the housekeeping CPUs, and its memory is locked: from its first look on it allocates nothing
//! and waits for nobody. A post that its keeper is at is passed over and looked at half a period
//! later. Everything that can take long, such as an event's text or a restart, is the keepers'.
//!
//! Within one period (promise P98): half of it passes at most until the next look, and the rest is
//! for the look and one system call a victim.

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
use quietcore_process::setting::{self, Policy};
use quietcore_site::{Scheduling, Site as SiteFile};
use quietcore_units::Nanos;

use crate::control::Severity;
use crate::keeper::EventLog;
use post::Post;
use rounds::Rounds;

/// What events of the monitor are of; partitions have names of their own.
const HOST: &str = "host";
/// The shortest time between two looks: half of the shortest period that can be shed for.
const LOOK_MIN: Nanos = Nanos::from_micros(50);
/// Time between two looks where nothing is shed, and the longest one.
const LOOK_MAX: Nanos = Nanos::from_millis(10);
/// The highest real-time priority that is left to programs by the kernel's own threads.
const PRIORITY_MAX: u8 = 98;

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
        let priority = sheds.then(|| priority_above(site));
        let (ended, events) = (Arc::clone(&end), Arc::clone(events));
        let watch = move || {
            if let Some(priority) = priority {
                be_first(priority, &events);
            }
            let mut due = Monotonic.now();
            while !ended.load(Ordering::Relaxed) {
                rounds.look(&Monotonic);
                // A look that comes late moves the next ones: none is made up for.
                due = (due + every).max(Monotonic.now());
                Monotonic.sleep_until(due);
            }
        };
        let thread = thread::Builder::new().name("monitor".to_owned()).spawn(watch)?;
        let posts = posts.into_iter().map(Some).collect();
        Ok(Self { posts, end, thread: Some(thread) })
    }

    /// Where the keeper of a partition meets it.
    pub(crate) fn post(&self, index: usize) -> Option<Arc<Post>> {
        self.posts.get(index).cloned().flatten()
    }

    /// Gives back what is shed, and ends the thread.
    pub(crate) fn stop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // One that has panicked has let go what it held.
            let _ = thread.join();
        }
    }
}

impl Drop for RunningMonitor {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Half of the shortest period of those that shed.
fn look_every(site: &SiteFile) -> Nanos {
    let shedding = site.partitions().iter().filter(|one| one.monitor.sheds());
    let shortest = shedding.map(|one| one.program.period).min();
    let half = shortest.map_or(LOOK_MAX, |period| Nanos::new(period.get() / 2));
    half.clamp(LOOK_MIN, LOOK_MAX)
}

/// A real-time priority above those of all tasks of the site.
fn priority_above(site: &SiteFile) -> u8 {
    let tasks = site.partitions().iter().flat_map(|one| &one.program.tasks);
    let priorities = tasks.filter_map(|task| match task.scheduling {
        Scheduling::Fifo { priority } => u8::try_from(priority).ok(),
        _ => None,
    });
    priorities.max().unwrap_or(0).saturating_add(1).min(PRIORITY_MAX)
}

/// Puts the calling thread before everybody else. What the kernel refuses is told: it looks all
/// the same, and may come late.
fn be_first(priority: u8, events: &EventLog) {
    let warn = |what: &str, error: &io::Error, remedy: &str| {
        let text = format!("{what} ({error}), so load may be shed late; {remedy}");
        events.note(HOST, "monitor", Severity::Warning, &text);
    };
    if let Err(error) = setting::lock_memory_in_use() {
        warn("the monitor's memory is not locked", &error, "raise `memlock`, or run as root");
    }
    // Without it the kernel's default slack of 50 µs comes on top of each wait.
    let _ = setting::drop_timer_slack();
    if let Err(error) = setting::schedule(Policy::Fifo(priority)) {
        warn("the monitor has no real-time priority", &error, "grant `rtprio`, or run as root");
    }
}

#[cfg(test)]
mod tests;
