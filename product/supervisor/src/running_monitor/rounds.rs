//! Looks at all partitions: finds those that are late, holds others for them, and lets these go.
//!
//! ```text
//! free ── a more critical one is late ──► shed ── all of those were calm ──► leaving ──► free
//!                                          │ ▲                      its tasks stand between
//!                                throttled: runs and stands by turns        two cycles
//! ```
//!
//! Nothing here allocates or waits. A partition's own lateness counts for nothing while it is held.

use std::io;
use std::sync::Arc;

use quietcore_clock::Clock;
use quietcore_site::{Partition, Reaction, Shedding};
use quietcore_units::Nanos;

use super::counting::{Counting, News, overrun_done};
use super::judge::{Judge, Kind, Verdict};
use super::post::{Attached, MonitorNotice, Post};

/// Shortest time for one turn of running and standing of a throttled partition, and its periods;
/// the longer one counts.
const TURN_MIN: Nanos = Nanos::from_millis(100);
const TURN_PERIODS: u64 = 10;
/// Longest wait until a woken partition stands between two cycles, since it may be in a step.
const LEAVE_MAX: Nanos = Nanos::from_secs(2);

/// The state of all partitions, and their posts.
#[derive(Debug)]
pub(crate) struct Rounds {
    posts: Vec<Arc<Post>>,
    watched: Vec<Watched>,
    /// Findings of one look; room for all of them is there from the beginning.
    found: Vec<LatePartition>,
    looked: Nanos,
}

#[derive(Debug)]
struct Watched {
    is_watched: bool,
    counting: Counting,
    judge: Judge,
    /// `true` if overruns, exceedances, missed cycles lead to shedding, in this order.
    sheds: [bool; 3],
    calm: Nanos,
    /// Instant at which it was last late in a way that leads to shedding.
    late: Option<Nanos>,
    /// Indices of the partitions that it may shed, and of those that may shed it.
    victims: Vec<usize>,
    shedders: Vec<usize>,
    /// Times of running and of standing by turns; `None` if it is frozen.
    turns: Option<(Nanos, Nanos)>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Shed { since: Nanos, stands: bool, turn_ends: Nanos },
    Leaving { since: Nanos, until: Nanos },
}

#[derive(Clone, Copy, Debug)]
struct LatePartition {
    index: usize,
    verdict: Verdict,
    /// Instant at which it was late, or a little before.
    at: Nanos,
}

impl Rounds {
    pub(super) fn new(partitions: &[Partition], posts: Vec<Arc<Post>>) -> Self {
        let numbered = || partitions.iter().enumerate();
        let watched = |one: &Partition| {
            let of = |may: &dyn Fn(&Partition) -> bool| -> Vec<usize> {
                numbered().filter(|(_, other)| may(other)).map(|(index, _)| index).collect()
            };
            let monitor = &one.monitor;
            let reactions = [monitor.on_overrun, monitor.on_exceedance, monitor.on_missed_cycle];
            Watched {
                is_watched: monitor.is_written,
                counting: Counting::new(monitor.limit),
                judge: Judge::new(monitor),
                sheds: reactions.map(|reaction| reaction == Reaction::Shed),
                calm: monitor.calm,
                late: None,
                victims: of(&|other| one.may_shed(other)),
                shedders: of(&|other| other.may_shed(one)),
                turns: (monitor.when_shed == Shedding::Throttle).then(|| turns(one)),
                state: State::Free,
            }
        };
        let found = Vec::with_capacity(partitions.len() * 3);
        let watched = partitions.iter().map(watched).collect();
        Self { posts, watched, found, looked: Nanos::ZERO }
    }

    /// Looks at all partitions and reacts.
    pub(crate) fn look(&mut self, clock: &impl Clock) {
        let now = clock.now();
        self.found.clear();
        for index in 0..self.posts.len() {
            self.look_at(index, now);
        }
        for index in 0..self.found.len() {
            let LatePartition { index, verdict, at } = self.found[index];
            match verdict.reaction {
                Reaction::Report => self.posts[index].tell(MonitorNotice::Late(verdict)),
                Reaction::Restart => self.posts[index].tell(MonitorNotice::Restart(verdict)),
                Reaction::Shed => self.shed(index, verdict, at, clock),
            }
        }
        for index in 0..self.posts.len() {
            self.advance(index, now);
        }
        self.looked = now;
    }

    /// Finds out if a partition is late.
    fn look_at(&mut self, index: usize, now: Nanos) {
        let Self { posts, watched, found, looked } = self;
        let one = &mut watched[index];
        let Some(mut place) = posts[index].try_look() else { return };
        let Some(attached) = &mut *place else { return };
        if std::mem::take(&mut attached.is_new) {
            one.counting.forget();
            if matches!(one.state, State::Shed { stands: true, .. }) {
                refused(&posts[index], attached.holder.stand(true));
            }
        }
        if !one.is_watched || one.state != State::Free {
            one.counting.forget();
            return;
        }
        let view = attached.holder.region().view();
        let news = one.counting.look(&view);
        if news == News::default() {
            return;
        }
        let counts = [news.overruns, news.exceedances, news.missed_cycles];
        if counts.iter().zip(one.sheds).any(|(count, sheds)| *count > 0 && sheds) {
            one.late = Some(now);
        }
        for verdict in one.judge.judge(&news, now).into_iter().flatten() {
            let sheds_an_overrun =
                verdict.kind == Kind::Overrun && verdict.reaction == Reaction::Shed;
            let told = sheds_an_overrun.then(|| overrun_done(&view, news.overrun_task, *looked));
            // Of other lateness only this is known: it came after the last look.
            let at = told.flatten().unwrap_or(*looked);
            found.push(LatePartition { index, verdict, at });
        }
    }

