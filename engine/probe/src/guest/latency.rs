//! The probe `latency` in a guest, and which exits and waits its spikes are joined with.

use std::fs;
use std::time::Duration;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::{Shape, Spike, TaskState};
use quietcore_microvm::counter::Moment;
use quietcore_microvm::exits::{Exit, Reason};
use quietcore_process::exchange::Exchange;
use quietcore_units::{ByteSize, CpuId, Nanos};

use super::ProbeError;
use super::cover::{Cause, Cover, Late, cover};
use super::job::{GuestLatencyJob, JOB_BYTES_MAX, encode};
use super::runner::{Options, Outcome, run_image};
use crate::latency::Injection;
use crate::margin::Wake;
use crate::thread::Place;

const MEMORY: ByteSize = ByteSize::new(4 << 20);
/// The shortest wait for a CPU between two looks that is kept.
const WAIT_MIN: u64 = 1_000;
/// The most waits that are kept.
const WAITS_MAX: usize = 65_536;

/// What shall be measured.
#[derive(Clone, Copy, Debug)]
pub struct GuestLatencyPlan {
    /// Time between releases.
    pub period: Nanos,
    /// Releases to measure.
    pub cycles: u64,
    /// Releases before these.
    pub warm_up_cycles: u64,
    /// How the task comes to its release.
    pub wake: Wake,
    /// A delay to inject.
    pub injection: Option<Injection>,
    /// Where the guest's processor runs.
    pub place: Place,
    /// Spikes from here on are joined with what covers them.
    pub limit: Nanos,
}

/// What was measured.
#[derive(Debug)]
pub struct GuestLatencyMeasured {
    /// Its statistics are those of task 0.
    pub exchange: Exchange,
    /// The worst cycles that are beyond the limit, the worst first, with what covers each.
    pub spikes: Vec<(Spike, Cover)>,
    /// Whether it came to its end.
    pub finished: bool,
    /// What came of the guest.
    pub outcome: Outcome,
}

/// Measures. `look` is called now and then with the releases so far and the worst; it returns
/// whether to end early.
///
/// # Errors
/// [`ProbeError`].
pub fn measure(
    plan: &GuestLatencyPlan,
    mut look: impl FnMut(u64, Nanos) -> bool,
) -> Result<GuestLatencyMeasured, ProbeError> {
    let exchange = Exchange::create(&Shape::of_tasks(1))?;
    let job = GuestLatencyJob {
        period: plan.period,
        cycles: plan.cycles,
        warm_up_cycles: plan.warm_up_cycles,
        wake: plan.wake,
        injection: plan.injection,
        cpu: plan.place.cpu.map_or(u32::MAX, CpuId::get),
    };
    let cycles = plan.cycles.saturating_add(plan.warm_up_cycles);
    let options = Options {
        memory: MEMORY,
        place: plan.place,
        board: None,
        polls: plan.wake == Wake::Spin,
        takes: Duration::from_nanos(plan.period.get().saturating_mul(cycles)),
        echo: Vec::new(),
    };
    let mut place = [0; JOB_BYTES_MAX];
    let job = encode(&job, &mut place)?;
    let mut waits = Waits::default();
    let outcome =
        run_image(quietcore_guests::LATENCY, job, &exchange, &options, |region, thread| {
            waits.look(thread);
            let task = region.task(0).filter(|task| task.state() != TaskState::Starting);
            let totals = task.map(|task| task.release().totals()).unwrap_or_default();
            look(totals.count, Nanos::new(totals.max_ns))
        })?;
    let task = exchange.region().task(0).expect("it has one");
    let beyond: Vec<Spike> =
        task.spikes().filter(|spike| spike.latency_ns >= plan.limit.get()).collect();
    let late = |spike: &Spike| Late { due_ns: spike.due_ns, latency_ns: spike.latency_ns };
    let causes: Vec<Cause> =
        outcome.recent.iter().map(|exit| of_exit(exit, &outcome)).chain(waits.causes).collect();
    let covers = cover(&beyond.iter().map(late).collect::<Vec<_>>(), &causes);
    let finished = task.state() == TaskState::Finished;
    let spikes = beyond.into_iter().zip(covers).collect();
    Ok(GuestLatencyMeasured { exchange, spikes, finished, outcome })
}

/// An exit, dated by the monotonic clock.
fn of_exit(exit: &Exit, outcome: &Outcome) -> Cause {
    let begin_ns = instant(outcome, exit.begin);
    let about = match exit.reason {
        Reason::PortWrite | Reason::PortRead => format!(" {:#x}", exit.detail),
        Reason::AddressWrite | Reason::AddressRead => format!(" {:#x}", exit.detail),
        _ => String::new(),
    };
    Cause {
        begin_ns,
        end_ns: begin_ns.saturating_add(exit.time_ns),
        took_ns: exit.time_ns,
        what: format!("left the guest for {}{about}", exit.reason.name()),
    }
}

/// The monotonic clock at a value of the guest's counter.
fn instant(outcome: &Outcome, counter: u64) -> u64 {
    let Moment { counter: then, host_ns } = outcome.moment;
    let passed = outcome.counter.nanoseconds(counter.saturating_sub(then));
    host_ns.saturating_add(passed)
}

/// How long the processor's thread was ready and did not run, between looks.
#[derive(Debug, Default)]
struct Waits {
    last: Option<(u64, u64)>,
    causes: Vec<Cause>,
}

impl Waits {
    fn look(&mut self, thread: u32) {
        // Time on a CPU, time waited for one, both in ns, and how often it ran.
        let Ok(text) = fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")) else {
            return;
        };
        let Some(waited_ns) = text.split_whitespace().nth(1).and_then(|it| it.parse().ok()) else {
            return;
        };
        self.note(Monotonic.now().get(), waited_ns);
    }

    fn note(&mut self, now_ns: u64, waited_ns: u64) {
        if let Some((begin_ns, before_ns)) = self.last.replace((now_ns, waited_ns)) {
            let took_ns = waited_ns.saturating_sub(before_ns);
            if took_ns >= WAIT_MIN && self.causes.len() < WAITS_MAX {
                let what = "the processor's thread waited for a CPU".to_owned();
                self.causes.push(Cause { begin_ns, end_ns: now_ns, took_ns, what });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_what_was_added_between_two_looks() {
        let mut waits = Waits::default();
        for (now_ns, waited_ns) in [(100, 5_000), (200, 5_500), (300, 9_500)] {
            waits.note(now_ns, waited_ns);
        }
        let found: Vec<_> =
            waits.causes.iter().map(|it| (it.begin_ns, it.end_ns, it.took_ns)).collect();
        assert_eq!(found, [(200, 300, 4_000)]);
    }
}
