//! A universe: its time, and everything in it beside the keeper.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use quietcore_backend::process::PartitionError;
use quietcore_process::exchange::Exchange;
use quietcore_scan::process::job;
use quietcore_units::Nanos;

use super::Outcome;
use super::chance::Chance;
use super::client::Client;
use super::files::{Files, Mood};
use super::ground::Ground;
use super::neighbour::{LOOK, Neighbour};
use super::process::{Core, Ended};
use super::promises::Promises;
use super::tally::Tally;
use crate::control::Verb;
use crate::keeper::{EventLog, Published, Request};

/// Limit of the lines that are kept to find a reason.
const LAST_MAX: usize = 40;
/// Instant at which a universe begins, as on a machine that has run for a while.
const BEGINNING: Nanos = Nanos::from_secs(1000);

/// The ground and the state of one simulated run.
#[derive(Debug)]
pub(super) struct Universe {
    ground: Arc<Ground>,
    state: Mutex<State>,
}

/// Everything that a universe has.
#[derive(Debug)]
pub(super) struct State {
    pub(super) now: Nanos,
    /// Difference by which the time of day was set, in seconds.
    pub(super) day_offset_s: i64,
    pub(super) chance: Chance,
    pub(super) files: Files,
    /// Instant at which the files behave again.
    pub(super) mood_ends: Nanos,
    pub(super) tally: Tally,
    pub(super) client: Client,
    pub(super) promises: Promises,
    pub(super) process: Option<Attached>,
    pub(super) life: Option<Life>,
    /// Instant at which the supervisor is told to come down, or killed.
    pub(super) life_ends: Nanos,
    pub(super) death: Death,
    /// The neighbour for whose sake the kept partition is held.
    pub(super) neighbour: Option<Neighbour>,
    /// Acts of a story, in place of those by chance.
    pub(super) story: Option<VecDeque<(Nanos, Act)>>,
    number: u32,
    broken: Vec<String>,
    trace: DefaultHasher,
    last: VecDeque<String>,
}

/// Something that happens in a story.
#[derive(Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "stories are told by tests"))]
pub(super) enum Act {
    /// A client makes this request; a deploy is of the build with this number.
    Ask(Verb, usize),
    /// The program stands still in its next step in the build of this generation.
    StandStill(u32),
    /// The supervisor is killed, whatever it does.
    Kill,
}

/// The end of a life of the supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Death {
    /// It is told to come down.
    InOrder,
    /// It is killed at some instant.
    Killed,
    /// Its machine loses the power.
    PowerLost,
}

/// A process that runs.
#[derive(Clone, Debug)]
pub(super) struct Attached {
    pub(super) number: u32,
    pub(super) core: Arc<Core>,
    pub(super) exchange: Arc<Exchange>,
}

/// A life of the supervisor.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) published: Arc<Published>,
    pub(super) events: Arc<EventLog>,
    /// Sender of requests; `None` once the supervisor is to come down.
    pub(super) requests: Option<SyncSender<Request>>,
    /// Number of the next event to be read.
    pub(super) next_event: u64,
}

/// The properties that chance gives a process at its start.
#[derive(Debug)]
pub(super) struct Birth {
    pub(super) number: u32,
    pub(super) now: Nanos,
    pub(super) dies_at: Option<Nanos>,
    pub(super) chance: Chance,
    pub(super) peril: u64,
    /// `true` if it does not listen when it is told to end.
    pub(super) is_deaf: bool,
}

impl State {
    /// Adds a line to the trace.
    pub(super) fn tell(&mut self, line: &str) {
        line.hash(&mut self.trace);
        if self.last.len() == LAST_MAX {
            self.last.pop_front();
        }
        let seconds = self.now.saturating_sub(BEGINNING).get() as f64 / 1e9;
        self.last.push_back(format!("{seconds:.6} s: {line}"));
    }

    /// Returns `true` if a promise is broken.
    pub(super) fn is_broken(&self) -> bool {
        !self.broken.is_empty()
    }

    /// Notes that a promise is broken.
    pub(super) fn breaks(&mut self, what: &str) {
        let seconds = self.now.saturating_sub(BEGINNING).get() as f64 / 1e9;
        self.broken.push(format!("after {seconds:.6} s: {what}"));
    }
}

