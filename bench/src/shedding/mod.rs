//! From an overrun to frozen neighbours, beside the freezer of cgroups and an event loop.
//!
//! One partition overruns once a round. Both sides see it in its exchange, which they read each
//! half period, and each freezes a partition of its own:
//!
//! | side | who looks | what freezes |
//! |------|-----------|--------------|
//! | ours | the running monitor of the site, real-time priority | the wish and `SIGSTOP` |
//! | peer | a thread of ordinary priority | `cgroup.freeze`, or `freezer.state` under v1 |

mod freezer;
mod model;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::Happening;
use quietcore_process::exchange::ExchangeView;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::{Applied, Change, ChangeKind, PartitionState, Verb};
use quietcore_units::{Causes, Nanos};

use crate::findings::{Common, Findings, Goal};
use crate::site::Stand;
use freezer::Freezer;

/// The period of the partition that overruns.
const PERIOD: Nanos = Nanos::from_millis(1);
/// Time that a round may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two rounds; longer than the calm of the site.
const REST: Duration = Duration::from_millis(120);

/// From an overrun to frozen neighbours, beside the freezer of cgroups and an event loop
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The CPU of the partitions
    #[arg(long, default_value_t = 1)]
    cpu: u32,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    let common = &request.common;
    let rounds = common.rounds_or(60);
    let method = format!(
        "a partition at 1 ms on CPU {} overruns once a round; from the end of the late job to the \
         return of the last call, {rounds} rounds a side, alternating",
        request.cpu
    );
    let mut findings = Findings::begin("shedding", method, common, rounds);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let stand = Stand::new(&model::write(folder.path(), request.cpu)?, folder)?;
    let life = stand.up()?;
    for busy in [false, true] {
        let (mut client, _) = life.client()?;
        let _workers = busy.then(Workers::start);
        let under = if busy { "all CPUs busy" } else { "idle" };
        let (ours, peer) = both(&mut client, rounds, &mut findings)?;
        let periods: Vec<f64> = ours.iter().map(|ns| ns / PERIOD.get() as f64).collect();
        findings.figure(&format!("ours, {under}"), "ns", &ours);
        findings.goal(&format!("ours / one period, {under}"), "times", &periods, Goal::AtMost(1.0));
        let largest = ours.iter().copied().fold(0.0, f64::max);
        findings.figure(&format!("ours, largest of all rounds, {under}"), "ns", &[largest]);
        if !peer.is_empty() {
            findings.figure(&format!("freezer by an event loop, {under}"), "ns", &peer);
            findings.ratio(&format!("ours / freezer, {under}"), &ours, &peer, None);
            let largest = peer.iter().copied().fold(0.0, f64::max);
            let name = format!("freezer, largest of all rounds, {under}");
            findings.figure(&name, "ns", &[largest]);
        }
    }
    drop(life);
    findings.print(common)
}

/// The reactions of both sides, one of each a round.
fn both(
    client: &mut Client,
    rounds: usize,
    findings: &mut Findings,
) -> Result<(Vec<f64>, Vec<f64>), String> {
    let other = state(client, "other")?.pid.ok_or("partition `other` has no process")?;
    let freezer = Freezer::with(other);
    if let Err(why) = &freezer {
        findings.not_measured(format!("the freezer of cgroups: {why}"));
    }
    let (mut ours, mut peer) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let first_is_ours = round.is_multiple_of(2);
        for is_ours in [first_is_ours, !first_is_ours] {
            thread::sleep(REST);
            match (&freezer, is_ours) {
                (_, true) => ours.push(reaction_of_ours(client)?),
                (Ok(freezer), false) => peer.push(reaction_of_peer(client, freezer)?),
                (Err(_), false) => {}
            }
        }
    }
    Ok((ours, peer))
}

fn state(client: &mut Client, name: &str) -> Result<PartitionState, String> {
    let all = client.list().map_err(|error| Causes(&error).to_string())?;
    all.into_iter().find(|one| one.name == name).ok_or(format!("no partition `{name}`"))
}

fn be_late(client: &mut Client) -> Result<(), String> {
    let (variable, value) = (model::SPIN.to_owned(), Some("1500".to_owned()));
    let change = Change { kind: ChangeKind::Set, variable, value, allow_nan: false };
    client
        .ask::<Applied>("axis", Verb::write([change]))
        .map(drop)
        .map_err(|error| Causes(&error).to_string())
}

fn reaction_of_ours(client: &mut Client) -> Result<f64, String> {
    let count = |state: &PartitionState| state.reactions.map_or(0, |it| it.count);
    let before = count(&state(client, "axis")?);
    be_late(client)?;
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        thread::sleep(Duration::from_millis(10));
        let axis = state(client, "axis")?;
        if let Some(reactions) = axis.reactions.filter(|it| it.count > before) {
            return Ok(reactions.last.get() as f64);
        }
    }
    Err("nothing was shed within 10 s".to_owned())
}

fn reaction_of_peer(client: &mut Client, freezer: &Freezer) -> Result<f64, String> {
    let (_, file) = client.open("axis").map_err(|error| Causes(&error).to_string())?;
    let exchange = ExchangeView::open(file).map_err(|error| error.to_string())?;
    let watching = AtomicBool::new(false);
    let reaction = thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&exchange, freezer, &watching));
        while !watching.load(Ordering::Acquire) {
            thread::yield_now();
        }
        let asked = be_late(client);
        let reaction = watcher.join().map_err(|_| "the watching thread panicked".to_owned())?;
        asked.and(reaction)
    });
    freezer.thaw()?;
    reaction
}

/// The event loop: looks each half period, freezes at the first overrun.
fn watch(exchange: &ExchangeView, freezer: &Freezer, watching: &AtomicBool) -> Result<f64, String> {
    let task = exchange.view().task(0).ok_or("the exchange has no task")?;
    let mut told = exchange.view().events_from_now(0).ok_or("the exchange has no events")?;
    let overruns = || task.pulse().map(|pulse| pulse.overruns).ok();
    let before = overruns();
    watching.store(true, Ordering::Release);
    let end = Instant::now() + PATIENCE;
    while overruns().is_none_or(|now| Some(now) == before) {
        if Instant::now() >= end {
            return Err("no overrun within 10 s".to_owned());
        }
        thread::sleep(Duration::from_nanos(PERIOD.get() / 2));
    }
    freezer.freeze()?;
    let frozen = Monotonic.now();
    let mut late = told.drain().filter(|it| matches!(it.what, Happening::Overrun { .. }));
    let done = late.next().ok_or("the overrun was not told")?.time;
    Ok(frozen.saturating_sub(done).get() as f64)
}

/// Threads that keep all CPUs busy at ordinary priority.
struct Workers {
    done: std::sync::Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Workers {
    fn start() -> Self {
        let done = std::sync::Arc::new(AtomicBool::new(false));
        let count = 2 * thread::available_parallelism().map_or(1, usize::from);
        let work = || {
            let done = std::sync::Arc::clone(&done);
            thread::spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        Self { threads: (0..count).map(|_| work()).collect(), done }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