    /// Sheds all partitions that are less critical.
    fn shed(&mut self, index: usize, verdict: Verdict, at: Nanos, clock: &impl Clock) {
        let mut victims = 0;
        for which in 0..self.watched[index].victims.len() {
            let victim = self.watched[index].victims[which];
            victims += u32::from(self.hold(victim, index, verdict.kind, clock.now()));
        }
        let told = match victims {
            0 => MonitorNotice::Late(verdict),
            _ => {
                MonitorNotice::Sheds { verdict, victims, reaction: clock.now().saturating_sub(at) }
            }
        };
        self.posts[index].tell(told);
    }

    /// Holds a partition; returns `false` if it was held already.
    fn hold(&mut self, victim: usize, by: usize, kind: Kind, now: Nanos) -> bool {
        let (one, post) = (&mut self.watched[victim], &self.posts[victim]);
        if matches!(one.state, State::Shed { .. }) {
            return false;
        }
        let since = if let State::Leaving { since, .. } = one.state { since } else { now };
        let was_free = one.state == State::Free;
        let stand = |attached: &mut Attached| attached.holder.stand(one.turns.is_none());
        // If its keeper is using the post, the partition is made to stand at the next look.
        let stands = post.try_look().is_some_and(|mut place| {
            if let Some(attached) = &mut *place {
                refused(post, stand(attached));
            }
            true
        });
        let turn_ends = now + one.turns.map_or(Nanos::ZERO, |(_, stand)| stand);
        one.state = State::Shed { since, stands, turn_ends };
        post.set_shed_by(Some(by));
        let throttled = one.turns.is_some();
        if was_free {
            post.tell(MonitorNotice::Shed { by: by as u32, kind, throttled });
        }
        true
    }

    /// Lets a held partition run, stand or go, as its time comes.
    fn advance(&mut self, index: usize, now: Nanos) {
        let is_calm = self.is_calm(index, now);
        let (one, post) = (&mut self.watched[index], &self.posts[index]);
        if one.state == State::Free {
            return;
        }
        let Some(mut place) = post.try_look() else { return };
        let mut holder = place.as_mut().map(|attached| &mut attached.holder);
        match one.state {
            State::Shed { since, .. } if is_calm => {
                if let Some(holder) = &mut holder {
                    refused(post, holder.wake());
                }
                one.state = State::Leaving { since, until: now + LEAVE_MAX };
            }
            State::Shed { since, stands: false, turn_ends } if one.turns.is_none() => {
                if let Some(holder) = &mut holder {
                    refused(post, holder.stand(true));
                }
                one.state = State::Shed { since, stands: true, turn_ends };
            }
            State::Shed { since, stands, turn_ends } if now >= turn_ends => {
                let Some((run, stand)) = one.turns else { return };
                if let Some(holder) = &mut holder {
                    if stands {
                        holder.go_on();
                    } else {
                        refused(post, holder.stand(false));
                    }
                }
                let turn_ends = now + if stands { run } else { stand };
                one.state = State::Shed { since, stands: !stands, turn_ends };
            }
            State::Leaving { since, until } => {
                let is_ready = |holder: &&mut quietcore_backend::process::hold::Holder| {
                    holder.stands() || !holder.region().pause_requested()
                };
                if holder.as_ref().is_none_or(is_ready) || now >= until {
                    if let Some(holder) = &mut holder {
                        holder.go_on();
                    }
                    one.state = State::Free;
                    post.set_shed_by(None);
                    post.tell(MonitorNotice::Back { after: now.saturating_sub(since) });
                }
            }
            State::Free | State::Shed { .. } => {}
        }
    }

    /// Returns `true` if all that may shed a partition were on time for as long as they ask.
    fn is_calm(&self, index: usize, now: Nanos) -> bool {
        let mut shedders =
            self.watched[index].shedders.iter().map(|shedder| &self.watched[*shedder]);
        shedders.all(|it| it.late.is_none_or(|late| now.saturating_sub(late) >= it.calm))
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        self.posts.iter().for_each(|post| post.let_go());
    }
}

fn refused(post: &Post, result: io::Result<()>) {
    if let Err(error) = result {
        post.tell(MonitorNotice::Refused { error: error.raw_os_error().unwrap_or(0) });
    }
}

/// Returns the times for which a throttled partition runs and stands by turns. It runs for a period
/// at least.
fn turns(one: &Partition) -> (Nanos, Nanos) {
    let period = one.program.period;
    let turn = Nanos::new(period.get() * TURN_PERIODS).max(TURN_MIN);
    let run = Nanos::new(turn.get() / 100 * u64::from(one.monitor.share_percent)).max(period);
    (run, turn.saturating_sub(run))
}
