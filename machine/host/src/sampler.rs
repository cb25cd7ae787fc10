//! The work of the CPUs between two instants, read cheaply about ten times a second.
//!
//! A spike in a run is explained by what happened around it: time stolen by the hypervisor, a storm
//! of interrupts, a clock that dropped. The sampler keeps its files open and reads each with one
//! system call; the kernel's own work for `/proc/stat` grows with CPUs and interrupts. It allocates
//! and belongs on a housekeeping CPU, never into a control thread.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::source::Source;

/// The most bytes of `/proc/stat` that are looked at: room for some 1000 CPUs and 10 000
/// interrupts.
const STAT_LIMIT: usize = 256 << 10;
const CPUS: &str = "/sys/devices/system/cpu";

/// Why no sample can be taken.
#[derive(Debug, Error)]
pub enum SampleError {
    /// The file can't be read.
    #[error("/proc/stat can't be read: {reason}; is /proc mounted?")]
    Unreadable {
        /// The kernel's answer, in words.
        reason: String,
    },
    /// A line is not as the kernel documents it.
    #[error("/proc/stat has an unknown form at `{line}`")]
    Malformed {
        /// The line, cut to 60 characters.
        line: String,
    },
}

/// The work of one CPU, in jiffies of 10 ms since boot, or between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTimes {
    /// The CPU; for a total it is `u32::MAX`.
    pub cpu: u32,
    /// Programs, those with a lowered priority included.
    pub user: u64,
    /// The kernel on behalf of programs.
    pub system: u64,
    /// Nothing, waiting for a disk included.
    pub idle: u64,
    /// Time in interrupt handlers.
    pub interrupt: u64,
    /// Deferred work of interrupts.
    pub soft_interrupt: u64,
    /// Another virtual machine, while this one wanted to run.
    pub steal: u64,
}

impl CpuTimes {
    /// Returns the sum of all jiffies.
    pub fn all(&self) -> u64 {
        [self.user, self.system, self.idle, self.interrupt, self.soft_interrupt, self.steal]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// The share of stolen time, 0 to 1; 0 where no time passed.
    pub fn steal_share(&self) -> f64 {
        share(self.steal, self.all())
    }

    /// The share of time that was not idle, 0 to 1.
    pub fn busy_share(&self) -> f64 {
        share(self.all() - self.idle, self.all())
    }

    fn combine(&self, other: &Self, each: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            cpu: self.cpu,
            user: each(self.user, other.user),
            system: each(self.system, other.system),
            idle: each(self.idle, other.idle),
            interrupt: each(self.interrupt, other.interrupt),
            soft_interrupt: each(self.soft_interrupt, other.soft_interrupt),
            steal: each(self.steal, other.steal),
        }
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The machine's counters at one instant, or their growth between two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// When, on the monotonic clock; for a difference, how long.
    #[serde(with = "nanos_as_number")]
    pub at: Nanos,
    /// Each CPU that is online.
    pub cpus: Vec<CpuTimes>,
    /// Interrupts of all kinds.
    pub interrupts: u64,
    /// Switches between tasks, on all CPUs.
    pub context_switches: u64,
    /// Processes and threads made.
    pub forks: u64,
    /// The clock of each CPU in kHz where the kernel tells, by CPU.
    pub frequencies_khz: Vec<(u32, u64)>,
    /// Slow-downs for heat, of all cores and sockets.
    pub throttled: u64,
}

impl Sample {
    /// Subtracts `earlier` from `later`. Frequencies are those of `later`. A CPU that was plugged
    /// in between has no earlier counts, so it is left out.
    #[must_use]
    pub fn difference(later: &Self, earlier: &Self) -> Self {
        let cpus = later.cpus.iter().filter_map(|now| {
            let before = earlier.cpus.iter().find(|before| before.cpu == now.cpu)?;
            // Idle times are known to step back by a jiffy.
            Some(now.combine(before, u64::saturating_sub))
        });
        Self {
            at: later.at.saturating_sub(earlier.at),
            cpus: cpus.collect(),
            interrupts: later.interrupts.saturating_sub(earlier.interrupts),
            context_switches: later.context_switches.saturating_sub(earlier.context_switches),
            forks: later.forks.saturating_sub(earlier.forks),
            frequencies_khz: later.frequencies_khz.clone(),
            throttled: later.throttled.saturating_sub(earlier.throttled),
        }
    }

    /// The sum over all CPUs.
    pub fn total(&self) -> CpuTimes {
        let none = CpuTimes { cpu: u32::MAX, ..CpuTimes::default() };
        self.cpus.iter().fold(none, |sum, cpu| sum.combine(cpu, u64::saturating_add))
    }

