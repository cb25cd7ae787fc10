//! The clients: they make requests at odd instants, and check that each is answered.

use std::path::PathBuf;

use quietcore_units::Nanos;

use super::chance::Chance;
use super::ground::{Ground, PARTITION, Plant};
use super::promises::Promises;
use super::tally::Tally;
use super::universe::Life;
use crate::control::{
    Activity, Answer, Asker, Change, ChangeKind, DeployPatience, Introduction, Restart, Trace, Verb,
};
use crate::keeper::{Caller, Prepared, Request, Waiting};

/// Limit of the requests that wait for their answer.
const WAITING_MAX: usize = 6;
/// Longest time that an answer may take, whatever the partition does.
const ANSWER_MAX: Nanos = Nanos::from_secs(60);
/// Longest time that the answer of a deploy may take, which waits for the end of its probation.
const DEPLOY_MAX: Nanos = Nanos::from_secs(45);
/// Time for which a partition is left alone that only a client starts again, or lets go on.
const NEGLECT_MAX: Nanos = Nanos::from_secs(4);
/// Value of `plant_DW.d` that it only has by force.
pub(super) const FORCED: u64 = 4_000_000_000;

/// Variables that are forced, each with its value.
const FORCES: [(&str, &str); 4] = [
    ("plant_P.gain", "7.5"),
    ("plant_P.bias", "1.25"),
    ("plant_U.in", "-3.0"),
    ("plant_DW.d", "4000000000"),
];
/// Variables that are set.
const SETS: [&str; 4] = ["plant_P.gain", "plant_P.bias", "plant_U.in", "plant_Y.out"];

/// All clients of the site.
#[derive(Debug, Default)]
pub(super) struct Client {
    sent: Vec<Sent>,
    next_at: Nanos,
    number: u64,
    /// Instant since which the partition is held, or was given up.
    idle_since: Option<Nanos>,
}

#[derive(Debug)]
struct Sent {
    number: u64,
    at: Nanos,
    what: What,
    waiting: Waiting,
}

/// A request, as far as it matters later.
#[derive(Clone, Debug)]
pub(super) enum What {
    Write(Vec<Change>),
    UnforceAll,
    Restart(Restart),
    Deploy,
    Other,
}

/// The outcome of a request.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    pub(super) number: u64,
    pub(super) what: What,
    pub(super) is_done: bool,
}

impl Client {
    /// Returns `true` if no answer is waited for.
    pub(super) fn is_content(&self) -> bool {
        self.sent.is_empty()
    }

    /// Makes a request, if it is time.
    pub(super) fn ask(
        &mut self,
        chance: &mut Chance,
        now: Nanos,
        ground: &Ground,
        life: &Life,
        promises: &mut Promises,
        tally: &mut Tally,
    ) {
        if now < self.next_at || self.sent.len() >= WAITING_MAX {
            return;
        }
        let longest = if chance.one_in(2) { 8_000_000 } else { 900_000 };
        self.next_at = now + chance.micros(500, longest);
        let state = life.published.state().state.clone();
        let verb = self.relief(now, &state).unwrap_or_else(|| verb(chance));
        if matches!(verb, Verb::Deploy { .. }) {
            // Much may go wrong within a probation.
            self.next_at = now + chance.micros(50_000, 1_500_000);
        }
        let plant = chance.pick(&ground.plants);
        if self.send(verb, plant, now, life, promises, tally) && chance.one_in(25) {
            tally.fault("client that goes");
            if let Some(gone) = self.sent.pop() {
                promises.unknown(gone.number, &gone.what);
            }
        }
    }

    /// Makes a request. Returns `false` if it can't be handed over.
    pub(super) fn send(
        &mut self,
        verb: Verb,
        plant: &Plant,
        now: Nanos,
        life: &Life,
        promises: &mut Promises,
        tally: &mut Tally,
    ) -> bool {
        let Some(requests) = &life.requests else { return false };
        let what = what(&verb);
        let prepared = matches!(what, What::Deploy).then(|| {
            Box::new(Prepared { build: plant.build.clone(), folder: "/source".to_owned() })
        });
        let says = Introduction::default();
        let by = Asker { uid: 0, user: "root".to_owned(), pid: 1, says };
        let (caller, waiting) = Caller::new(by);
        if requests.try_send(Request { verb, prepared, caller }).is_err() {
            return false;
        }
        tally.requests += 1;
        self.number += 1;
        promises.asked(&what, now);
        self.sent.push(Sent { number: self.number, at: now, what, waiting });
        true
    }

