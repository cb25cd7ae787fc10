//! The probe `latency` in a guest, whose spikes are joined with the exits and waits that cover
//! them.

use std::fs;
use std::time::Duration;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::{Spike, TaskState};
use quietcore_microvm::counter::Moment;
use quietcore_microvm::exits::{Exit, Reason};

use super::ProbeError;
use super::cover::{Cause, Cover, Late, cover};
use super::job::{GuestLatencyJob, JOB_BYTES_MAX, encode};
use super::runner::{GuestFacts, Options, Outcome, run_image};
use crate::measurement::{
    AnyMeasurement, Measurement, MeasurementError, MeasurementProgress, OpenExchange,
};
use quietcore_release::Injection;
use quietcore_units::{ByteSize, CpuId, Nanos, ThreadRequest, Wake};
use serde::{Deserialize, Serialize};

const MEMORY: ByteSize = ByteSize::new(4 << 20);
/// The shortest wait for a CPU between two looks that is kept, in ns.
const WAIT_MIN: u64 = 1_000;
/// The most waits that are kept.
const WAITS_MAX: usize = 65_536;

/// The plan of a measurement of releases in a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestLatencyPlan {
    /// Time from one release to the next.
    pub period: Nanos,
    /// Number of releases to measure.
    pub cycles: u64,
    /// Releases before the measured ones, which are run and discarded.
    pub warm_up_cycles: u64,
    /// Way in which the task comes to its release.
    pub wake: Wake,
    /// A delay to inject; `None` injects none.
    pub injection: Option<Injection>,
    /// CPU and scheduling of the thread that runs the guest's processor.
    pub thread: ThreadRequest,
    /// Latency from which on a worst cycle is joined with what covers it.
    pub limit: Nanos,
}

/// The worst cycles of a guest by the numbers of their releases, the worst first, each with what
/// covers it.
pub type CoveredSpikes = Vec<(u64, Cover)>;

/// The results of a measurement of releases in a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestLatencyMeasured {
    /// The worst cycles beyond the limit.
    pub spikes: CoveredSpikes,
    /// The facts of the guest that measured.
    pub facts: GuestFacts,
}

impl From<GuestLatencyPlan> for AnyMeasurement {
    fn from(plan: GuestLatencyPlan) -> Self {
        Self::GuestReleases(plan)
    }
}

impl Measurement for GuestLatencyPlan {
    type Outcome = GuestLatencyMeasured;

    fn carry_out(
        &self,
        exchange: &OpenExchange<'_>,
        look: &mut dyn FnMut(MeasurementProgress) -> bool,
    ) -> Result<GuestLatencyMeasured, MeasurementError> {
        let look = |done, worst| look(MeasurementProgress { series: 0, done, worst });
        let (spikes, outcome) = measure(self, exchange, look)?;
        Ok(GuestLatencyMeasured { spikes, facts: outcome.into() })
    }
}

/// Measures releases; their statistics lie in `exchange` at the end, as those of task 0. `look` is
/// called now and then with the number of releases so far and the worst latency; it returns `true`
/// to end early. Returns the worst cycles beyond the limit, and how the guest ended.
///
/// # Errors
/// Returns [`ProbeError`] when the guest did not end as it should.
pub fn measure(
    plan: &GuestLatencyPlan,
    exchange: &OpenExchange<'_>,
    mut look: impl FnMut(u64, Nanos) -> bool,
) -> Result<(CoveredSpikes, Outcome), ProbeError> {
    let job = GuestLatencyJob {
        period: plan.period,
        cycles: plan.cycles,
        warm_up_cycles: plan.warm_up_cycles,
        wake: plan.wake,
        injection: plan.injection,
        cpu: plan.thread.cpu().map_or(u32::MAX, CpuId::get),
    };
    let cycles = plan.cycles.saturating_add(plan.warm_up_cycles);
    let options = Options {
        memory: MEMORY,
        thread: plan.thread,
        board: None,
        polls: plan.wake == Wake::Spin,
        takes: Duration::from_nanos(plan.period.get().saturating_mul(cycles)),
        echo: Vec::new(),
        network: None,
    };
    let mut place = [0; JOB_BYTES_MAX];
    let job = encode(&job, &mut place)?;
    let mut waits = Waits::default();
    let outcome =
        run_image(quietcore_guests::LATENCY, job, exchange, &options, |region, thread| {
            waits.look(thread);
            let task = region.task(0).filter(|task| task.state() != TaskState::Starting);
            let totals = task.map(|task| task.release().totals()).unwrap_or_default();
            look(totals.count, Nanos::new(totals.max_ns))
        })?;
    let region = exchange.region;
    let missing = || ProbeError::Unreadable("there are no statistics".to_owned());
    let task = region.task(0).ok_or_else(missing)?;
    let beyond: Vec<Spike> =
        task.spikes().filter(|spike| spike.latency_ns >= plan.limit.get()).collect();
    let late = |spike: &Spike| Late { due_ns: spike.due_ns, latency_ns: spike.latency_ns };
    let causes: Vec<Cause> =
        outcome.recent.iter().map(|exit| of_exit(exit, &outcome)).chain(waits.causes).collect();
    let covers = cover(&beyond.iter().map(late).collect::<Vec<_>>(), &causes);
    let spikes = beyond.into_iter().map(|spike| spike.release).zip(covers).collect();
    Ok((spikes, outcome))
}

/// Dates an exit by the monotonic clock.
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

/// Returns the monotonic clock, in ns, at a value of the guest's counter.
fn instant(outcome: &Outcome, counter: u64) -> u64 {
    let Moment { counter: then, host_ns } = outcome.moment;
    let passed = outcome.counter.nanoseconds(counter.saturating_sub(then));
    host_ns.saturating_add(passed)
}

/// The waits of the processor's thread: the times between looks in which it was ready and did not
/// run.
#[derive(Debug, Default)]
struct Waits {
    last: Option<(u64, u64)>,
    causes: Vec<Cause>,
}

impl Waits {
    fn look(&mut self, thread: u32) {
        // The fields are time on a CPU and time waited for one, in ns, and the number of runs.
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
