//! The JSON of `cyclictest --json=FILE`.
//!
//! `resolution_in_ns` is 0 for microseconds and 1 for nanoseconds: it is the program's `-N` flag.
//! `cycles` counts all values, the histogram only those below its end: the difference overflowed.
//! Interval and end of the histogram stand in the command line alone (`"cmdline:"`, with a colon).

use quietcore_units::Wake;
use serde::Deserialize;

use super::column::{Claims, Mean, finish};
use super::command_line::{self, Options};
use super::error::{ImportError, Problems};
use super::json::{Buckets, Threads, place_of, problem, without_nan};
use super::source::{Source, Task, remark_stalls};
use super::time::Instant;
use crate::record::{Conditions, PolicyInForce, Record, ReleaseMode};

const EXPECTED: &str = "the file that `cyclictest --json=FILE` writes";

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    file_version: Option<u64>,
    #[serde(default, rename = "cmdline:", alias = "cmdline")]
    command_line: Option<String>,
    #[serde(default)]
    start_time: Option<String>,
    #[serde(default)]
    end_time: Option<String>,
    #[serde(default)]
    sysinfo: Option<System>,
    num_threads: u64,
    resolution_in_ns: u64,
    thread: Threads<Thread>,
}

/// The machine that the file was written on.
#[derive(Default, Deserialize)]
pub(super) struct System {
    #[serde(default)]
    sysname: String,
    #[serde(default)]
    release: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    machine: String,
    #[serde(default)]
    realtime: Option<u64>,
}

#[derive(Deserialize)]
struct Thread {
    histogram: Buckets,
    cycles: u64,
    min: u64,
    max: u64,
    avg: f64,
    #[serde(default)]
    cpu: Option<i64>,
}

pub(super) fn read(
    source: &Source,
    text: &str,
    mut problems: Problems,
) -> Result<Vec<Record>, ImportError> {
    let text = without_nan(text);
    let file: File = match serde_json::from_str(&text) {
        Ok(file) => file,
        Err(error) => {
            problem(&error, EXPECTED, &mut problems);
            return Err(problems.into_error());
        }
    };
    let end = (text.lines().count().max(1), 1);
    if let Some(version) = file.file_version.filter(|version| *version != 1) {
        problems.at((1, 1), format!("`file_version` is {version}; version 1 is read"));
    }
    if file.num_threads != file.thread.0.len() as u64 {
        problems.at(
            end,
            format!(
                "`num_threads` is {}, and {} threads are there; expected all of them",
                file.num_threads,
                file.thread.0.len()
            ),
        );
    }
    let unit_ns = match file.resolution_in_ns {
        0 | 1_000 => 1_000,
        1 => 1,
        other => {
            problems
                .at((1, 1), format!("`resolution_in_ns` is {other}; expected 0 (µs) or 1 (ns)"));
            return Err(problems.into_error());
        }
    };
    let options = file.command_line.as_deref().map(command_line::options);
    let conditions = conditions(&file, options.as_ref());
    let mut records = Vec::with_capacity(file.thread.0.len());
    for (number, thread) in &file.thread.0 {
        match finished(thread, unit_ns, options.as_ref()) {
            Ok(finished) => {
                let task = Task {
                    name: format!("thread{number}"),
                    probe: "cyclictest",
                    mode: ReleaseMode::timer(Wake::Sleep),
                    cpu: thread.cpu.and_then(|cpu| u32::try_from(cpu).ok()),
                    period_ns: period_ns(*number, options.as_ref()),
                };
                records.push(source.record(&task, finished, conditions.clone()));
            }
            Err(what) => {
                problems.at(place_of(&text, "thread", *number), format!("thread {number}: {what}"));
            }
        }
    }
    problems.unless_any(records)
}

fn finished(
    thread: &Thread,
    unit_ns: u64,
    options: Option<&Options>,
) -> Result<super::column::Finished, String> {
    let column = thread.histogram.column()?;
    let overflow = thread.cycles.checked_sub(column.total()).ok_or_else(|| {
        format!(
            "the histogram counts {} values, more than `cycles` with {}; in an unchanged file \
             they agree",
            column.total(),
            thread.cycles
        )
    })?;
    let beyond_last = column.ends().map_or(0, |(_, last)| last.saturating_add(1));
    let claims = Claims {
        unit_ns,
        bucket_size: 1,
        overflow,
        overflow_from: options.and_then(|options| options.histogram).unwrap_or(0).max(beyond_last),
        extremes: Some((thread.min, thread.max)),
        mean: Some(Mean::rounded(thread.avg)),
    };
    finish(&column, &claims)
}

/// Returns the interval of a thread. With a histogram all threads have the same; without, later
/// threads have longer ones.
fn period_ns(thread: u64, options: Option<&Options>) -> Option<u64> {
    let options = options?;
    (thread == 0 || options.histogram.is_some())
        .then(|| options.interval_us?.checked_mul(1_000))
        .flatten()
}

fn conditions(file: &File, options: Option<&Options>) -> Conditions {
    let mut conditions = Conditions {
        mode: ReleaseMode::timer(Wake::Sleep),
        policy: options
            .and_then(|options| options.priority)
            .map_or(PolicyInForce::Unknown, PolicyInForce::Priority),
        ..Conditions::default()
    };
    remark_stalls(&mut conditions);
    let started = file.start_time.as_deref().and_then(Instant::parse);
    let ended = file.end_time.as_deref().and_then(Instant::parse);
    if let Some(started) = started {
        conditions.started_at = started.to_string();
        conditions.duration_ns = ended.map_or(0, |ended| ended.nanos_since(started));
    }
    if let Some(line) = &file.command_line {
        conditions.machine.insert("command".to_owned(), line.clone());
    }
    if let Some(system) = &file.sysinfo {
        system.describe(&mut conditions);
    }
    conditions
}

impl System {
    /// Adds what is known about the machine.
    pub(super) fn describe(&self, conditions: &mut Conditions) {
        let kernel = format!("{} {} {}", self.sysname, self.release, self.version);
        let realtime = self.realtime.map(|realtime| if realtime == 0 { "no" } else { "yes" });
        for (subject, fact) in [
            ("kernel", kernel.trim()),
            ("architecture", self.machine.as_str()),
            ("realtime kernel", realtime.unwrap_or_default()),
        ] {
            if !fact.is_empty() {
                conditions.machine.insert(subject.to_owned(), fact.to_owned());
            }
        }
    }
}
