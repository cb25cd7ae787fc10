//! The probe `latency` in a guest of ours.

use quietcore_backend::measuring::Measured;
use quietcore_exchange::{TaskState, TaskStatistics};
use quietcore_load::LoadRequest;
use quietcore_probe::guest::cover::Cover;
use quietcore_probe::guest::latency::{CoveredSpikes, GuestLatencyMeasured, GuestLatencyPlan};
use quietcore_record::class::catalogue;
use quietcore_record::histogram::Histogram;
use quietcore_record::record::check::self_check;
use quietcore_record::record::{Injected, Observation, Record, ReleaseMode, Spike, SpikeCondition};
use quietcore_site::Backend;
use quietcore_units::{CpuId, CpuSet, Nanos, Wake};

use super::circumstances::{Circumstances, degraded};
use super::guest::{PARTITION, activity, machine as of_guest};
use super::{
    PINNING, Probe, ProbeContext, ProbeError, ProbeTerms, profiles_of_pinning, some_measured,
};
use crate::collect::{counters, timeline};

/// The probe `latency` in a guest with one task.
#[derive(Clone, Debug)]
pub struct GuestLatency {
    /// The job of the guest.
    pub plan: GuestLatencyPlan,
    /// The loads beside it.
    pub loads: Vec<LoadRequest>,
}

impl Probe for GuestLatency {
    fn name(&self) -> &'static str {
        "latency"
    }

    fn title(&self) -> String {
        "probe latency in a guest".to_owned()
    }

    fn pinned(&self) -> Vec<(&str, CpuSet)> {
        vec![(PARTITION, self.plan.thread.cpu().into_iter().collect())]
    }

    fn profiles(&self, _: &[Record]) -> Vec<(String, String)> {
        profiles_of_pinning()
    }

    fn terms(&self) -> ProbeTerms {
        ProbeTerms { classes: catalogue(), ..ProbeTerms::default() }
    }

    /// An injected delay has to be seen in each record.
    fn is_passed(&self, records: &[Record]) -> bool {
        let injected = injected(&self.plan);
        injected.is_none_or(|injected| records.iter().all(|record| injected.is_seen(record)))
    }

    fn measure(&mut self, context: &mut ProbeContext<'_>) -> Result<Vec<Record>, ProbeError> {
        let (measured, circumstances) =
            Circumstances::measure(context, &self.loads, &self.plan, |_, _| {})?;
        some_measured(vec![record(&self.plan, &measured, &circumstances)?], context)
    }
}

fn record(
    plan: &GuestLatencyPlan,
    measured: &Measured<GuestLatencyMeasured>,
    circumstances: &Circumstances<'_>,
) -> Result<Record, ProbeError> {
    let region = measured.exchange.region();
    let task = region.task(0).ok_or_else(|| ProbeError::Unreadable("no statistics".to_owned()))?;
    let counted = task.counters().unwrap_or_default();
    let copy = |shared| Histogram::from_exchange(shared);
    let unreadable = |error| ProbeError::Unreadable(format!("the guest's statistics: {error}"));
    let profile = PINNING[usize::from(plan.thread.cpu().is_none())];
    let GuestLatencyMeasured { spikes: covers, facts } = &measured.outcome;
    let standing = &facts.standing;
    let mut meanwhile = activity(facts, Backend::OF_PROBES_IN_GUESTS);
    meanwhile.insert("spikes_beyond_limit".to_owned(), spikes_in_words(plan, covers));
    let mut conditions = circumstances.conditions(
        ReleaseMode::Timer { wait: plan.wake, in_guest: true },
        standing,
        of_guest(facts, Backend::OF_PROBES_IN_GUESTS),
        meanwhile,
    );
    let injected = injected(plan);
    conditions.injection = injected.map(Into::into);
    let name = format!("{PARTITION}.{profile}.task0");
    let mut record = Record {
        reserved: plan.thread.cpu().is_some(),
        cpu: plan.thread.cpu().map(CpuId::get),
        period_ns: Some(plan.period.get()),
        release: copy(task.release()).map_err(unreadable)?,
        wakeup: match plan.wake {
            // Spinning wakes nobody, and a plain sleep is woken at the release itself.
            Wake::Sleep | Wake::Spin => None,
            _ => Some(copy(task.wakeup()).map_err(unreadable)?),
        },
        counters: counters(plan.cycles, &task, &counted),
        spikes: spikes(&task, covers),
        timeline: timeline(&task),
        conditions,
        interrupted: task.state() != TaskState::Finished,
        degraded: degraded(standing),
        invalid_because: circumstances.invalid_in_guest(standing),
        ..Record::empty(name, "latency", PARTITION, profile)
    };
    record.conditions.duration_ns = record.release.count().saturating_mul(plan.period.get());
    let wrong = self_check(&record, injected);
    record.invalid_because.extend(wrong);
    Ok(record)
}

/// Returns the delay that is injected, for the self-check.
fn injected(plan: &GuestLatencyPlan) -> Option<Injected> {
    plan.injection.map(|it| Injected { delay_ns: it.delay.get(), release: it.release })
}

/// Returns the worst cycles; those beyond the limit carry the causes that cover them.
fn spikes(task: &TaskStatistics, covers: &CoveredSpikes) -> Vec<Spike> {
    let first = task.first_release_ns();
    task.spikes()
        .map(|spike| {
            let joined = covers.iter().find(|(release, _)| *release == spike.release);
            Spike {
                release: spike.release,
                at_ns: spike.due_ns.saturating_sub(first),
                latency_ns: spike.latency_ns,
                wakeup_ns: spike.wakeup_ns,
                cpu: u32::try_from(spike.cpu).unwrap_or(u32::MAX),
                conditions: joined.map(|(_, cover)| observed(cover)).unwrap_or_default(),
            }
        })
        .collect()
}

/// Converts the causes of a worst cycle to the form that records have.
fn observed(cover: &Cover) -> Vec<SpikeCondition> {
    let causes = cover.causes.iter().map(|(cause, covered_ns)| Observation::Covered {
        cause: cause.clone(),
        covered_ns: *covered_ns,
    });
    let left = Observation::Unexplained { left_ns: cover.unexplained_ns };
    let left = Some(left).filter(|_| cover.unexplained_ns > 0);
    causes.chain(left).map(Into::into).collect()
}

/// Tells how many of the worst cycles are beyond the limit, and how many of these are explained.
fn spikes_in_words(plan: &GuestLatencyPlan, covers: &CoveredSpikes) -> String {
    let all = covers.len();
    let explained = covers.iter().filter(|(_, cover)| cover.is_explained()).count();
    let unexplained: u64 = covers.iter().map(|(_, cover)| cover.unexplained_ns).sum();
    format!(
        "of the worst cycles kept {all} were beyond {}; exits to this process and waits for a CPU \
         explain most of {explained}; {} in all are unexplained",
        plan.limit,
        Nanos::new(unexplained)
    )
}
