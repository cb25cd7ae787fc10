//! A more critical partition beside the kept one, which is late by chance, and the running monitor
//! that sheds the kept one for it.

use std::sync::Arc;

use quietcore_backend::process::hold::Holder;
use quietcore_clock::FakeClock;
use quietcore_exchange::{Recorder, Release, Shape, TaskState};
use quietcore_process::exchange::{Exchange, ExchangeError};
use quietcore_site::Site;
use quietcore_units::Nanos;

use crate::running_monitor::post::Post;
use crate::running_monitor::{Rounds, by_hand};

/// Time between two looks of the monitor.
pub(super) const LOOK: Nanos = Nanos::from_millis(10);
/// Longest time for which the kept partition is held after its neighbour was late: until that is
/// calm, and the tasks have come to stand between two cycles.
const HELD_MAX: Nanos = Nanos::from_millis(300 + 2_000 + 100);
/// Period of the neighbour; any will do.
const PERIOD: Nanos = Nanos::from_millis(5);

/// The neighbour, with the monitor.
#[derive(Debug)]
pub(super) struct Neighbour {
    rounds: Rounds,
    exchange: Arc<Exchange>,
    /// Posts of the kept partition and of the neighbour.
    posts: [Arc<Post>; 2],
    late_count: u64,
    late_at: Option<Nanos>,
}

impl Neighbour {
    /// Makes the second partition of a site of two; `None` for any other site.
    ///
    /// # Errors
    /// When there is no memory for its exchange.
    pub(super) fn of(site: &Site) -> Result<Option<Self>, ExchangeError> {
        let (posts, rounds) = by_hand(site);
        let Ok(posts) = <[Arc<Post>; 2]>::try_from(posts) else { return Ok(None) };
        let exchange = Arc::new(Exchange::create(&Shape::of_tasks(1))?);
        posts[1].put(Holder::new(Arc::clone(&exchange), None));
        let own = Self { rounds, exchange, posts, late_count: 0, late_at: None };
        own.record();
        Ok(Some(own))
    }

    /// Returns the post of the kept partition.
    pub(super) fn post(&self) -> Arc<Post> {
        Arc::clone(&self.posts[0])
    }

    /// Makes the monitor look; `is_late` says that the neighbour was late just before.
    pub(super) fn look(&mut self, now: Nanos, is_late: bool) {
        if is_late {
            self.late_count += 1;
            self.late_at = Some(now);
            self.record();
        }
        self.rounds.look(&FakeClock::new(now, Nanos::ZERO, []));
        // The neighbour has no keeper.
        while self.posts[1].hear().is_some() {}
    }

    /// Returns `true` if the kept partition is held though its neighbour has long been in time.
    pub(super) fn holds_too_long(&self, now: Nanos) -> bool {
        let since = self.late_at.map_or(now, |late| now.saturating_sub(late));
        self.posts[0].shed_by().is_some() && since > HELD_MAX
    }

    /// Writes its statistics anew: a recorder can't be kept beside the exchange that it borrows.
    fn record(&self) {
        let region = self.exchange.region();
        let Some(task) = region.task(0) else { return };
        let mut recorder = Recorder::new(task, PERIOD, 1);
        recorder.set_state(TaskState::Running);
        let (due, none) = (Nanos::from_secs(1), Nanos::ZERO);
        let cycle =
            Release { due, started: due, wakeup_latency: none, margin: none, spin: none, cpu: 0 };
        for _ in 0..self.late_count {
            recorder.record_scan(&cycle, PERIOD, PERIOD * 2, true);
        }
    }
}
