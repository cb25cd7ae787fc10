//! The promises that must hold whatever goes wrong, which is their title in SPECIFICATION.md.
//!
//! | promise | checked |
//! |---------|-----------|
//! | nothing is left behind, and each request is answered | in each look, and at the end |
//! | a force ends with its reason only | when nothing has happened for a while |
//! | retained values are whole, and no older than promised | when a build gets them |
//! | `ps` shows what there is | in each look |
//! | restarts in a row are as many as the site file allows | when a process starts |

use std::collections::{BTreeMap, VecDeque};

use quietcore_exchange::{Assignment, FORCE_LIMIT, Held};
use quietcore_process::exchange::Exchange;
use quietcore_scan::process::job;
use quietcore_units::Nanos;

use super::client::{Client, FORCED, Heard, What};
use super::forces::Forces;
use super::ground::{Ground, Plant, RESTART_LIMIT};
use super::universe::Attached;
use crate::control::{Activity, ChangeKind, EventLine, Restart};
use crate::keeper::Published;

/// Time for which nothing may have happened before forces are counted.
const CALM: Nanos = Nanos::from_secs(3);
/// Greatest age of the values that a killed supervisor leaves behind: they are written every 100
/// ms, and a look at the partition takes 200 ms where it waits for the reason of a refusal.
const AGE_MAX: Nanos = Nanos::from_millis(350);
/// Greatest age after a loss of power: the disk is waited for every second.
const AGE_POWER_MAX: Nanos = Nanos::from_millis(1_300);
/// Time between two starts after which the restarts in a row are forgotten; it is a little short,
/// as the time from a fault to its restart differs.
const QUIET: Nanos = Nanos::from_secs(59);

/// The facts by which promises are checked.
#[derive(Debug, Default)]
pub(super) struct Promises {
    /// Instant since which nothing has happened.
    calm_since: Nanos,
    /// Instant since which nothing has kept values from being saved.
    steady_since: Nanos,
    forces: Forces,
    /// Builds of the running process, by their generations.
    builds: BTreeMap<u32, job::Build>,
    /// `true` if a restart was asked for since the last start; and one that forgets values.
    is_restart_asked: bool,
    is_anew_asked: bool,
    is_released: bool,
    restarts_in_a_row: u64,
    started: Option<Nanos>,
    /// Generation and `a` that the last process has left.
    left: Option<(u32, u64)>,
    /// Least `a` that the next life must begin with.
    left_by_life: Option<u64>,
    /// Values of `a` in the last seconds.
    samples: VecDeque<(Nanos, u64)>,
    /// Process that had ended at the last look.
    ended: Option<u32>,
}

impl Promises {
    /// Takes note of something that others are still busy with at this instant.
    pub(super) fn disturb(&mut self, now: Nanos) {
        self.calm_since = self.calm_since.max(now);
    }

    /// Takes note of something that may keep values from being saved.
    pub(super) fn unsettle(&mut self, now: Nanos) {
        self.disturb(now);
        self.steady_since = self.steady_since.max(now);
    }

    /// Begins with another supervisor, which knows of no forces.
    pub(super) fn begin_life(&mut self) {
        let left_by_life = self.left_by_life.take();
        let Self { calm_since, steady_since, .. } = *self;
        *self = Self { left_by_life, calm_since, steady_since, ..Self::default() };
    }

    /// Takes note that the values on disk are not taken over.
    pub(super) fn forget_retained(&mut self) {
        self.left_by_life = None;
    }

    /// Takes note of the supervisor's death, and of the values that must survive it.
    pub(super) fn supervisor_dies(&mut self, died_at: Nanos, after_power: bool) {
        let age = if after_power { AGE_POWER_MAX } else { AGE_MAX };
        let is_steady = died_at.saturating_sub(self.steady_since) > age * 2;
        let sure = self.samples.iter().rev().find(|(at, _)| died_at.saturating_sub(*at) >= age);
        self.left_by_life = sure.filter(|_| is_steady).map(|(_, a)| *a);
    }

    /// Takes note of a request.
    pub(super) fn asked(&mut self, what: &What, now: Nanos) {
        self.disturb(now);
        match what {
            What::Restart(how) => {
                self.is_restart_asked = true;
                self.is_anew_asked |= *how != Restart::Warm;
                if *how != Restart::Warm {
                    self.samples.clear();
                }
            }
            What::Write(changes) if changes.iter().all(|it| it.kind == ChangeKind::Set) => return,
            What::Write(_) | What::UnforceAll => self.is_released = true,
            What::Deploy | What::Other => {}
        }
        self.unsettle(now);
    }

