//! The progress of a campaign or a probe, on a terminal, or as lines if there is none.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use quietcore_campaign::{Advance, Observer, Progress, ProgressFile, Run};
use quietcore_record::histogram::Quantile;
use quietcore_record::record::Record;
use quietcore_record::statistics::Statistics;
use quietcore_record::verdict::thousands;
use quietcore_units::{Causes, Nanos};
use rustix::process::setsid;

use crate::arguments::Followed;
use crate::status::Failure;

/// Time between two lines about a probe's progress if there is no terminal.
const TELL_EVERY: Duration = Duration::from_secs(60);

const TEMPLATE: &str = "{prefix} [{bar:24}] {percent:>3} %  {msg}";

/// Begins what a program asks for that follows this one: a session of its own, and the file of the
/// progress.
///
/// # Errors
/// When the file can't be written.
pub(crate) fn begin_followed(asked: &Followed) -> Result<Option<ProgressFile>, Failure> {
    if asked.detached {
        // A process that leads its group already can't leave, and need not.
        let _ = setsid();
    }
    let Some(path) = &asked.progress else { return Ok(None) };
    let begun = ProgressFile::begin(path).map_err(|error| {
        let (path, why) = (path.display(), Causes(&error));
        Failure::new(format_args!("quietcore: --progress {path}: it can't be written: {why}"))
    });
    begun.map(Some)
}

/// Shows a campaign's progress on standard error.
pub(crate) struct Bar {
    bar: ProgressBar,
    terminal: bool,
    /// Time of all runs that are still to come, the current one included.
    left: Nanos,
    current: Nanos,
    number: usize,
    count: usize,
    /// `true` if partitions have runs of their own, one after the other.
    takes_turns: bool,
    /// The part of a probe that is in progress.
    part: Option<Part>,
}

/// A part of a probe, such as one of its curves.
struct Part {
    name: String,
    begin: Instant,
    told: Instant,
}

impl Bar {
    /// Returns a bar for these runs.
    pub(crate) fn new(runs: &[Run]) -> Self {
        let terminal = io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new(1) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template(TEMPLATE);
        bar.set_style(style.expect("the template has known keys only").progress_chars("█▉▊▋▌▍▎▏ "));
        Self {
            bar,
            terminal,
            left: runs.iter().map(Run::duration).sum(),
            current: Nanos::ZERO,
            number: 0,
            count: runs.len(),
            takes_turns: takes_turns(runs),
            part: None,
        }
    }

    /// Returns the name of a run: its profile, and its partition where each has runs of its own.
    fn name_of(&self, run: &Run) -> String {
        match &run.partitions[..] {
            [one] if self.takes_turns => format!("{} {}", one.name, run.profile),
            _ => run.profile.clone(),
        }
    }

    fn say(&self, text: &str) {
        if self.terminal {
            self.bar.println(text);
        } else {
            crate::terminal::say(text);
        }
    }
}

/// Returns `true` if not all runs are of the same partitions.
fn takes_turns(runs: &[Run]) -> bool {
    let names = |run: &Run| -> Vec<String> {
        run.partitions.iter().map(|partition| partition.name.clone()).collect()
    };
    runs.windows(2).any(|pair| names(&pair[0]) != names(&pair[1]))
}

