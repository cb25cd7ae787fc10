//! The JSON of `oslat --json=FILE`.
//!
//! It has the figures of the text, and the buckets with values only. Extremes are in µs, or in ns
//! where the buckets have decimals.

use std::cell::Cell;

use serde::{Deserialize, Deserializer};

use super::{REFUSED_BIAS, finished, nanos, record, width_ns};
use crate::import::CELLS_MAX;
use crate::import::column::Column;
use crate::import::error::{ImportError, Problems};
use crate::import::json::frame::Frame;
use crate::import::json::{Threads, document, entries, place_of};
use crate::import::source::Source;
use crate::record::{Conditions, Record};

const EXPECTED: &str = "the file that `oslat --json=FILE` writes";

#[derive(Deserialize)]
struct File {
    num_threads: u64,
    thread: Threads<Thread>,
}

#[derive(Deserialize)]
struct Thread {
    cpu: u64,
    min: u64,
    max: u64,
    histogram: Ends,
}

/// The buckets by their ends, in ns, as `{"2": 120, "3": 3}` or `{"0.500": 120}`.
struct Ends {
    column: Column,
    /// The file has decimals.
    is_in_ns: bool,
}

impl<'de> Deserialize<'de> for Ends {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let is_in_ns = Cell::new(false);
        let read = |key: &str| {
            is_in_ns.set(is_in_ns.get() || key.contains('.'));
            nanos(key).ok_or("is no number of µs")
        };
        let ends = entries(deserializer, "buckets with their counts", CELLS_MAX, read)?;
        let mut column = Column::default();
        for (end_ns, count) in ends {
            column.add(end_ns, count).map_err(serde::de::Error::custom)?;
        }
        Ok(Self { column, is_in_ns: is_in_ns.get() })
    }
}

pub(in crate::import) fn read(
    source: &Source,
    text: &str,
    mut problems: Problems,
) -> Result<Vec<Record>, ImportError> {
    let Some(frame) = document::<Frame>(text, EXPECTED, &mut problems) else {
        return Err(problems.into_error());
    };
    let Some(File { num_threads, thread: threads }) = document(text, EXPECTED, &mut problems)
    else {
        return Err(problems.into_error());
    };
    if frame.command_line.as_deref().is_some_and(has_bias) {
        problems.at((1, 1), REFUSED_BIAS);
        return Err(problems.into_error());
    }
    let found = threads.0.len() as u64;
    if num_threads != found || found == 0 {
        let what = format!(
            "`num_threads` is {num_threads}, and {found} threads are there; expected all of them, \
             one at least"
        );
        problems.at((text.lines().count().max(1), 1), what);
    }
    let mut conditions = Conditions::default();
    frame.describe(&mut conditions);
    let columns: Vec<&Column> =
        threads.0.iter().map(|(_, thread)| &thread.histogram.column).collect();
    let width_ns = width_ns(columns.iter().copied());
    let end = columns.iter().filter_map(|column| column.ends()).map(|(_, end)| end).max();
    let is_in_ns = threads.0.iter().any(|(_, thread)| thread.histogram.is_in_ns);
    let unit_ns = if is_in_ns { 1 } else { 1_000 };
    let last = (end.unwrap_or(0), false);
    let mut records: Vec<Record> = Vec::with_capacity(threads.0.len());
    for (number, thread) in &threads.0 {
        let place = || place_of(text, "thread", *number);
        if threads.0.iter().any(|(other, it)| other < number && it.cpu == thread.cpu) {
            problems.at(place(), format!("CPU {} is there twice; each has one thread", thread.cpu));
        }
        let extremes = (thread.min.checked_mul(unit_ns), thread.max.checked_mul(unit_ns));
        let finished = match extremes {
            (Some(min_ns), Some(max_ns)) => {
                finished(&thread.histogram.column, width_ns, (min_ns, max_ns), last)
            }
            _ => Err("its extremes are beyond 584 years".to_owned()),
        };
        match finished {
            Ok(finished) => {
                records.push(record(source, thread.cpu, finished, conditions.clone()));
            }
            Err(what) => {
                problems.at(place(), format!("thread {number}: {what}"));
            }
        }
    }
    problems.unless_any(records)
}

/// Returns `true` for a command line with `-B`, alone or among other letters.
fn has_bias(command_line: &str) -> bool {
    command_line.split_whitespace().any(|word| {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        word == "--bias" || letters.is_some_and(|letters| letters.contains('B'))
    })
}
