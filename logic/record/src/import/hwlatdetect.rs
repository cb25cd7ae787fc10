//! The output of `hwlatdetect`: for how long the hardware or its firmware held a CPU up.
//!
//! ```text
//! hwlatdetect:  test duration 60 seconds
//!         Latency threshold: 10us             of these lines the three are kept
//!         Sample width:      500000us
//! Max Latency: 24us                           or `Below threshold`
//! Samples recorded: 2
//! Samples exceeding threshold: 2              newer versions add up `count`
//! SMIs during run: 2                          where `rdmsr` was there
//! ts: 1599135459.318453243, inner:13, outer:24, cpu:2, count:1
//! ts: 1599135471.318466015, inner:0, outer:15, cpu:3, count:1
//! ```
//!
//! A sample is the longest gap of a window, within the loop or between two rounds of it; shorter
//! ones up to the threshold aren't in the file, nor is the number of windows. With `--watch` the
//! samples come before the summary. The file becomes one record, whose values are the samples.

use std::collections::BTreeMap;

use super::CELLS_MAX;
use super::column::{Claims, Column, finish};
use super::error::{ImportError, Problems, quoted};
use super::lines::{self, Line, Word, parse};
use super::source::{Source, Task};
use crate::reason::ForeignProblem;
use crate::record::{Conditions, Record, ReleaseMode, TracedContext};

/// The begin of the first line.
pub(super) const HEADER_START: &str = "hwlatdetect:";

const THRESHOLD: &str = "Latency threshold:";
const WIDTH: &str = "Sample width:";
const MAX: &str = "Max Latency:";
const RECORDED: &str = "Samples recorded:";
const EXCEEDING: &str = "Samples exceeding threshold:";
const SMIS: &str = "SMIs during run:";
const SAMPLE: &str = "ts:";

/// The lines that each whole output has.
const REQUIRED: [&str; 5] = [THRESHOLD, WIDTH, MAX, RECORDED, EXCEEDING];

pub(super) fn read(
    source: &Source,
    text: &str,
    problems: Problems,
) -> Result<Vec<Record>, ImportError> {
    let mut reader = Reader {
        problems,
        duration_ns: 0,
        stated: BTreeMap::new(),
        samples: BTreeMap::new(),
        samples_count: 0,
        per_cpu: BTreeMap::new(),
        last_line: 1,
    };
    for line in lines::lines(text) {
        reader.line(line);
        if reader.problems.are_enough() {
            break;
        }
    }
    reader.record(source)
}

/// A figure of a line, with the line.
type Stated = (Option<u64>, usize);

#[derive(Debug)]
struct Reader {
    problems: Problems,
    duration_ns: u64,
    /// The figures of the lines that have one; `None` for `Below threshold`.
    stated: BTreeMap<&'static str, Stated>,
    /// The number of samples by their longest gap, in µs.
    samples: BTreeMap<u64, u64>,
    samples_count: u64,
    per_cpu: BTreeMap<u64, u64>,
    last_line: usize,
}

impl Reader {
    fn line(&mut self, line: Line<'_>) {
        self.last_line = line.number;
        if let Some(words) = line.after(HEADER_START) {
            let mut numbers = words.filter_map(|word| parse(word.text).ok());
            self.duration_ns = numbers.next().unwrap_or(0).saturating_mul(1_000_000_000);
        } else if line.text.trim_start().starts_with(SAMPLE) {
            self.sample(line);
        } else {
            let labels = REQUIRED.into_iter().chain([SMIS]);
            let found = labels.filter_map(|label| Some((label, line.after(label)?.next())));
            for (label, word) in found.take(1).collect::<Vec<_>>() {
                self.figure(line, label, word);
            }
        }
    }

    fn figure(&mut self, line: Line<'_>, label: &'static str, word: Option<Word<'_>>) {
        let text = word.map_or("", |word| word.text);
        let figure = parse(text.strip_suffix("us").unwrap_or(text)).ok();
        if figure.is_none() && !(label == MAX && text == "Below") {
            let what = format!("`{label}` {}; expected a whole number", quoted(text));
            self.problems.at(word.map_or(line.place(), |word| word.place()), what);
        }
        if let Some((_, first)) = self.stated.insert(label, (figure, line.number)) {
            let what = format!("a second `{label}` after line {first}; give one run a file");
            self.problems.at(line.place(), what);
        }
    }

