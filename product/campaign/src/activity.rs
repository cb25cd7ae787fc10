//! The activity of the machine during a run, sampled from outside and joined to spikes by time.
//!
//! Samples are taken when the exchange is looked at, by a thread of the host rather than by a task.
//! They are coarse (the kernel counts CPU time in steps of 10 ms), and tell what else happened
//! around a spike, not what caused it.

use std::collections::BTreeMap;

use quietcore_host::Source;
use quietcore_host::sampler::{Sample, Sampler};
use quietcore_record::record::{Counted, Observation, TakenBy};
use quietcore_units::Nanos;

/// Number of samples at which every second one is dropped and the distance between samples doubles.
const SAMPLES_MAX: usize = 8192;

/// CPU time that is worth a remark, in the kernel's ticks.
const TICKS_WORTH_NOTING: u64 = 1;

/// Factor by which the rate in an interval must exceed the run's average to be worth a remark.
const BUSY_FACTOR: u64 = 4;

/// The samples of a run, thinned out as it gets longer.
#[derive(Debug)]
pub(crate) struct Activity {
    sampler: Option<Sampler>,
    samples: Vec<Sample>,
    keep_every: usize,
    looks: usize,
}

impl Activity {
    /// Begins to sample. Without `/proc/stat` there are no samples, and the record says nothing of
    /// what else happened.
    pub(crate) fn begin() -> Self {
        let mut activity = Self {
            sampler: Sampler::open(&Source::live()).ok(),
            samples: Vec::new(),
            keep_every: 1,
            looks: 0,
        };
        activity.sample();
        activity
    }

    /// Takes a sample, if one is due.
    pub(crate) fn sample(&mut self) {
        let due = self.looks.is_multiple_of(self.keep_every);
        self.looks += 1;
        if due {
            self.take();
        }
    }

    /// Takes the last sample, due or not.
    pub(crate) fn end(&mut self) {
        self.take();
    }

    fn take(&mut self) {
        let Some(sampler) = &mut self.sampler else { return };
        let Ok(sample) = sampler.sample() else { return };
        self.samples.push(sample);
        if self.samples.len() == SAMPLES_MAX {
            let mut index = 0;
            self.samples.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.keep_every *= 2;
        }
    }

    /// Returns rates and shares of the whole run in words, by their names; empty without two
    /// samples.
    pub(crate) fn summary(&self) -> BTreeMap<String, String> {
        let mut words = BTreeMap::new();
        let Some(all) = self.all() else { return words };
        let seconds = all.at.as_secs_f64().max(1e-9);
        let total = all.total();
        let rate = |count: u64| format!("{:.0} /s", count as f64 / seconds);
        words.insert("interrupts".to_owned(), rate(all.interrupts));
        words.insert("context_switches".to_owned(), rate(all.context_switches));
        words.insert("processes_started".to_owned(), rate(all.forks));
        words.insert("busy".to_owned(), format!("{:.0} %", total.busy_share() * 100.0));
        words.insert("steal".to_owned(), format!("{:.2} %", total.steal_share() * 100.0));
        if all.throttled > 0 {
            words.insert("thermal_throttling".to_owned(), format!("{} times", all.throttled));
        }
        words
    }

    /// Returns what was unusual around `instant` on `cpu`: [`Observation::NothingUnusual`] where
    /// nothing was, [`Observation::NotSampled`] where no two samples enclose it.
    pub(crate) fn around(&self, instant: Nanos, cpu: u32) -> Vec<Observation> {
        let after = self.samples.partition_point(|sample| sample.at <= instant);
        let earlier = after.checked_sub(1).and_then(|index| self.samples.get(index));
        match (earlier, self.samples.get(after), self.all()) {
            (Some(earlier), Some(later), Some(all)) => {
                let interval = Sample::difference(later, earlier);
                let unusual = unusual(&interval, &all, cpu);
                if unusual.is_empty() { vec![Observation::NothingUnusual] } else { unusual }
            }
            _ => vec![Observation::NotSampled],
        }
    }

    fn all(&self) -> Option<Sample> {
        let (first, last) = (self.samples.first()?, self.samples.last()?);
        (last.at > first.at).then(|| Sample::difference(last, first))
    }
}

/// Finds what is unusual in `interval`, compared with the whole run.
fn unusual(interval: &Sample, all: &Sample, cpu: u32) -> Vec<Observation> {
    let mut found = Vec::new();
    let span = interval.at;
    if let Some(times) = interval.cpu(cpu) {
        for (by, ticks) in [
            (TakenBy::Hypervisor, times.steal),
            (TakenBy::Interrupts, times.interrupt),
            (TakenBy::SoftInterrupts, times.soft_interrupt),
        ] {
            if ticks >= TICKS_WORTH_NOTING {
                let (milliseconds, span_ns) = (ticks * MILLIS_PER_TICK, span.get());
                found.push(Observation::TimeTaken { by, milliseconds, span_ns });
            }
        }
    }
    let busier = |count: u64, whole: u64| {
        // Compared as rates, in integers: count / span > factor × whole / time.
        u128::from(count) * u128::from(all.at.get())
            > u128::from(BUSY_FACTOR) * u128::from(whole) * u128::from(span.get())
    };
    for (of, count, whole) in [
        (Counted::Interrupts, interval.interrupts, all.interrupts),
        (Counted::ContextSwitches, interval.context_switches, all.context_switches),
        (Counted::ProcessesStarted, interval.forks, all.forks),
    ] {
        if count > 0 && busier(count, whole) {
            let span_ns = span.get();
            found.push(Observation::Burst { of, count, span_ns, factor: BUSY_FACTOR });
        }
    }
    if interval.throttled > 0 {
        found.push(Observation::Throttled);
    }
    found
}

/// Milliseconds of a kernel tick: the kernel counts CPU time in `USER_HZ`, which is 100 on every
/// architecture we run on.
const MILLIS_PER_TICK: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_host::sampler::CpuTimes;

    fn sample(at_ms: u64, steal: u64, interrupts: u64) -> Sample {
        Sample {
            at: Nanos::from_millis(at_ms),
            cpus: vec![CpuTimes { cpu: 1, steal, idle: at_ms / 10, ..CpuTimes::default() }],
            interrupts,
            ..Sample::default()
        }
    }

    fn activity() -> Activity {
        let samples = vec![
            sample(0, 0, 0),
            sample(100, 0, 10),
            sample(200, 3, 20),
            sample(300, 3, 500),
            sample(1000, 3, 560),
        ];
        Activity { sampler: None, samples, keep_every: 1, looks: 0 }
    }

    #[test]
    fn a_spike_is_joined_to_what_happened_around_it() {
        let activity = activity();
        let around = |at_ms: u64, cpu: u32| activity.around(Nanos::from_millis(at_ms), cpu);
        assert_eq!(around(50, 1), [Observation::NothingUnusual]);
        assert_eq!(around(150, 1)[0].to_string(), "30 ms of 100 ms stolen by the hypervisor");
        assert_eq!(around(150, 0), [Observation::NothingUnusual]);
        let busy = around(250, 1)[0].to_string();
        assert_eq!(busy, "480 interrupts in 100 ms, more than 4 × the average");
        assert_eq!(around(5000, 1), [Observation::NotSampled]);
    }

    #[test]
    fn a_run_without_samples_says_so() {
        let none = Activity { sampler: None, samples: Vec::new(), keep_every: 1, looks: 0 };
        assert!(none.summary().is_empty());
        assert_eq!(none.around(Nanos::ZERO, 0), [Observation::NotSampled]);
        assert_eq!(activity().summary()["interrupts"], "560 /s");
    }
}
