//! The JSON of `cyclictest --json=FILE`.
//!
//! `resolution_in_ns` is 0 for microseconds and 1 for nanoseconds: it is the program's `-N` flag.
//! `cycles` counts all values, the histogram only those below its end: the difference overflowed.
//! Interval and end of the histogram stand in the command line alone (`"cmdline:"`, with a colon).

use quietcore_units::Wake;
use serde::Deserialize;

use super::command_line::{self, Options};
use crate::import::column::{Claims, Finished, Mean, finish};
use crate::import::error::{ImportError, Problems};
use crate::import::json::frame::Frame;
use crate::import::json::{Buckets, Threads, document, place_of, without_nan};
use crate::import::source::{Source, Task, remark_stalls};
use crate::record::{Conditions, PolicyInForce, Record, ReleaseMode};

const EXPECTED: &str = "the file that `cyclictest --json=FILE` writes";

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    file_version: Option<u64>,
    num_threads: u64,
    resolution_in_ns: u64,
    thread: Threads<Thread>,
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

pub(in crate::import) fn read(
    source: &Source,
    text: &str,
    mut problems: Problems,
) -> Result<Vec<Record>, ImportError> {
    let text = without_nan(text);
    let Some(frame) = document::<Frame>(&text, EXPECTED, &mut problems) else {
        return Err(problems.into_error());
    };
    let command_line = frame.command_line.as_deref();
    if let Some(program) = command_line.and_then(command_line::other_program) {
        problems.at(
            (1, 1),
            format!(
                "this is the JSON of `{program}`, as its command line says, which measures no \
                 releases of a thread; run `cyclictest -h 1000 --json=FILE`"
            ),
        );
        return Err(problems.into_error());
    }
    let Some(file) = document::<File>(&text, EXPECTED, &mut problems) else {
        return Err(problems.into_error());
    };
    let end = (text.lines().count().max(1), 1);
    if let Some(version) = file.file_version.filter(|version| *version != 1) {
        problems.at((1, 1), format!("`file_version` is {version}; version 1 is read"));
    }
    if file.num_threads != file.thread.0.len() as u64 || file.num_threads == 0 {
        problems.at(
            end,
            format!(
                "`num_threads` is {}, and {} threads are there; expected all of them, one at least",
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
    let options = command_line.map(command_line::options);
    let conditions = conditions(&frame, options.as_ref());
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

fn finished(thread: &Thread, unit_ns: u64, options: Option<&Options>) -> Result<Finished, String> {
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

fn conditions(frame: &Frame, options: Option<&Options>) -> Conditions {
    let mut conditions = Conditions {
        mode: ReleaseMode::timer(Wake::Sleep),
        policy: options
            .and_then(|options| options.priority)
            .map_or(PolicyInForce::Unknown, PolicyInForce::Priority),
        ..Conditions::default()
    };
    remark_stalls(&mut conditions);
    frame.describe(&mut conditions);
    conditions
}