impl Universe {
    pub(super) fn new(chance: Chance, ground: Arc<Ground>) -> Self {
        let state = State {
            now: BEGINNING,
            day_offset_s: 0,
            chance,
            files: Files::new(),
            mood_ends: Nanos::ZERO,
            tally: Tally::default(),
            client: Client::default(),
            promises: Promises::default(),
            process: None,
            life: None,
            life_ends: Nanos::ZERO,
            death: Death::InOrder,
            neighbour: None,
            story: None,
            number: 0,
            broken: Vec::new(),
            trace: DefaultHasher::new(),
            last: VecDeque::new(),
        };
        Self { ground, state: Mutex::new(state) }
    }

    /// Makes a universe in which a story is told: acts, each with its instant since the beginning.
    #[cfg(test)]
    pub(super) fn of_story(ground: Arc<Ground>, story: Vec<(Nanos, Act)>) -> Self {
        let own = Self::new(Chance::calm(), ground);
        let at_its_time = |(at, act)| (BEGINNING + at, act);
        own.with(|state| state.story = Some(story.into_iter().map(at_its_time).collect()));
        own
    }

    pub(super) fn ground(&self) -> Arc<Ground> {
        Arc::clone(&self.ground)
    }

    /// Does something with the state. No time may pass meanwhile.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets time pass, in which the process runs.
    pub(super) fn pass(&self, time: Nanos) {
        let end = self.with(|state| state.now + time);
        loop {
            // The monitor looks meanwhile, whatever the keeper waits for.
            let (now, process) = self.with(|state| {
                let look = Nanos::new((state.now.get() / LOOK.get() + 1) * LOOK.get());
                state.now = end.min(look);
                (state.now, state.process.clone())
            });
            if let Some(Attached { core, .. }) = process {
                core.run_until(now);
                self.with(|state| collect(state, &core));
            }
            if now.get() % LOOK.get() == 0 {
                self.with(watch);
            }
            if now >= end {
                return;
            }
        }
    }

    /// Decides on the properties of a process that is to start with a build.
    ///
    /// # Errors
    /// [`PartitionError::Program`], by chance.
    pub(super) fn birth(&self, build: &job::Build) -> Result<Birth, PartitionError> {
        self.with(|state| {
            state.number += 1;
            state.tally.processes += 1;
            let found = state.promises.of_birth(&self.ground, build, state.now, &state.process);
            found.into_iter().for_each(|what| state.breaks(&what));
            let chance = &mut state.chance;
            if chance.one_in(25) {
                state.tally.fault("process that can't be started");
                let program = "quietcore-runtime".to_owned();
                return Err(PartitionError::Program {
                    program,
                    source: io::ErrorKind::OutOfMemory.into(),
                });
            }
            let dies = chance.one_in(6).then(|| state.now + chance.micros(1_000, 15_000_000));
            Ok(Birth {
                number: state.number,
                now: state.now,
                dies_at: dies,
                chance: chance.split(),
                peril: *chance.pick(&[200, 2_000, 20_000]),
                is_deaf: chance.one_in(20),
            })
        })
    }

    /// Takes note that a process runs from now on.
    pub(super) fn attach(&self, number: u32, core: &Arc<Core>, exchange: &Arc<Exchange>) {
        let (core, exchange) = (Arc::clone(core), Arc::clone(exchange));
        self.with(|state| state.process = Some(Attached { number, core, exchange }));
    }

    /// Takes note that a process has ended and was waited for.
    pub(super) fn detach(&self, number: u32) {
        self.with(|state| {
            let Some(own) = state.process.take_if(|process| process.number == number) else {
                return state.breaks(&format!("process {number} ends twice"));
            };
            collect(state, &own.core);
            let ended = format!("process {number} has ended: {:?}", own.core.turn.ended());
            state.tell(&ended);
            state.promises.of_end(&self.ground, &own.exchange, state.now);
        });
    }

    /// Returns the instant at which an order reaches its process; `None` if it is lost.
    pub(super) fn order_due(&self, build: &job::Build) -> Option<Nanos> {
        self.with(|state| {
            let found = state.promises.of_order(&self.ground, build);
            found.into_iter().for_each(|what| state.breaks(&what));
            let pause = match state.chance.below(30) {
                0 => {
                    state.tally.fault("lost order");
                    return None;
                }
                1 | 2 => {
                    state.tally.fault("late order");
                    state.chance.micros(1_000_000, 30_000_000)
                }
                _ => state.chance.micros(500, 300_000),
            };
            Some(state.now + pause)
        })
    }