    fn sample(&mut self, line: Line<'_>) {
        let field = |name: &str| {
            let mut fields = line.text.split(',');
            fields.find_map(|field| parse(field.trim().strip_prefix(name)?.trim()).ok())
        };
        let (Some(inner), Some(outer)) = (field("inner:"), field("outer:")) else {
            let what = "a sample without the numbers of `inner:` and `outer:`; the line was cut \
                        off or changed";
            self.problems.at(line.place(), what);
            return;
        };
        *self.samples.entry(inner.max(outer)).or_default() += 1;
        if let Some(cpu) = field("cpu:") {
            *self.per_cpu.entry(cpu).or_default() += 1;
        }
        self.samples_count += 1;
        if self.samples_count == CELLS_MAX as u64 + 1 {
            self.problems.at(line.place(), format!("more than {CELLS_MAX} samples"));
        }
    }

    fn stated(&self, label: &str) -> Option<u64> {
        self.stated.get(label).and_then(|(figure, _)| *figure)
    }

    fn check(&mut self) {
        let missing = REQUIRED.into_iter().find(|label| !self.stated.contains_key(label));
        if let Some(missing) = missing.filter(|_| self.problems.is_empty()) {
            let what = format!(
                "`{missing}` is missing; the file was cut off or hwlatdetect ran with --quiet, \
                 import the whole output"
            );
            self.problems.at((self.last_line, 1), what);
            return;
        }
        let largest = self.samples.keys().next_back().copied();
        let (recorded, max) = (self.stated(RECORDED).unwrap_or(0), self.stated(MAX));
        let place = |reader: &Self, label| (reader.stated.get(label).map_or(1, |it| it.1), 1);
        if recorded != self.samples_count {
            let what = format!(
                "{recorded} samples were recorded, {} are there; in a whole output they agree",
                self.samples_count
            );
            self.problems.at(place(self, RECORDED), what);
        } else if max != largest {
            let shown = |value: Option<u64>| {
                value.map_or_else(|| "below the threshold".to_owned(), |us| format!("{us}us"))
            };
            let what = format!(
                "the maximum is {}, that of the samples {}; in an unchanged file they agree",
                shown(max),
                shown(largest)
            );
            self.problems.at(place(self, MAX), what);
        }
    }

    fn record(mut self, source: &Source) -> Result<Vec<Record>, ImportError> {
        self.check();
        let mut column = Column::default();
        for (us, count) in &self.samples {
            if let Err(what) = column.add(*us, *count) {
                self.problems.at((1, 1), what);
            }
        }
        let ends = column.ends();
        let claims = Claims {
            unit_ns: 1_000,
            bucket_size: 1,
            overflow: 0,
            overflow_from: ends.map_or(0, |(_, last)| last.saturating_add(1)),
            extremes: ends,
            mean: None,
        };
        let finished = match finish(&column, &claims) {
            Ok(finished) if self.problems.is_empty() => finished,
            Ok(_) => return Err(self.problems.into_error()),
            Err(what) => {
                self.problems.at((1, 1), what);
                return Err(self.problems.into_error());
            }
        };
        let task = Task {
            name: "samples".to_owned(),
            probe: "hwlatdetect",
            mode: ReleaseMode::Traced { context: TracedContext::Noise },
            cpu: None,
            period_ns: None,
        };
        let problem = ForeignProblem::BusyLoop {
            program: "hwlatdetect".to_owned(),
            threshold_ns: self.stated(THRESHOLD).and_then(|us| us.checked_mul(1_000)),
        };
        let record = source.compared(&task, finished, self.conditions(), problem);
        self.problems.unless_any(vec![record])
    }

    fn conditions(&self) -> Conditions {
        let mut conditions = Conditions { duration_ns: self.duration_ns, ..Conditions::default() };
        let us = |label| self.stated(label).unwrap_or(0);
        let mut remarks = vec![
            ("samples", format!("each is the longest gap of a window of {} µs", us(WIDTH))),
            ("gaps above the threshold", us(EXCEEDING).to_string()),
        ];
        if let Some(count) = self.stated(SMIS) {
            remarks.push(("system management interrupts", count.to_string()));
        }
        if !self.per_cpu.is_empty() {
            let per_cpu = self.per_cpu.iter().map(|(cpu, count)| format!("CPU {cpu}: {count}"));
            remarks.push(("samples of CPUs", per_cpu.collect::<Vec<_>>().join(", ")));
        }
        let remarks = remarks.into_iter().map(|(subject, text)| (subject.to_owned(), text));
        conditions.activity.extend(remarks);
        conditions
    }
}
