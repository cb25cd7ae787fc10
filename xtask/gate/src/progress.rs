//! The lines that the gate prints while it runs.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use crate::durations::Durations;
use crate::outcome::Outcome;
use crate::places::Places;
use crate::run::log_of;
use crate::run::standstill::Standstills;
use crate::steps::step::Step;

/// The longest time without a line.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// Lines of a failed step's log that are printed, the last ones.
const LOG_LINES_MAX: usize = 2000;
/// Columns of the last line of a running step's log that are shown.
const COLUMNS_MAX: usize = 72;

/// The steps that have begun.
#[derive(Debug)]
pub(crate) struct Progress {
    began: Instant,
    steps: usize,
    /// When each has begun.
    begun: BTreeMap<String, Instant>,
    last: Durations,
    standstills: Standstills,
}

impl Progress {
    /// Of so many steps; `last` is how long they took before.
    pub(crate) fn new(steps: usize, last: Durations) -> Self {
        let standstills = Standstills::watch();
        Self { began: Instant::now(), steps, begun: BTreeMap::new(), last, standstills }
    }

    /// Adds steps to those that are known.
    pub(crate) fn expect(&mut self, steps: usize) {
        self.steps += steps;
    }

    pub(crate) fn silence_max(&self) -> Duration {
        SILENCE_MAX
    }

    pub(crate) fn begins(&mut self, step: &Step) {
        self.begun.insert(step.name.clone(), Instant::now());
        let (number, steps) = (self.begun.len(), self.steps);
        let last = self.last.of(&step.name);
        let last =
            last.map_or_else(String::new, |last| format!(" ({} s the last time)", last.seconds));
        println!("== [{}, {number} of {steps}] {}{last}", clock(self.began.elapsed()), step.name);
    }

    /// Prints the end of a step, and the log of a failed one without the tests that passed.
    pub(crate) fn ended(&self, step: &Step, outcome: &Result<Outcome, String>) {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(reason) => return println!("-- {}: SKIPPED: {reason}", step.name),
        };
        if !outcome.status.is_pass() {
            print!("{}", worth_showing(&outcome.log));
        }
        let (seconds, processor) = (outcome.took.as_secs(), outcome.processor.as_secs());
        let mut line = format!("-- {}: {}, {} passed", step.name, outcome.status, outcome.passed);
        if outcome.flaky > 0 {
            line.push_str(&format!(", {} FLAKY", outcome.flaky));
        }
        line.push_str(&format!(", {seconds} s, {processor} s of a processor"));
        println!("{line}");
        if let Some(standstill) = self.standstill_of(outcome) {
            println!("   {standstill}");
        }
    }

    /// Prints the last line of each running step's log.
    pub(crate) fn goes_on(&self, active: &[&Step], places: &Places) {
        for step in active {
            let begun = self.begun.get(&step.name);
            let seconds = begun.map_or(0, |begun| begun.elapsed().as_secs());
            let log = fs::read(log_of(places, &step.name)).unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            let last = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
            let last: String = last.trim().chars().take(COLUMNS_MAX).collect();
            println!("   {}, {seconds} s: {last}", step.name);
        }
    }

    /// Says how long the machine stood still during a step in which a test has failed.
    pub(crate) fn standstill_of(&self, outcome: &Outcome) -> Option<String> {
        if outcome.failed == 0 && outcome.flaky == 0 {
            return None;
        }
        let longest = self.standstills.longest(outcome.began, outcome.began + outcome.took)?;
        let seconds = longest.as_secs_f64();
        Some(format!(
            "the machine stood still for {seconds:.1} s during it: so late was a thread that slept"
        ))
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

/// Minutes and seconds, as `7:05`.
pub(crate) fn clock(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// The last lines of a log without tests that have passed.
fn worth_showing(log: &str) -> String {
    let has_passed = |line: &&str| {
        let of_rust = line.starts_with("test ") && line.ends_with(" ... ok");
        of_rust || line.trim_start().starts_with("PASS [")
    };
    let lines: Vec<&str> = log.lines().filter(|line| !has_passed(line)).collect();
    let left_out = lines.len().saturating_sub(LOG_LINES_MAX);
    let mut shown = String::new();
    if left_out > 0 {
        shown.push_str(&format!("({left_out} lines before are left out)\n"));
    }
    lines[left_out..].iter().for_each(|line| shown.push_str(&format!("{line}\n")));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_is_shown_without_the_tests_that_have_passed() {
        let log = "test a ... ok\n        PASS [ 0.1s] (1/2) a\ntest b ... FAILED\nwhy\n";
        assert_eq!(worth_showing(log), "test b ... FAILED\nwhy\n");
        let long = worth_showing(&"line\n".repeat(LOG_LINES_MAX + 7));
        assert!(long.starts_with("(7 lines before are left out)\nline\n"), "{}", &long[..40]);
        assert_eq!(long.lines().count(), LOG_LINES_MAX + 1);
    }

    #[test]
    fn times_are_shown_in_minutes_and_seconds() {
        assert_eq!(clock(Duration::from_secs(425)), "7:05");
        assert_eq!(clock(Duration::from_secs(3600)), "60:00");
    }
}
