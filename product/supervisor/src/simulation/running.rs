//! The world of a simulated keeper, and a life of the keeper in it.

use std::cell::Cell;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use quietcore_backend::job::Job;
use quietcore_backend::process::{PartitionError, Room};
use quietcore_units::Nanos;

use super::files::{Mood, store_of};
use super::ground::Ground;
use super::neighbour::Neighbour;
use super::process::SimulatedProcess;
use super::universe::{Act, Death, Life, State, Universe};
use crate::control::TaskDescription;
use crate::keeper::{EventLog, Request, Setup, keep_here};
use crate::running_monitor::post::Post;
use crate::world::{Process, Storage, World};

/// Limit of the requests that wait for a keeper, as for a real one.
const REQUESTS_MAX: usize = 64;
/// Longest wait of a simulated keeper, and so the longest time without a chance for requests.
const WAIT_MAX: Nanos = Nanos::from_secs(1);
/// The day on which a simulation begins, in seconds since 1970.
const DAY: i64 = 1_700_000_000;

/// A world that is simulated.
struct SimulatedWorld {
    universe: Arc<Universe>,
    /// Instant to count from, since instants can't be made of numbers.
    base: Instant,
}

impl fmt::Debug for SimulatedWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SimulatedWorld")
    }
}

/// Runs a life of the supervisor, from its start to its end.
pub(super) fn live(universe: &Arc<Universe>) {
    let world = SimulatedWorld { universe: Arc::clone(universe), base: Instant::now() };
    let events = Arc::new(EventLog::in_file(Arc::new(world), PathBuf::from("/state/events.jsonl")));
    let ground = universe.ground();
    let refused = keep(universe, &ground, true, &events);
    // Retained values of another type are refused; the site must be begun anew then.
    let changed = |why: &String| !why.contains("damaged") && why.contains("begin with initial");
    match refused {
        Err(why) if changed(&why) => {
            universe.with(|state| state.promises.forget_retained());
            if let Err(why) = keep(universe, &ground, false, &events) {
                universe.with(|state| state.breaks(&format!("the site can't begin anew: {why}")));
            }
        }
        Err(why) => universe.with(|state| state.breaks(&format!("the site can't begin: {why}"))),
        Ok(()) => {}
    }
    universe.end_life();
}

fn keep(
    universe: &Arc<Universe>,
    ground: &Ground,
    warm: bool,
    events: &Arc<EventLog>,
) -> Result<(), String> {
    let (sender, requests) = sync_channel(REQUESTS_MAX);
    let first = ground.assembly.first.clone();
    let neighbour = Neighbour::of(&ground.site).map_err(|error| error.to_string())?;
    let post = neighbour.as_ref().map(Neighbour::post);
    universe.with(|state| state.neighbour = neighbour);
    keep_here(setup(ground, post, warm), first, Arc::clone(events), requests, |published| {
        universe.attach_life(Life {
            published: Arc::clone(published),
            events: Arc::clone(events),
            requests: Some(sender),
            next_event: 0,
        });
    })
}

fn setup(ground: &Ground, post: Option<Arc<Post>>, warm: bool) -> Setup {
    let partition = ground.site.partitions()[0].clone();
    let period = partition.program.period;
    let name = partition.name.clone();
    Setup {
        site: Arc::clone(&ground.site),
        bus: ground.assembly.bus.clone(),
        runtime: PathBuf::from("quietcore-runtime"),
        state_folder: PathBuf::from("/state").join(&name),
        shape: ground.assembly.shape,
        tasks: vec![TaskDescription { name, period }],
        job: ground.assembly.job.clone(),
        fieldbus: None,
        channels: Vec::new(),
        room: Room::among_others(),
        post,
        warm,
        locks: Cell::new(None),
        partition,
    }
}

impl World for SimulatedWorld {
    fn now(&self) -> Instant {
        self.base + Duration::from_nanos(self.universe.with(|state| state.now).get())
    }

    fn exchange_time(&self) -> Nanos {
        self.universe.with(|state| state.now)
    }

    fn time_of_day(&self) -> jiff::Timestamp {
        let (now, offset) = self.universe.with(|state| (state.now, state.day_offset_s));
        let since = jiff::SignedDuration::from_nanos(now.get().cast_signed());
        jiff::Timestamp::from_second(DAY + offset)
            .map_or(jiff::Timestamp::UNIX_EPOCH, |day| day + since)
    }

    fn sleep(&self, pause: Duration) {
        self.universe.pass(nanos(pause));
    }

