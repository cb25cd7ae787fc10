//! Text of a campaign for the terminal: its plan, its progress and its outcome.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use quietcore_record::published::reproduction::{Course, Made, Outcome};
use quietcore_units::Nanos;

use crate::terminal::{fitting, say};

const TEMPLATE: &str = "{prefix} [{bar:24}] {msg}";

/// Returns what would be run, a line each. A command stays on one line, as it can be copied; what
/// is missing is in lines that fit the terminal.
pub(super) fn plan(course: &Course) -> String {
    let mut text = String::new();
    for (number, ran) in (1..).zip(&course.commands) {
        let each = match ran.each_ns {
            Some(each) => format!("{} each", Nanos::new(each)),
            None if ran.outcome == Outcome::NotNeeded => "not needed".to_owned(),
            None => String::new(),
        };
        let line = format!("{number:>3}. {each:<12} quietcore {}", ran.words.join(" "));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let mut rest = String::new();
    rest.push_str(&left_out(course));
    let mut missing = course.exhibits();
    missing.retain(|exhibit| exhibit.commands.is_empty());
    if !missing.is_empty() {
        rest.push_str("\nNot there yet:\n");
    }
    for exhibit in missing {
        let why = exhibit.missing.unwrap_or_default();
        writeln!(rest, "  {}: {why}", exhibit.name()).expect("to a string");
    }
    let expected = course.expected();
    write!(rest, "\nThis takes about {expected}. Nothing has been done yet.\n")
        .expect("to a string");
    text + &fitting(&rest)
}

/// Returns the systems that a campaign leaves out, below a heading; empty where there are none.
fn left_out(course: &Course) -> String {
    let mut text = String::new();
    for left_out in course.left_out() {
        if text.is_empty() {
            text.push_str("\nLeft out on this machine, and why:\n");
        }
        writeln!(text, "  {left_out}").expect("to a string");
    }
    text
}

/// Returns what became of each table and figure, a line each, and why.
pub(super) fn outcome(course: &Course) -> String {
    let mut text = String::new();
    for exhibit in course.exhibits() {
        let made = match course.made(exhibit) {
            Made::All => "made",
            Made::Part => "in part",
            Made::Nothing => "not made",
            Made::NotYet => "not yet",
        };
        writeln!(text, "{:<10} {made:<9} {}", exhibit.name(), exhibit.title())
            .expect("to a string");
        for reason in course.why_not_all(exhibit) {
            writeln!(text, "{:>20} {reason}", "").expect("to a string");
        }
    }
    text.push_str(&fitting(&left_out(course)));
    if let Some(why) = &course.timing_not_valid {
        write!(text, "\ntiming not valid: {why}\n").expect("to a string");
    }
    text
}

/// The progress of a campaign: which command, and how far in the time that was foreseen.
pub(super) struct Bar {
    bar: ProgressBar,
    name: String,
    begun: Instant,
    expected: Nanos,
    left: Nanos,
}

impl Bar {
    /// Begins with a command, by its index.
    pub(super) fn new(course: &Course, index: usize) -> Self {
        let ran = &course.commands[index];
        let expected = Nanos::new(ran.expected_ns);
        let name = format!(
            "{}/{} {}",
            index + 1,
            course.commands.len(),
            ran.command.trim_start_matches("quietcore ")
        );
        let is_terminal = io::stderr().is_terminal();
        let bar = if is_terminal {
            ProgressBar::new(expected.get().max(1))
        } else {
            say(&name);
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template(TEMPLATE);
        bar.set_style(style.expect("the template has known keys only").progress_chars("█▉▊▋▌▍▎▏ "));
        bar.set_prefix(name.clone());
        Self { bar, name, begun: Instant::now(), expected, left: course.expected() }
    }

    /// Shows the time that has passed, and about how much of all is left.
    pub(super) fn look(&self) {
        let passed = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let passed = passed.min(self.expected.get());
        self.bar.set_position(passed);
        let left = self.left.get().saturating_sub(passed) / SECOND * SECOND;
        self.bar.set_message(format!("about {} left", Nanos::new(left)));
    }

    /// Says what became of the command, if it did not do its work; on a terminal in any case.
    pub(super) fn finish(self, outcome: &Outcome) {
        self.bar.finish_and_clear();
        let took = |took_ns: u64| Nanos::new(took_ns / SECOND * SECOND);
        let became = match outcome {
            Outcome::Done { .. } if !io::stderr().is_terminal() => return,
            Outcome::Done { took_ns } => format!("done in {}", took(*took_ns)),
            other => other.why().or_else(|| other.what_is_missing()).unwrap_or_default(),
        };
        say(format_args!("{}: {became}", self.name));
    }
}

const SECOND: u64 = 1_000_000_000;