impl Observer for Bar {
    fn step(&mut self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    fn tell(&mut self, text: &str) {
        self.say(text);
    }

    fn begin(&mut self, run: &Run) {
        let name = self.name_of(run);
        self.number += 1;
        self.current = run.duration();
        self.bar.set_length(run.cycles().max(1));
        self.bar.set_position(0);
        self.bar.set_prefix(format!("{}/{} {name}", self.number, self.count));
        self.bar.set_message("warming up");
        if !self.terminal {
            crate::terminal::say(format_args!(
                "{}/{} {name}: {}",
                self.number,
                self.count,
                run.duration()
            ));
        }
    }

    fn progress(&mut self, progress: Progress) {
        self.bar.set_position(progress.cycles);
        let done = progress.cycles as f64 / progress.planned_cycles.max(1) as f64;
        let passed = Nanos::new((self.current.get() as f64 * done.min(1.0)) as u64);
        let left = self.left.saturating_sub(passed);
        let missed = match progress.missed_cycles {
            0 => String::new(),
            missed => format!("  missed {}", thousands(missed)),
        };
        self.bar.set_message(format!(
            "worst {}{missed}  left {} s",
            progress.worst,
            left.get().div_ceil(1_000_000_000)
        ));
    }

    fn advance(&mut self, advance: &Advance<'_>) {
        let now = Instant::now();
        if self.part.as_ref().is_none_or(|part| part.name != advance.part) {
            self.part = Some(Part { name: advance.part.to_owned(), begin: now, told: now });
            self.bar.reset();
            self.bar.set_prefix(advance.part.to_owned());
            self.bar.set_length(advance.all.max(1));
        }
        let Some(part) = &mut self.part else { return };
        let words = words(advance, now.duration_since(part.begin));
        if !self.terminal && now.duration_since(part.told) >= TELL_EVERY {
            part.told = now;
            crate::terminal::say(format_args!(
                "{}: {} of {} {}{words}",
                advance.part,
                thousands(advance.done),
                thousands(advance.all),
                advance.unit
            ));
        }
        self.bar.set_position(advance.done);
        self.bar.set_message(words.trim_start_matches(", ").to_owned());
    }

    fn end(&mut self, run: &Run, records: &[Record]) {
        self.left = self.left.saturating_sub(self.current);
        for record in records {
            let statistics = Statistics::of(record);
            let Some(max_ns) = statistics.max_ns else {
                self.say(&format!("{:<16} no cycle was measured", record.name));
                continue;
            };
            let median = statistics.median_ns.map_or(0, Quantile::lower_bound);
            let mut parts = vec![
                format!("{:<16} {:>8} cycles", record.name, thousands(statistics.count)),
                format!("median {:>8}", Nanos::new(median).to_string()),
                format!("max {:>8}", Nanos::new(max_ns).to_string()),
            ];
            if let Some(scan) = record.scan() {
                let longest = Nanos::new(scan.response.max_ns()).to_string();
                parts.push(format!("response max {longest:>8}"));
                if scan.counters.overruns > 0 {
                    parts.push(format!("overruns {}", thousands(scan.counters.overruns)));
                }
            }
            if let Some(missed) = statistics.missed_cycles.filter(|missed| *missed > 0) {
                parts.push(format!("missed {}", thousands(missed)));
            }
            joined(&parts, crate::terminal::width()).iter().for_each(|line| self.say(line));
        }
        self.bar.set_message(format!("{} done", run.profile));
        if self.number == self.count {
            self.bar.finish_and_clear();
        }
    }

    fn fault(&mut self, _run: &Run, partition: &str, because: &str) {
        self.say(&format!("{partition}: the program failed: {because}"));
    }

    fn failed(&mut self, run: &Run, because: &str) {
        self.left = self.left.saturating_sub(self.current);
        self.say(&format!("{}: not measured: {because}", self.name_of(run)));
    }
}

/// Returns the current step, the worst so far and the time left, each after a comma.
fn words(advance: &Advance<'_>, elapsed: Duration) -> String {
    let what = Some(advance.what).filter(|what| !what.is_empty());
    let left = (advance.done > 0).then(|| {
        let left = advance.all.saturating_sub(advance.done) as f64;
        elapsed.as_secs_f64() * left / advance.done as f64
    });
    let parts = [
        what.map(str::to_owned),
        advance.worst.map(|worst| format!("worst {worst}")),
        left.map(|left| format!("left {} s", left.ceil())),
    ];
    parts.into_iter().flatten().map(|part| format!(", {part}")).collect()
}

/// Joins parts side by side into lines of at most `width` columns; all lines after the first are
/// indented.
fn joined(parts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 2 + part.chars().count() <= width => {
                line.push_str("  ");
                line.push_str(part);
            }
            Some(_) => lines.push(format!("    {part}")),
            None => lines.push(part.clone()),
        }
    }
    lines
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_of_a_probe_tells_what_is_left() {
        let mut advance = Advance {
            part: "curves",
            done: 0,
            all: 40,
            unit: "steps",
            what: "round 1, 4 MiB",
            worst: None,
        };
        assert_eq!(words(&advance, Duration::ZERO), ", round 1, 4 MiB");
        (advance.done, advance.what, advance.worst) = (10, "", Some(Nanos::from_micros(7)));
        assert_eq!(words(&advance, Duration::from_secs(5)), ", worst 7.00 µs, left 15 s");
    }

    #[test]
    fn a_line_goes_on_below_where_it_is_too_long() {
        let parts = ["axis.tp2.main  38 000 cycles", "median 11 ns", "max 4.17 ms", "missed 18"];
        let parts = parts.map(str::to_owned);
        assert_eq!(joined(&parts, 100).len(), 1);
        for width in [30, 45, 60] {
            let lines = joined(&parts, width);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:?}");
            assert!(lines[1].starts_with("    "), "{lines:?}");
        }
    }
}
