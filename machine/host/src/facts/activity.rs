//! The activity of the machine while it is looked at: load, stolen time, programs that interfere.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::attempts::Attempts;
use crate::reading::Reading;
use crate::sampler::{Sample, Sampler};
use crate::source::Source;

/// The time for which stolen time is watched.
const WINDOW: Duration = Duration::from_millis(200);
/// Processes looked at; beyond this the rest is left out, and said so.
const PROCESS_LIMIT: usize = 4096;
/// Open files looked at of one process.
const OPEN_LIMIT: usize = 256;
/// Programs that change what we set, or that matter for time.
const INTERFERING: [&str; 9] = [
    "irqbalance",
    "tuned",
    "power-profiles-",
    "thermald",
    "auto-cpufreq",
    "chronyd",
    "ntpd",
    "ptp4l",
    "phc2sys",
];

/// The activity of the machine at this moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// Runnable tasks on average over 1, 5 and 15 minutes.
    pub load: Reading<[f64; 3]>,
    /// Tasks that are runnable now.
    pub runnable: Reading<u64>,
    /// All tasks of the system.
    pub tasks: Reading<u64>,
    /// The share of time that the hypervisor gave to others.
    pub steal: Reading<Steal>,
    /// Programs that run and change what we set: each one's short name.
    pub interfering: Reading<Vec<String>>,
    /// Processes that hold `/dev/cpu_dma_latency`, as `PID NAME`.
    pub latency_holders: Reading<Vec<String>>,
}

/// The share of time that the hypervisor gave to others, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steal {
    /// Share since boot, 0 to 1.
    pub since_boot: f64,
    /// During 0.2 s just now.
    pub now: f64,
}

pub(super) fn read(source: &Source, attempts: &impl Attempts) -> Activity {
    let average = source.text("/proc/loadavg");
    let tasks = average.clone().and_then(|text| tasks(&text));
    Activity {
        load: average.and_then(|text| load(&text)),
        runnable: tasks.clone().map(|tasks| tasks.0),
        tasks: tasks.map(|tasks| tasks.1),
        steal: steal(source, attempts),
        interfering: interfering(source),
        latency_holders: latency_holders(source),
    }
}

fn load(text: &str) -> Reading<[f64; 3]> {
    let mut values = text.split_whitespace().map_while(|word| word.parse().ok());
    match (values.next(), values.next(), values.next()) {
        (Some(one), Some(five), Some(fifteen)) => Reading::Read([one, five, fifteen]),
        _ => Reading::Unreadable(format!("/proc/loadavg: `{text}`")),
    }
}

fn tasks(text: &str) -> Reading<(u64, u64)> {
    text.split_whitespace()
        .nth(3)
        .and_then(|word| word.split_once('/'))
        .and_then(|(runnable, all)| Some((runnable.parse().ok()?, all.parse().ok()?)))
        .map_or_else(|| Reading::Unreadable(format!("/proc/loadavg: `{text}`")), Reading::Read)
}

fn steal(source: &Source, attempts: &impl Attempts) -> Reading<Steal> {
    let mut sampler = match Sampler::open(source) {
        Ok(sampler) => sampler,
        Err(error) => return Reading::Unreadable(error.to_string()),
    };
    let first = match sampler.sample() {
        Ok(sample) => sample,
        Err(error) => return Reading::Unreadable(error.to_string()),
    };
    attempts.pause(WINDOW);
    let second = match sampler.sample() {
        Ok(sample) => sample,
        Err(error) => return Reading::Unreadable(error.to_string()),
    };
    Reading::Read(Steal {
        since_boot: first.total().steal_share(),
        now: Sample::difference(&second, &first).total().steal_share(),
    })
}

/// The numbers of the processes, at most [`PROCESS_LIMIT`].
fn processes(source: &Source) -> Vec<u32> {
    let mut numbers = source.numbered("/proc", "");
    numbers.truncate(PROCESS_LIMIT);
    numbers
}

fn interfering(source: &Source) -> Reading<Vec<String>> {
    let mut found: Vec<String> = processes(source)
        .into_iter()
        .filter_map(|number| {
            let name = source.text(&format!("/proc/{number}/comm"));
            let name = name.text()?;
            INTERFERING.iter().any(|other| name.starts_with(other)).then(|| name.to_owned())
        })
        .collect();
    found.sort();
    found.dedup();
    Reading::Read(found)
}

/// Looks through the open files of all processes; needs root to see those of others.
fn latency_holders(source: &Source) -> Reading<Vec<String>> {
    let device = Path::new("/dev/cpu_dma_latency");
    let mut holders = Vec::new();
    let mut hidden = 0_usize;
    for number in processes(source) {
        let folder = format!("/proc/{number}/fd");
        let files = match source.entries(&folder) {
            Reading::Read(files) => files,
            Reading::Absent => continue,
            Reading::Unreadable(_) => {
                hidden += 1;
                continue;
            }
        };
        let holds = files
            .iter()
            .take(OPEN_LIMIT)
            .any(|file| source.link(&format!("{folder}/{file}")).as_deref() == Some(device));
        if holds {
            let name = source.text(&format!("/proc/{number}/comm"));
            holders.push(format!("{number} {}", name.text().unwrap_or("?")));
        }
    }
    if hidden > 0 && holders.is_empty() {
        return Reading::Unreadable(format!(
            "the open files of {hidden} processes are visible to root only"
        ));
    }
    Reading::Read(holders)
}
