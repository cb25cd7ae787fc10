//! The sum of all steps: the last lines, and the report in JUnit.

use std::time::Duration;

use quick_junit::{Report, TestCase, TestCaseStatus, TestSuite};

use crate::outcome::Outcome;
use crate::progress::clock;
use crate::run::skips::Skipped;
use crate::run::tests::FLAKY_MAX;

/// The longest steps that are listed.
const LONGEST_MAX: usize = 12;

/// All outcomes and skips of a run.
#[derive(Debug)]
pub(crate) struct Summary<'a> {
    pub(crate) outcomes: &'a [Outcome],
    pub(crate) skipped: &'a Skipped,
    pub(crate) took: Duration,
}

impl Summary<'_> {
    /// Tests that were repeated and passed.
    fn flaky(&self) -> usize {
        self.outcomes.iter().map(|outcome| outcome.flaky).sum()
    }

    /// Counts failures; more flaky tests than `FLAKY_MAX` are one.
    pub(crate) fn failed(&self) -> usize {
        let failed: usize = self.outcomes.iter().map(|outcome| outcome.failed).sum();
        failed + usize::from(self.flaky() > FLAKY_MAX)
    }

    /// Lines without the last one's end.
    pub(crate) fn text(&self) -> String {
        let mut lines: Vec<String> =
            self.skipped.lines().map(|skip| format!("SKIPPED: {skip}")).collect();
        let flaky = self.outcomes.iter().filter(|outcome| outcome.flaky > 0);
        lines.extend(flaky.map(|flaky| format!("FLAKY: {}\n{}", flaky.step, flaky.flaky_report)));
        let failed = self.outcomes.iter().filter(|outcome| outcome.failed > 0);
        lines.extend(failed.map(|failed| format!("FAILED: {}\n{}", failed.step, failed.failures)));
        if self.flaky() > FLAKY_MAX {
            let why = "tests are flaky: that is no chance any more";
            lines.push(format!("FAILED: more than {FLAKY_MAX} {why}"));
        }
        let mut longest: Vec<&Outcome> = self.outcomes.iter().collect();
        longest.sort_by_key(|outcome| std::cmp::Reverse(outcome.took));
        lines.extend(longest.into_iter().take(LONGEST_MAX).map(|outcome| {
            let (seconds, processor) = (outcome.took.as_secs(), outcome.processor.as_secs());
            format!("{seconds} s, {processor} s of a processor: {}", outcome.step)
        }));
        let processor: Duration = self.outcomes.iter().map(|outcome| outcome.processor).sum();
        lines.push(format!(
            "took {} min, and {} min of a processor; {} tests were flaky",
            clock(self.took),
            clock(processor),
            self.flaky()
        ));
        let passed: usize = self.outcomes.iter().map(|outcome| outcome.passed).sum();
        let (failed, skipped) = (self.failed(), self.skipped.count());
        lines.push(format!("{passed} passed, {failed} failed, {skipped} skipped"));
        let lines = lines.iter().map(|line| line.trim_end());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// All tests by step and program; skips are a suite of their own.
    ///
    /// # Errors
    /// A text can't be written as XML.
    pub(crate) fn junit(&self) -> Result<String, quick_junit::SerializeError> {
        let mut report = Report::new("quietcore");
        report.set_time(self.took);
        for outcome in self.outcomes {
            report.add_test_suites(outcome.suites.iter().cloned());
        }
        let mut skipped = TestSuite::new("skipped");
        for skip in self.skipped.lines() {
            let (name, reason) = skip.split_once(": ").unwrap_or((&skip, ""));
            let mut status = TestCaseStatus::skipped();
            status.set_message(reason);
            skipped.add_test_case(TestCase::new(name, status));
        }
        report.add_test_suite(skipped);
        report.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Attempt;
    use crate::run::process::Status;

    fn outcome(step: &str, status: i32, log: &str) -> Outcome {
        Outcome::of_command(
            step,
            Attempt {
                status: Status::Exited(status),
                log: log.to_owned(),
                began: std::time::Instant::now(),
                took: Duration::from_secs(61),
                processor: Duration::from_secs(2),
            },
        )
    }

    #[test]
    fn the_last_line_counts_skipped_tests_apart_and_the_reasons_are_listed() {
        let log =
            "test a ... ok\ntest b::c ... ok\ntest result: ok. 2 passed; 0 failed; 0 ignored\n";
        let mut outcomes = [outcome("tests", 0, log), outcome("formatting", 1, "Diff in a.rs:1\n")];
        let skipped = Skipped {
            tests: ["b::c: no KVM".to_owned()].into(),
            steps: [("miri".to_owned(), "no nightly".to_owned())].into(),
        };
        outcomes[0].leave_out_skipped("b::c: no KVM\n");
        let summary =
            Summary { outcomes: &outcomes, skipped: &skipped, took: Duration::from_secs(63) };
        let text = summary.text();
        assert!(text.ends_with("\n1 passed, 1 failed, 2 skipped"), "{text}");
        assert!(text.contains("FAILED: formatting\n    Diff in a.rs:1\n"), "{text}");
        assert!(text.contains("SKIPPED: miri: no nightly\n"), "{text}");
        assert!(text.contains("took 1:03 min, and 0:04 min of a processor"), "{text}");
        let junit = summary.junit().expect("it can be written");
        assert!(junit.contains(r#"tests="4" skipped="2" failures="1""#), "{junit}");
        assert_eq!(junit.matches("<skipped").count(), 2, "{junit}");
    }

    #[test]
    fn more_flaky_tests_than_chance_makes_are_a_failure() {
        let mut outcomes = [outcome("tests", 0, "")];
        let skipped = Skipped::default();
        for (flaky, failed) in [(FLAKY_MAX, 0), (FLAKY_MAX + 1, 1)] {
            outcomes[0].flaky = flaky;
            outcomes[0].flaky_report = "    a::b\n".to_owned();
            let summary =
                Summary { outcomes: &outcomes, skipped: &skipped, took: Duration::from_secs(1) };
            assert_eq!(summary.failed(), failed);
            assert!(summary.text().contains("FLAKY: tests\n    a::b\n"), "{}", summary.text());
        }
    }
}
