//! Instructions of each routine, counted by callgrind.
//!
//! Times differ from run to run; instructions do not. Where the program reads the clock it calls a
//! mark instead, and callgrind begins to count at the first one and writes down at the second:
//!
//! ```text
//! begin ─┬─ the routine ─┬─ end        counted: the routine, and the body of one mark
//!        └─ nothing: the empty measurement, which is subtracted
//! ```
//!
//! Interrupts are brought by software only: what a signal takes is the operating system's, which
//! callgrind does not see.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use quietcore_probe::osek::reading::Reading;
use quietcore_probe::osek::{Plan, Progress, Routine, Series, Trigger, Variant, measure_with};
use quietcore_units::{Scheduling, ThreadRequest};

use super::block::BlockArguments;

/// Loops of each routine; the first ones make what is made once.
const LOOPS: usize = 6;
/// Runs of the same program.
const RUNS: usize = 2;
/// Loops whose counts have to be the same.
const ALIKE: usize = 3;

/// A run that takes longer hangs.
const RUN_SECONDS_MAX: u32 = 300;

/// Marks instead of readings.
#[derive(Debug)]
enum Marks {}

impl Reading for Marks {
    #[inline(always)]
    fn begin() -> u64 {
        quietcore_mark_begin()
    }

    #[inline(always)]
    fn end() -> u64 {
        quietcore_mark_end()
    }
}

/// Callgrind knows it by its name.
#[inline(never)]
fn quietcore_mark_begin() -> u64 {
    black_box(1)
}

/// As above; another value, or the two would be one function.
#[inline(never)]
fn quietcore_mark_end() -> u64 {
    black_box(2)
}

/// Returns how often a loop of a routine comes by the second mark, and which of these times counts:
/// Task3 reads the clock first thing, also if that is not what is measured.
const fn marks_of(routine: Routine) -> (usize, usize) {
    match routine {
        Routine::Actl => (2, 0),
        Routine::Istexit => (2, 1),
        _ => (1, 0),
    }
}

/// The routines in their order, the empty measurement first.
fn series() -> Vec<Series> {
    let all = Series::all(LOOPS as u64);
    all.into_iter().filter(|series| series.trigger != Some(Trigger::Signal)).collect()
}

/// Carries out each routine between marks, under callgrind.
pub(super) fn carry_out(variant: Variant) -> Result<(), String> {
    let plan = Plan { series: series(), warm_up: 0, variant };
    let thread = ThreadRequest::measuring(Scheduling::Other, None);
    let progress = Arc::new(Progress::default());
    let measured = measure_with::<Marks>(&plan, thread, 1, &progress);
    measured.map(drop).map_err(|error| error.to_string())
}

/// Instructions of each routine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts(BTreeMap<Routine, u64>);

impl Counts {
    /// Those of a routine, once for each of the two runs, which agree; nothing where it has none.
    pub(super) fn of(&self, routine: Routine) -> Vec<f64> {
        self.0.get(&routine).map_or_else(Vec::new, |count| vec![*count as f64; RUNS])
    }
}

/// Counts the instructions of each routine under a variant.
///
/// # Errors
/// There is no Valgrind; or a count was not the same twice, which would make it worth nothing.
pub(super) fn count(variant: Variant) -> Result<Counts, String> {
    let first = run(variant)?;
    for _ in 1..RUNS {
        if run(variant)? != first {
            return Err("two runs of one program took different instructions".to_owned());
        }
    }
    Ok(first)
}

/// One run under callgrind.
fn run(variant: Variant) -> Result<Counts, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("timeout")
        .arg(RUN_SECONDS_MAX.to_string())
        .args(["valgrind", "--tool=callgrind", "--error-exitcode=9"])
        .args(["--zero-before=*quietcore_mark_begin*", "--dump-before=*quietcore_mark_end*"])
        .arg(format!("--callgrind-out-file={}", folder.path().join("counts").display()))
        .arg(own)
        .arg("osek")
        .args(BlockArguments::marks(variant).arguments())
        .output()
        .map_err(|error| format!("`valgrind`: {error}; install the package valgrind"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("valgrind: {}", said.trim().lines().last().unwrap_or_default()));
    }
    let series = series();
    let expected = series.iter().map(|series| marks_of(series.routine).0 * LOOPS).sum();
    let totals = totals(folder.path(), expected)?;
    let mut totals = totals.into_iter();
    let mut counts = BTreeMap::new();
    for series in &series {
        let (marks, which) = marks_of(series.routine);
        let own: Vec<u64> = totals.by_ref().take(marks * LOOPS).collect();
        let of_loops: Vec<u64> = own.iter().skip(which).step_by(marks).copied().collect();
        let last = &of_loops[LOOPS - ALIKE..];
        if last.iter().any(|total| total != &last[0]) {
            let name = series.name();
            return Err(format!("{name} took {last:?} instructions, which is not the same"));
        }
        counts.insert(series.routine, last[0]);
    }
    let empty = counts.get(&Routine::Empty).copied().unwrap_or(0);
    for count in counts.values_mut() {
        *count = count.saturating_sub(empty);
    }
    Ok(Counts(counts))
}

/// Reads the totals of callgrind, in its order.
fn totals(folder: &Path, expected: usize) -> Result<Vec<u64>, String> {
    let mut totals = Vec::new();
    for part in 1..=expected {
        let path = folder.join(format!("counts.{part}"));
        let text = std::fs::read_to_string(&path).map_err(|error| {
            format!("callgrind wrote {} of {expected} parts: {error}", part - 1)
        })?;
        totals.push(total_of(&text).ok_or("a part of callgrind's has no total")?);
    }
    Ok(totals)
}

/// The total of a part.
fn total_of(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("totals:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_a_part_is_read() {
        assert_eq!(total_of("version: 1\nevents: Ir\nfn=(1)\n3 5\n\ntotals: 142\n"), Some(142));
        assert_eq!(total_of("version: 1\n"), None);
    }
}