    /// Begins another life of the supervisor on the files of the one before.
    pub(super) fn begin_life(&self, is_last: bool) {
        self.with(|state| {
            let State { chance, files, death, .. } = state;
            if *death == Death::PowerLost {
                files.lose_power(chance);
            }
            files.died_at = None;
            files.mood = Mood::Good;
            *death = match chance.below(4) {
                _ if is_last => Death::InOrder,
                0 => Death::InOrder,
                1 => Death::PowerLost,
                _ => Death::Killed,
            };
            // The death comes within a step of writing something, or at any other instant.
            let within = *death != Death::InOrder && chance.one_in(2);
            files.steps_left = within.then(|| chance.below(3_000));
            state.now += chance.micros(1_000, 5_000_000);
            state.life_ends = state.now + chance.micros(500_000, 90_000_000);
            if let Some(story) = &mut state.story
                && let Some(kill) = story.iter().position(|(_, act)| matches!(act, Act::Kill))
                && let Some((at, _)) = story.remove(kill)
            {
                (state.death, state.life_ends) = (Death::Killed, at);
            }
            state.tally.lives += 1;
            state.client = Client::default();
            state.promises.begin_life();
        });
    }

    /// Takes note that the supervisor begins to keep.
    pub(super) fn attach_life(&self, life: Life) {
        self.with(|state| state.life = Some(life));
    }

    /// Ends a life of the supervisor, and checks that it leaves nothing behind.
    pub(super) fn end_life(&self) {
        let (life, neighbour) = self.with(|state| (state.life.take(), state.neighbour.take()));
        drop(neighbour);
        self.with(|state| {
            let death = if state.files.died_at.is_some() && state.death == Death::InOrder {
                Death::Killed
            } else {
                state.death
            };
            state.tell(&format!("the supervisor has ended: {death:?}"));
            let mut found = state.client.end(&mut state.tally);
            if let Some(process) = &state.process {
                found.push(format!("process {} is left behind", process.number));
            }
            if death == Death::InOrder {
                let half: Vec<PathBuf> = state.files.ending(".new");
                found.extend(half.iter().map(|path| format!("`{}` is left", path.display())));
            } else {
                state.tally.fault(match death {
                    Death::PowerLost => "loss of power",
                    _ => "supervisor killed",
                });
            }
            found.into_iter().for_each(|what| state.breaks(&what));
        });
        drop(life);
    }

    /// Returns `true` if a promise is broken.
    pub(super) fn is_broken(&self) -> bool {
        self.with(|state| state.is_broken())
    }

    /// Returns the outcome of the run.
    pub(super) fn outcome(&self) -> Outcome {
        self.with(|state| {
            state.tally.seconds = state.now.saturating_sub(BEGINNING).get() / 1_000_000_000;
            Outcome {
                tally: state.tally.clone(),
                trace: state.trace.finish(),
                broken: state.broken.clone(),
                last: state.last.iter().cloned().collect(),
            }
        })
    }
}

/// Makes the monitor look, perhaps just after the neighbour was late.
fn watch(state: &mut State) {
    let State { neighbour, chance, now, tally, promises, .. } = state;
    let Some(neighbour) = neighbour else { return };
    let is_late = chance.one_in(1_500);
    if is_late {
        tally.fault("neighbour that is late");
        promises.unsettle(*now);
    }
    neighbour.look(*now, is_late);
    if neighbour.holds_too_long(*now) {
        state.breaks("`ps`: the partition is held for nobody");
    }
}

/// Takes over the counts and faults of a process.
fn collect(state: &mut State, core: &Core) {
    let mut desk = core.desk();
    state.tally.cycles += std::mem::take(&mut desk.cycles);
    let faults = std::mem::take(&mut desk.faults);
    drop(desk);
    for fault in faults {
        state.tally.fault(fault);
        state.promises.unsettle(state.now);
        state.tell(fault);
    }
    if let Some(Ended::Panicked(said)) = core.turn.ended() {
        state.breaks(&format!("the scan cycle panicked: {said}"));
    }
}