    /// Takes note of a request whose outcome nobody hears.
    pub(super) fn unknown(&mut self, number: u64, what: &What) {
        self.forces.unknown(number, what);
    }

    /// Takes note of events and answers.
    pub(super) fn hear(&mut self, events: &[EventLine], answers: &[(String, Heard)], now: Nanos) {
        for event in events {
            self.disturb(now);
            match event.kind.as_str() {
                "force-lost" => {
                    let name = event.text.split('`').nth(1).unwrap_or_default().to_owned();
                    self.forces.lose(name);
                }
                "reverted" => self.forces.revert(),
                // From here on the values are others, however long after it was asked.
                "restarted" if self.is_anew_asked => self.samples.clear(),
                _ => {}
            }
        }
        for (_, heard) in answers {
            self.disturb(now);
            self.forces.hear(heard);
        }
    }

    /// Checks the promises when a process is to be started with a build.
    pub(super) fn of_birth(
        &mut self,
        ground: &Ground,
        build: &job::Build,
        now: Nanos,
        process: &Option<Attached>,
    ) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(process) = process {
            found.push(format!(
                "left behind: a process is started beside process {}",
                process.number
            ));
        }
        self.builds.clear();
        found.extend(self.of_order(ground, build));
        let a = a_given(ground, build);
        let generation = build.stage.generation;
        if let Some((before, left)) = self.left.take()
            && before == generation
            && !self.is_anew_asked
            && a.is_none_or(|a| a < left)
        {
            found.push(format!(
                "retained: `a` was {left} at the end of a process and begins with {a:?}"
            ));
        }
        if let Some(left) = self.left_by_life.take()
            && a.is_none_or(|a| a < left)
        {
            found
                .push(format!("retained: `a` was {left} before the supervisor died, and is {a:?}"));
        }
        let since = self.started.replace(now).map(|started| now.saturating_sub(started));
        self.restarts_in_a_row = match since {
            Some(since) if since <= QUIET && !self.is_restart_asked => self.restarts_in_a_row + 1,
            _ => 0,
        };
        if self.restarts_in_a_row > RESTART_LIMIT {
            found.push(format!("restarts: {} in a row", self.restarts_in_a_row));
        }
        (self.is_restart_asked, self.is_anew_asked, self.is_released) = (false, false, false);
        self.unsettle(now);
        found
    }

    /// Checks the promises when a build is on its way into the running process.
    pub(super) fn of_order(&mut self, ground: &Ground, build: &job::Build) -> Vec<String> {
        self.builds.insert(build.stage.generation, build.clone());
        let Some(plant) = ground.plant_of(&build.module) else {
            return vec!["retained: a build is unknown".to_owned()];
        };
        let places = &plant.places;
        let given = [places.a, places.b, places.c, places.d].map(|place| given_at(build, place));
        match given {
            [None, None, None, None] => Vec::new(),
            [Some(a), Some(b), Some(c), d]
                if b == a.wrapping_mul(3) && c == !a && d.is_none_or(|d| d != FORCED) =>
            {
                Vec::new()
            }
            _ => vec![format!("retained: retained values are not whole: {given:?}")],
        }
    }

    /// Takes note of the values that an ended process has left.
    pub(super) fn of_end(&mut self, ground: &Ground, exchange: &Exchange, now: Nanos) {
        // Values that were retained before a variable was released have its forced value, and are
        // left out where nobody knows which it was before. Where another build has begun, nobody
        // knows where the forces of the one before lay.
        let left = self.retained_now(ground, exchange);
        let runs = exchange.region().active().generation;
        let is_forced = self.forces.may_be();
        let is_known = |generation| generation == runs || !is_forced;
        self.left = left.filter(|(generation, _)| !self.is_released && is_known(*generation));
        if self.left.is_none() {
            self.samples.retain(|(at, _)| now.saturating_sub(*at) >= AGE_MAX);
        }
    }

    /// Returns the generation and the `a` of the values that a process retains.
    fn retained_now(&self, ground: &Ground, exchange: &Exchange) -> Option<(u32, u64)> {
        let reader = exchange.region().retain()?;
        let mut bytes = [0; 64];
        let found = reader.read(&mut bytes).ok()??;
        let build = self.builds.get(&found.generation)?;
        let plant = ground.plant_of(&build.module)?;
        let mut place = 0;
        for piece in &build.stage.retained {
            if piece.offset == plant.places.a {
                let own = bytes.get(place..place + 8)?.try_into().ok()?;
                return Some((found.generation, u64::from_le_bytes(own)));
            }
            place += piece.bytes as usize;
        }
        None
    }

    /// Checks the promises that must hold at every instant.
    pub(super) fn of_now(
        &mut self,
        ground: &Ground,
        now: Nanos,
        published: &Published,
        process: Option<&Attached>,
        client: &Client,
    ) -> Vec<String> {
        let mut found: Vec<String> =
            client.overdue(now).into_iter().map(|what| format!("unanswered: {what}")).collect();
        let state = published.state().clone();
        let Some(process) = process else {
            self.ended = None;
            let is_known =
                matches!(state.state, Activity::Waiting { .. } | Activity::Stopped { .. });
            if !is_known || state.pid.is_some() {
                let (state, pid) = (&state.state, state.pid);
                found.push(format!("`ps` says {state:?}, process {pid:?}, and there is none"));
            }
            return found;
        };
        let is_shown = state.pid.is_none_or(|pid| pid == process.number);
        if matches!(state.state, Activity::Stopped { .. }) || !is_shown {
            let (state, number) = (&state.state, process.number);
            found.push(format!("`ps` says {state:?}, and process {number} runs"));
        }
        let has_ended = process.core.turn.ended().is_some();
        if has_ended && self.ended == Some(process.number) {
            found.push(format!("`ps`: process {} has ended, and nobody saw it", process.number));
        }
        self.ended = has_ended.then_some(process.number);
        if state.state != Activity::Running {
            self.unsettle(now);
        }
        if let Some((_, a)) = self.retained_now(ground, &process.exchange) {
            self.samples.push_back((now, a));
            while self.samples.front().is_some_and(|(at, _)| now.saturating_sub(*at) > CALM) {
                self.samples.pop_front();
            }
        }
        if now.saturating_sub(self.calm_since) > CALM && client.is_content() {
            found.extend(self.of_forces(ground, state.forces, process));
        }
        found
    }

    /// Checks that just those variables are forced that should be.
    fn of_forces(&self, ground: &Ground, shown: u32, process: &Attached) -> Vec<String> {
        let region = process.exchange.region();
        let mut held = [Held::default(); FORCE_LIMIT];
        let count = region.forces().and_then(|forces| forces.read_held(&mut held).ok());
        let build = self.builds.get(&region.active().generation);
        let plant = build.and_then(|build| ground.plant_of(&build.module));
        let (Some(count), Some(plant)) = (count, plant) else { return Vec::new() };
        let mut found = Vec::new();
        if self.forces.are_known() && count != shown as usize {
            found.push(format!("`ps` shows {shown} forces, and the partition has {count}"));
        }
        for variable in ["plant_P.gain", "plant_P.bias", "plant_U.in", "plant_DW.d"] {
            let is_held = is_held(plant, variable, &held[..count]);
            match (self.forces.must_be(variable), is_held) {
                (Some(true), false) => {
                    found.push(format!("forces: `{variable}` is forced no more"));
                }
                (Some(false), true) => {
                    found.push(format!("forces: `{variable}` is forced, unasked"));
                }
                _ => {}
            }
        }
        found
    }
}

fn is_held(plant: &Plant, variable: &str, held: &[Held]) -> bool {
    let place = plant.build.symbols.resolve(variable);
    place.is_ok_and(|place| {
        held.iter()
            .any(|Held { force: Assignment { target, .. }, .. }| target.offset == place.offset)
    })
}

fn given_at(build: &job::Build, offset: u32) -> Option<u64> {
    let value = build.values.iter().find(|value| value.place.offset == offset)?;
    let mut bytes = [0; 8];
    bytes.get_mut(..value.bytes.len())?.copy_from_slice(&value.bytes);
    Some(u64::from_le_bytes(bytes))
}

fn a_given(ground: &Ground, build: &job::Build) -> Option<u64> {
    given_at(build, ground.plant_of(&build.module)?.places.a)
}
