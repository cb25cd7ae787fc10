//! The JSON of `jitterdebugger -o DIR` (`results.json`).
//!
//! The program sorts only what is below 1 ms into its histogram and says nothing about the rest. It
//! does count the rest, so the difference between count and histogram is an overflow from 1 ms on.
//! It doesn't move releases after a stall: each late cycle is a value.
//!
//! Files before version 3 have no `sysinfo`; they are in microseconds.

use quietcore_units::Wake;
use serde::Deserialize;

use super::column::{Claims, Finished, Mean, finish};
use super::error::{ImportError, Problems};
use super::json::frame::System;
use super::json::{Buckets, Threads, document, place_of, without_nan};
use super::source::{Source, Task};
use crate::record::{Conditions, Record, ReleaseMode};

const EXPECTED: &str = "the `results.json` that `jitterdebugger -o DIR` writes";

/// The end of the program's histogram, in ns.
const END_NS: u64 = 1_000_000;
/// The newest version that is known.
const VERSION: u64 = 3;
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    version: Option<u64>,
    #[serde(default)]
    sysinfo: Option<Extended>,
    cpu: Threads<Cpu>,
}

#[derive(Deserialize)]
struct Extended {
    #[serde(flatten)]
    system: System,
    #[serde(default)]
    cpus_online: Option<u64>,
    #[serde(default)]
    resolution_in_ns: Option<u64>,
}

#[derive(Deserialize)]
struct Cpu {
    histogram: Buckets,
    count: u64,
    min: u64,
    max: u64,
    avg: f64,
}

pub(super) fn read(
    source: &Source,
    text: &str,
    mut problems: Problems,
) -> Result<Vec<Record>, ImportError> {
    let Some(file) = document::<File>(&without_nan(text), EXPECTED, &mut problems) else {
        return Err(problems.into_error());
    };
    let end = (text.lines().count().max(1), 1);
    if let Some(version) = file.version.filter(|version| *version > VERSION) {
        problems.at((1, 1), format!("`version` is {version}; up to {VERSION} is read"));
    }
    let unit_ns = match file.sysinfo.as_ref().and_then(|system| system.resolution_in_ns) {
        None | Some(1_000) => 1_000,
        Some(1) => 1,
        Some(other) => {
            problems.at((1, 1), format!("`resolution_in_ns` is {other}; expected 1000 or 1"));
            return Err(problems.into_error());
        }
    };
    if file.cpu.0.is_empty() {
        problems.at(end, "`cpu` is empty; nothing was measured");
    }
    let mut conditions = Conditions::default();
    if let Some(extended) = &file.sysinfo {
        extended.system.describe(&mut conditions);
    }
    // Entries are numbered by thread. They are the CPUs only where every CPU had one.
    let online = file.sysinfo.as_ref().and_then(|system| system.cpus_online);
    let all_cpus = online == Some(file.cpu.0.len() as u64);
    if !all_cpus {
        let because = match online {
            Some(online) => format!("not each of {online} CPUs had one"),
            None => "does not say how many CPUs were online".to_owned(),
        };
        conditions.activity.insert(
            "cpu".to_owned(),
            format!("not known: the file numbers its threads, and {because}"),
        );
    }
    let mut records = Vec::with_capacity(file.cpu.0.len());
    for (number, cpu) in &file.cpu.0 {
        match finished(cpu, unit_ns) {
            Ok(finished) => {
                let task = Task {
                    name: format!("cpu{number}"),
                    probe: "jitterdebugger",
                    mode: ReleaseMode::timer(Wake::Sleep),
                    cpu: u32::try_from(*number).ok().filter(|_| all_cpus),
                    period_ns: None,
                };
                records.push(source.record(&task, finished, conditions.clone()));
            }
            Err(what) => {
                problems.at(place_of(text, "cpu", *number), format!("cpu {number}: {what}"));
            }
        }
    }
    problems.unless_any(records)
}

fn finished(cpu: &Cpu, unit_ns: u64) -> Result<Finished, String> {
    let column = cpu.histogram.column()?;
    let overflow = cpu.count.checked_sub(column.total()).ok_or_else(|| {
        format!(
            "the histogram has {} values, more than `count` with {}; in an unchanged file they \
             agree",
            column.total(),
            cpu.count
        )
    })?;
    let claims = Claims {
        unit_ns,
        bucket_size: 1,
        overflow,
        overflow_from: END_NS / unit_ns,
        extremes: Some((cpu.min, cpu.max)),
        mean: Some(Mean::rounded(cpu.avg)),
    };
    if let Some((_, last)) = column.ends().filter(|(_, last)| *last >= claims.overflow_from) {
        return Err(format!(
            "bucket {last} is beyond the end of the program's histogram, {}",
            claims.overflow_from
        ));
    }
    finish(&column, &claims)
}