    /// Chooses a request that gets a partition going which would stand for ever.
    fn relief(&mut self, now: Nanos, state: &Activity) -> Option<Verb> {
        let verb = match state {
            Activity::Stopped { .. } | Activity::Fault { .. } => {
                Verb::Restart { how: Restart::Warm }
            }
            Activity::Paused => Verb::Resume,
            _ => {
                self.idle_since = None;
                return None;
            }
        };
        let since = *self.idle_since.get_or_insert(now);
        (now.saturating_sub(since) > NEGLECT_MAX).then_some(verb)
    }

    /// Returns the outcomes that have come since the last call, each with a line for the trace.
    pub(super) fn hear(&mut self, _now: Nanos) -> Vec<(String, Heard)> {
        let mut heard = Vec::new();
        self.sent.retain(|sent| {
            let Some(answer) = sent.waiting.look() else { return true };
            let line = match &answer {
                None => "gets no answer, as the site comes down".to_owned(),
                Some(Ok(answered)) => match &answered.answer {
                    // The path of its symbols differs from run to run.
                    Answer::Opened(opened) => format!("is answered: build {}", opened.generation),
                    answer => format!("is answered: {answer:?}"),
                },
                Some(Err(error)) => format!("is refused: {error}"),
            };
            let is_done = matches!(answer, Some(Ok(_)));
            let what = sent.what.clone();
            heard.push((
                format!("request {} ({what:?}) {line}", sent.number),
                Heard { number: sent.number, what, is_done },
            ));
            false
        });
        heard
    }

    /// Lists the requests that were not answered in time.
    pub(super) fn overdue(&self, now: Nanos) -> Vec<String> {
        let limit = |sent: &Sent| match sent.what {
            What::Deploy => DEPLOY_MAX,
            _ => ANSWER_MAX,
        };
        let late = self.sent.iter().filter(|sent| now.saturating_sub(sent.at) > limit(sent));
        let line =
            |sent: &Sent| format!("request {} is not answered: {:?}", sent.number, sent.what);
        late.map(line).collect()
    }

    /// Lists the requests that were not answered when the supervisor has ended.
    pub(super) fn end(&mut self, _tally: &mut Tally) -> Vec<String> {
        let left = std::mem::take(&mut self.sent);
        let left = left.into_iter().filter(|sent| sent.waiting.look().is_none());
        left.map(|sent| format!("request {} is never answered: {:?}", sent.number, sent.what))
            .collect()
    }
}

/// Returns the part of a request that matters later.
fn what(verb: &Verb) -> What {
    match verb {
        Verb::Write { changes, .. } => What::Write(changes.clone()),
        Verb::UnforceAll => What::UnforceAll,
        Verb::Restart { how } => What::Restart(*how),
        Verb::Deploy { .. } => What::Deploy,
        _ => What::Other,
    }
}

/// Chooses a request by chance.
fn verb(chance: &mut Chance) -> Verb {
    match chance.below(24) {
        0 => Verb::Open,
        1 => Verb::UnforceAll,
        2 => {
            let variables = vec!["plant_DW.a".to_owned(), "plant_Y.out".to_owned()];
            Verb::TraceStart { trace: Trace { variables, every: 1, task: 0 } }
        }
        3 => Verb::TraceStop,
        4 => Verb::Restart { how: Restart::Warm },
        5 => Verb::Restart { how: *chance.pick(&[Restart::Cold, Restart::Origin]) },
        6 => Verb::Pause,
        7 | 8 => Verb::Resume,
        9..=13 => {
            let patience = [DeployPatience::UntilProven, DeployPatience::UntilItRuns];
            let patience = *chance.pick(&patience);
            Verb::Deploy { folder: PathBuf::from("/source").join(PARTITION), patience }
        }
        _ => {
            let count = 1 + chance.below(3);
            let changes = (0..count).map(|_| change(chance)).collect();
            Verb::Write { changes, confirm: chance.one_in(3) }
        }
    }
}

fn change(chance: &mut Chance) -> Change {
    let (variable, value) = *chance.pick(&FORCES);
    let (kind, variable, value) = match chance.below(3) {
        0 => (ChangeKind::Force, variable, Some(value.to_owned())),
        1 => (ChangeKind::Unforce, variable, None),
        _ => {
            let value = chance.below(1_000).to_string();
            (ChangeKind::Set, *chance.pick(&SETS), Some(value))
        }
    };
    set_or_force(kind, variable, value.as_deref())
}

/// Makes a change of a variable.
pub(super) fn set_or_force(kind: ChangeKind, variable: &str, value: Option<&str>) -> Change {
    let value = value.map(str::to_owned);
    Change { kind, variable: variable.to_owned(), value, allow_nan: false }
}
