//! What the machine did during a run: sampled from outside, joined to spikes by time.
//!
//! Samples are taken when the exchange is looked at, by the host's thread and not by a task. They
//! are coarse (the kernel counts CPU time in steps of 10 ms), and say what else happened around a
//! spike, not what caused it.

use std::collections::BTreeMap;

use quietcore_host::Source;
use quietcore_host::sampler::{Sample, Sampler};
use quietcore_units::Nanos;

/// Samples kept; beyond, every second one is dropped and the distance doubles.
const SAMPLES_MAX: usize = 8192;

/// CPU time that is worth a remark, in the kernel's ticks.
const TICKS_WORTH_NOTING: u64 = 1;

/// How much busier than on average an interval must be to be worth a remark.
const BUSY_FACTOR: u64 = 4;

const NOTHING_UNUSUAL: &str = "nothing unusual in the samples around it";
const NOT_SAMPLED: &str = "not sampled";

/// Samples of a run.
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

    /// Takes the last sample.
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

    /// The whole run in words.
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

    /// What was unusual around `instant` on `cpu`, in words. Nothing unusual and nothing known are
    /// two different answers.
    pub(crate) fn around(&self, instant: Nanos, cpu: u32) -> Vec<String> {
        let after = self.samples.partition_point(|sample| sample.at <= instant);
        let earlier = after.checked_sub(1).and_then(|index| self.samples.get(index));
        match (earlier, self.samples.get(after), self.all()) {
            (Some(earlier), Some(later), Some(all)) => {
                let interval = Sample::difference(later, earlier);
                let unusual = describe(&interval, &all, cpu);
                if unusual.is_empty() { vec![NOTHING_UNUSUAL.to_owned()] } else { unusual }
            }
            _ => vec![NOT_SAMPLED.to_owned()],
        }
    }

    fn all(&self) -> Option<Sample> {
        let (first, last) = (self.samples.first()?, self.samples.last()?);
        (last.at > first.at).then(|| Sample::difference(last, first))
    }
}

/// What is unusual in `interval`, against the whole run.
fn describe(interval: &Sample, all: &Sample, cpu: u32) -> Vec<String> {
    let mut words = Vec::new();
    let span = interval.at;
    if let Some(times) = interval.cpu(cpu) {
        for (what, ticks) in [
            ("stolen by the hypervisor", times.steal),
            ("in interrupts", times.interrupt),
            ("in softirqs", times.soft_interrupt),
        ] {
            if ticks >= TICKS_WORTH_NOTING {
                words.push(format!("{} ms of {span} {what}", ticks * MILLIS_PER_TICK));
            }
        }
    }
    let busier = |count: u64, whole: u64| {
        // Compared as rates, in integers: count / span > factor × whole / time.
        u128::from(count) * u128::from(all.at.get())
            > u128::from(BUSY_FACTOR) * u128::from(whole) * u128::from(span.get())
    };
    for (what, count, whole) in [
        ("interrupts", interval.interrupts, all.interrupts),
        ("context switches", interval.context_switches, all.context_switches),
        ("processes started", interval.forks, all.forks),
    ] {
        if count > 0 && busier(count, whole) {
            words.push(format!("{count} {what} in {span}, more than {BUSY_FACTOR} × the average"));
        }
    }
    if interval.throttled > 0 {
        words.push("the processor was throttled by heat".to_owned());
    }
    words
}

/// The kernel counts CPU time in `USER_HZ`, which is 100 on every architecture we run on.
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
        assert_eq!(around(50, 1), [NOTHING_UNUSUAL]);
        assert_eq!(around(150, 1), ["30 ms of 100 ms stolen by the hypervisor"]);
        assert_eq!(around(150, 0), [NOTHING_UNUSUAL]);
        assert!(around(250, 1)[0].starts_with("480 interrupts"));
        assert_eq!(around(5000, 1), [NOT_SAMPLED]);
    }

    #[test]
    fn a_run_without_samples_says_so() {
        let none = Activity { sampler: None, samples: Vec::new(), keep_every: 1, looks: 0 };
        assert!(none.summary().is_empty());
        assert_eq!(none.around(Nanos::ZERO, 0), [NOT_SAMPLED]);
        assert_eq!(activity().summary()["interrupts"], "560 /s");
    }
}