    /// The counters of one CPU.
    pub fn cpu(&self, number: u32) -> Option<&CpuTimes> {
        self.cpus.iter().find(|times| times.cpu == number)
    }
}

/// Reads samples, with its files kept open.
#[derive(Debug)]
pub struct Sampler {
    stat: File,
    frequencies: Vec<(u32, File)>,
    throttles: Vec<File>,
    buffer: Vec<u8>,
}

impl Sampler {
    /// Opens the files of this machine, or of a copy.
    ///
    /// # Errors
    /// When `/proc/stat` can't be opened. Frequencies and throttling are left out where there are
    /// none.
    pub fn open(source: &Source) -> Result<Self, SampleError> {
        let stat = File::open(source.place("/proc/stat")).map_err(|error| unreadable(&error))?;
        let open = |path: String| File::open(source.place(&path)).ok();
        let cpus = source.numbered(CPUS, "cpu");
        Ok(Self {
            stat,
            frequencies: cpus
                .iter()
                .filter_map(|&cpu| {
                    let path = format!("{CPUS}/cpu{cpu}/cpufreq/scaling_cur_freq");
                    Some((cpu, open(path)?))
                })
                .collect(),
            throttles: cpus
                .iter()
                .flat_map(|cpu| {
                    ["core", "package"].map(|kind| {
                        format!("{CPUS}/cpu{cpu}/thermal_throttle/{kind}_throttle_count")
                    })
                })
                .filter_map(open)
                .collect(),
            buffer: vec![0; STAT_LIMIT],
        })
    }

    /// Takes a sample of all CPUs.
    ///
    /// # Errors
    /// When `/proc/stat` can't be read or is not as documented.
    pub fn sample(&mut self) -> Result<Sample, SampleError> {
        let length = self.stat.read_at(&mut self.buffer, 0).map_err(|error| unreadable(&error))?;
        let at = monotonic();
        let text = String::from_utf8_lossy(&self.buffer[..length]);
        let mut sample = parse(&text)?;
        sample.at = at;
        sample.frequencies_khz = self
            .frequencies
            .iter()
            .filter_map(|(cpu, file)| Some((*cpu, number_in(file)?)))
            .collect();
        sample.throttled = self.throttles.iter().filter_map(number_in).sum();
        Ok(sample)
    }
}

fn unreadable(error: &io::Error) -> SampleError {
    SampleError::Unreadable { reason: crate::error_text(error) }
}

fn monotonic() -> Nanos {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let (seconds, nanos) = (now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs());
    Nanos::new(seconds.saturating_mul(1_000_000_000).saturating_add(nanos))
}

/// Reads a short file that holds one number.
fn number_in(file: &File) -> Option<u64> {
    let mut digits = [0; 24];
    let length = file.read_at(&mut digits, 0).ok()?;
    let text = std::str::from_utf8(digits.get(..length)?).ok()?;
    text.trim().parse().ok()
}

/// Reads the text of `/proc/stat` (proc(5)). Lines that are not needed are skipped; a text without
/// a single CPU is an error.
fn parse(text: &str) -> Result<Sample, SampleError> {
    let malformed = |line: &str| SampleError::Malformed { line: line.chars().take(60).collect() };
    let mut sample = Sample::default();
    for line in text.lines() {
        let (name, values) = line.split_once(' ').unwrap_or((line, ""));
        let first = || {
            let word = values.split_whitespace().next();
            word.and_then(|word| word.parse().ok()).ok_or_else(|| malformed(line))
        };
        match name {
            "intr" => sample.interrupts = first()?,
            "ctxt" => sample.context_switches = first()?,
            "processes" => sample.forks = first()?,
            name => {
                if let Some(Ok(cpu)) = name.strip_prefix("cpu").map(str::parse) {
                    let times = cpu_times(cpu, values).ok_or_else(|| malformed(line))?;
                    sample.cpus.push(times);
                }
            }
        }
    }
    if sample.cpus.is_empty() {
        return Err(malformed(text.lines().next().unwrap_or("")));
    }
    Ok(sample)
}

/// `user nice system idle iowait irq softirq steal guest guest_nice`; the last two are contained in
/// the first two, and kernels before 2.6.33 have fewer.
fn cpu_times(cpu: u32, values: &str) -> Option<CpuTimes> {
    let mut columns = [0_u64; 8];
    let mut words = values.split_whitespace();
    for (index, column) in columns.iter_mut().enumerate() {
        match words.next() {
            Some(word) => *column = word.parse().ok()?,
            None if index >= 4 => break,
            None => return None,
        }
    }
    let [user, nice, system, idle, waiting, interrupt, soft_interrupt, steal] = columns;
    Some(CpuTimes {
        cpu,
        user: user.saturating_add(nice),
        system,
        idle: idle.saturating_add(waiting),
        interrupt,
        soft_interrupt,
        steal,
    })
}

/// Instants are exact numbers in files, not texts with a unit.
mod nanos_as_number {
    use quietcore_units::Nanos;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(nanos: &Nanos, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(nanos.get())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Nanos, D::Error> {
        u64::deserialize(from).map(Nanos::new)
    }
}

#[cfg(test)]
mod tests;