    fn wait(
        &self,
        requests: &Receiver<Request>,
        longest: Duration,
    ) -> Result<Request, RecvTimeoutError> {
        let (before, after) = self.universe.with(|state| {
            state.tally.looks += 1;
            look_at_files(state);
            parts_of(state, nanos(longest).min(WAIT_MAX))
        });
        self.look();
        self.universe.pass(before);
        let ground = self.universe.ground();
        self.universe.with(|state| ask(state, &ground));
        match requests.try_recv() {
            Ok(request) => return Ok(request),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) => self.universe.pass(after),
        }
        requests.try_recv().map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    fn storage(&self) -> Arc<dyn Storage> {
        store_of(&self.universe)
    }

    fn start(
        &self,
        setup: &Setup,
        job: &Job,
        files: Vec<OwnedFd>,
    ) -> Result<Box<dyn Process>, PartitionError> {
        Ok(Box::new(SimulatedProcess::start(&self.universe, &setup.shape, job, files)?))
    }
}

impl SimulatedWorld {
    /// Reads the keeper's events and answers, and checks that all promises hold.
    fn look(&self) {
        let life = self.universe.with(|state| state.life.clone());
        let Some(life) = life else { return };
        let events = life.events.since(life.next_event);
        let ground = self.universe.ground();
        self.universe.with(|state| {
            for event in &events {
                state.tell(&format!("{} {}: {}", event.at, event.kind, event.text));
            }
            let answers = state.client.hear(state.now);
            for (line, _) in &answers {
                state.tell(line);
            }
            if let (Some(last), Some(life)) = (events.last(), &mut state.life) {
                life.next_event = last.sequence + 1;
            }
            state.promises.hear(&events, &answers, state.now);
            if state.files.died_at.is_none() {
                let found = state.promises.of_now(
                    &ground,
                    state.now,
                    &life.published,
                    state.process.as_ref(),
                    &state.client,
                );
                found.into_iter().for_each(|what| state.breaks(&what));
            }
            end_life_in_time(state);
        });
    }
}

/// Ends the life of the supervisor when its time has come, or a promise is broken.
fn end_life_in_time(state: &mut State) {
    if state.now >= state.life_ends && state.death != Death::InOrder {
        state.files.died_at.get_or_insert(state.now);
    }
    let died_at = state.files.died_at;
    let is_over = state.now >= state.life_ends || died_at.is_some() || state.is_broken();
    if !is_over {
        return;
    }
    if let Some(life) = &mut state.life
        && life.requests.take().is_some()
        && let Some(died_at) = died_at
    {
        let after_power = state.death == Death::PowerLost;
        state.promises.supervisor_dies(died_at, after_power);
    }
}

/// Makes a client ask for something, by chance or as the story tells.
fn ask(state: &mut State, ground: &Ground) {
    let due = state.story.as_mut().map(|story| {
        let is_due = story.front().is_some_and(|(at, _)| *at <= state.now);
        if is_due { story.pop_front() } else { None }
    });
    let State { chance, client, life, promises, now, tally, process, .. } = state;
    let Some(life) = life else { return };
    match due {
        None => client.ask(chance, *now, ground, life, promises, tally),
        Some(Some((_, Act::Ask(verb, plant)))) => {
            let plant = &ground.plants[plant];
            client.send(verb, plant, *now, life, promises, tally);
        }
        Some(Some((_, Act::StandStill(generation)))) => {
            if let Some(process) = process {
                process.core.desk().stands_in = Some(generation);
            }
        }
        Some(Some((_, Act::Kill)) | None) => {}
    }
}

/// Cuts a wait in two, and makes it longer by chance.
fn parts_of(state: &mut State, longest: Nanos) -> (Nanos, Nanos) {
    let chance = &mut state.chance;
    let mut whole = longest;
    if chance.one_in(700) {
        state.tally.fault("keeper that comes late");
        whole += chance.micros(20_000, 3_000_000);
        state.promises.unsettle(state.now + whole);
    }
    if chance.one_in(3_000) {
        state.tally.fault("time of day that jumps");
        state.day_offset_s += chance.below(200_000) as i64 - 100_000;
    }
    let before = Nanos::new(chance.below(whole.get().max(1)));
    (before, whole.saturating_sub(before))
}

/// Lets files misbehave for a while, by chance.
fn look_at_files(state: &mut State) {
    let State { chance, files, mood_ends, now, promises, .. } = state;
    if files.mood != Mood::Good {
        promises.unsettle(*now);
        if *now >= *mood_ends {
            files.mood = Mood::Good;
        }
    } else if chance.one_in(1_500) {
        files.mood = *chance.pick(&[Mood::Full, Mood::Failing, Mood::Slow]);
        *mood_ends = *now + chance.micros(10_000, 4_000_000);
        promises.unsettle(*now);
    }
}

fn nanos(duration: Duration) -> Nanos {
    Nanos::new(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
