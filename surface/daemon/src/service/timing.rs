//! The timing of a partition, read from its exchange as `quietcore top` reads it.

use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

use quietcore_api::v1;
use quietcore_exchange::{Spike, TaskSnapshot, Worst};
use quietcore_record::class::{Class, catalogue};
use quietcore_supervisor::client::Client;
use quietcore_supervisor::monitor::{FigureBuffers, LogBars, Monitor, TaskFigures};
use quietcore_units::Nanos;
use rustix::time::{ClockId, clock_gettime};

use crate::failure::CallError;

/// The wall clock at one instant, and the monotonic clock, by which cycles are dated, at the same.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    wall_ns: u64,
    monotonic_ns: u64,
}

impl Clocks {
    fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let monotonic = clock_gettime(ClockId::Monotonic);
        let [seconds, rest] = [monotonic.tv_sec, monotonic.tv_nsec].map(i64::cast_unsigned);
        Self {
            wall_ns: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX),
            monotonic_ns: seconds.saturating_mul(1_000_000_000).saturating_add(rest),
        }
    }

    /// Returns the time of the wall clock, as that is set now, at a time of the monotonic clock.
    fn wall_at(self, monotonic_ns: u64) -> u64 {
        match self.monotonic_ns.checked_sub(monotonic_ns) {
            Some(ago) => self.wall_ns.saturating_sub(ago),
            None => self.wall_ns.saturating_add(monotonic_ns - self.monotonic_ns),
        }
    }
}

/// Reads the timing of a partition of the client's site.
///
/// # Errors
/// Those of the site, such as for a partition that does not run; those of reading the exchange.
pub(super) fn read(
    client: &mut Client,
    partition: &str,
) -> Result<v1::GetTimingResponse, CallError> {
    let listed = client.list()?.into_iter().find(|it| it.name == partition);
    let monitor = Monitor::open(client, partition)?;
    let figures = monitor.figures(&mut FigureBuffers::default());
    let clocks = Clocks::now();
    Ok(v1::GetTimingResponse {
        site: client.site().to_owned(),
        tasks: figures.into_iter().flatten().map(|task| told(task, clocks)).collect(),
        class: listed.filter(|it| !it.class.is_empty()).map(|it| class(it.class)),
        read_at_ns: clocks.wall_ns,
        generation: monitor.opened().generation,
    })
}

fn told(task: TaskFigures, clocks: Clocks) -> v1::TaskTiming {
    let TaskSnapshot { counters, scan, spikes, .. } = task.snapshot;
    let worst = |worst: Worst| (worst.value_ns > 0).then(|| longest(&worst, clocks));
    let since_ns = if counters.cycles > 0 { clocks.wall_at(task.first_release.get()) } else { 0 };
    let late = spikes.iter().filter(|spike| spike.latency_ns > 0);
    v1::TaskTiming {
        period_ns: task.period.get(),
        since_ns,
        cycles: counters.cycles,
        missed_cycles: counters.missed_cycles,
        overruns: scan.overruns,
        watchdog_hits: scan.watchdog_hits,
        migrations: counters.migrations,
        release: Some(histogram(&task.release)),
        execution: Some(histogram(&task.execution)),
        response: Some(histogram(&task.response)),
        worst_releases: late.map(|spike| latest(spike, clocks)).collect(),
        worst_execution: worst(scan.worst_execution),
        worst_response: worst(scan.worst_response),
        name: task.name,
    }
}

fn histogram(values: &LogBars) -> v1::LatencyHistogram {
    let bar = |(ends, count): (Range<Nanos>, u64)| v1::LatencyBar {
        from_ns: ends.start.get(),
        to_ns: ends.end.get(),
        count,
    };
    v1::LatencyHistogram {
        count: values.total,
        min_ns: values.min.get(),
        max_ns: values.max.get(),
        p50_ns: values.shown_median().map(Nanos::get),
        p99_ns: values.shown_p99().map(Nanos::get),
        p99_9_ns: values.shown_p99_9().map(Nanos::get),
        p99_99_ns: values.shown_p99_99().map(Nanos::get),
        bars: values.bars().map(bar).collect(),
    }
}

fn latest(spike: &Spike, clocks: Clocks) -> v1::WorstCycle {
    v1::WorstCycle {
        release: spike.release,
        at_ns: clocks.wall_at(spike.due_ns),
        value_ns: spike.latency_ns,
        wakeup_ns: Some(spike.wakeup_ns),
        cpu: u32::try_from(spike.cpu).ok(),
    }
}

fn longest(worst: &Worst, clocks: Clocks) -> v1::WorstCycle {
    v1::WorstCycle {
        release: worst.release,
        at_ns: clocks.wall_at(worst.due_ns),
        value_ns: worst.value_ns,
        wakeup_ns: None,
        cpu: None,
    }
}

/// Returns the limits of a published class, and the name of another one alone.
fn class(name: String) -> v1::TimingClass {
    let Some(class) = catalogue().into_iter().find(|class| class.name == name) else {
        return v1::TimingClass { name, ..v1::TimingClass::default() };
    };
    let latency_ns = class.latency_limit_ns();
    let Class { title, cycle_ns, jitter_ns, jitter_definition, .. } = class;
    let definition = jitter_ns.map(|_| jitter_definition.description().to_owned());
    let jitter_definition = definition.unwrap_or_default();
    v1::TimingClass { name, title, cycle_ns, latency_ns, jitter_ns, jitter_definition }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_dated_by_the_wall_clock_as_it_is_set_now() {
        let clocks = Clocks { wall_ns: 1_000_000, monotonic_ns: 400 };
        assert_eq!(clocks.wall_at(150), 999_750);
        assert_eq!(clocks.wall_at(500), 1_000_100, "the next release is yet to come");
    }

    #[test]
    fn a_published_class_has_its_limits_and_another_one_its_name() {
        let known = class("motion-control".to_owned());
        assert_eq!((known.cycle_ns, known.latency_ns), (Some(1_000_000), Some(100_000)));
        assert_eq!(known.jitter_ns, Some(1_000));
        assert_eq!(known.jitter_definition, "p97.5 − p2.5");
        let own = class("press".to_owned());
        assert_eq!((own.name.as_str(), own.title.as_str(), own.latency_ns), ("press", "", None));
    }
}
