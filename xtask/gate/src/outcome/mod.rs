//! The outcome of a step.

pub(crate) mod report;
pub(crate) mod results;

use std::time::{Duration, Instant};

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use crate::outcome::report::{Report, Verdict, failures_in};
use crate::outcome::results::Results;
use crate::run::process::Status;
use crate::run::skips;

/// The status of cargo-nextest with which it says that tests have failed, and nothing else.
const TESTS_FAILED: Status = Status::Exited(100);

/// The outcome of a step.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) step: String,
    pub(crate) status: Status,
    /// Tests that passed and failed. A step without tests counts as one.
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// Tests that failed at first and passed alone, and their first reports.
    pub(crate) flaky: usize,
    pub(crate) flaky_report: String,
    /// The failures, a line or more each.
    pub(crate) failures: String,
    /// All that it has printed.
    pub(crate) log: String,
    pub(crate) began: Instant,
    pub(crate) took: Duration,
    /// Time of a processor, by all its processes.
    pub(crate) processor: Duration,
    /// Its tests, for the report in JUnit.
    pub(crate) suites: Vec<TestSuite>,
}

/// The traces of one attempt at a step.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) status: Status,
    pub(crate) log: String,
    pub(crate) began: Instant,
    pub(crate) took: Duration,
    pub(crate) processor: Duration,
}

impl Status {
    pub(crate) fn is_pass(self) -> bool {
        self == Self::Exited(0)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(0) => formatter.write_str("done"),
            Self::Exited(status) => write!(formatter, "FAILED with status {status}"),
            Self::AtLimit => formatter.write_str("ENDED at its limit"),
        }
    }
}

impl Outcome {
    /// Of a command that may have run programs of Rust's test runner.
    pub(crate) fn of_command(step: &str, attempt: Attempt) -> Self {
        let report = Report::read(&attempt.log);
        let is_pass = attempt.status.is_pass();
        // A build that breaks or a program that dies reports no failed test.
        let failed = if is_pass { report.failed } else { report.failed.max(1) };
        let passed = if is_pass && !report.counts { 1 } else { report.passed };
        let failures = if is_pass { String::new() } else { failures_in(&attempt.log) };
        let mut suite = TestSuite::new(step);
        for (name, verdict) in &report.verdicts {
            suite.add_test_case(case(name, *verdict, ""));
        }
        if !report.counts || !is_pass && report.failed == 0 {
            let verdict = if is_pass { Verdict::Passed } else { Verdict::Failed };
            let mut case = case(step, verdict, &failures);
            case.set_time(attempt.took);
            suite.add_test_case(case);
        }
        Self { passed, failed, failures, suites: vec![suite], ..Self::of_attempt(step, attempt) }
    }

    /// Of tests that cargo-nextest has run; so many of them have failed and passed alone.
    pub(crate) fn of_tests(
        step: &str,
        attempt: Attempt,
        results: Results,
        (flaky, flaky_report): (usize, String),
    ) -> Self {
        let (passed, failed) = results.counts();
        let failures = results.failures();
        let suites = results.suites.into_iter().map(|mut suite| {
            suite.name = format!("{step}: {}", suite.name.as_str()).into();
            suite
        });
        let suites = suites.collect();
        let excused = flaky > 0 && failed == 0 && attempt.status == TESTS_FAILED;
        let status = if excused { Status::Exited(0) } else { attempt.status };
        // It may have found no test, or may have been ended.
        let nothing_named = !status.is_pass() && failed == 0;
        let failures = if nothing_named { failures_in(&attempt.log) } else { failures };
        let failed = failed.max(usize::from(nothing_named));
        let of_attempt = Self::of_attempt(step, attempt);
        Self { status, passed, failed, flaky, flaky_report, failures, suites, ..of_attempt }
    }

    /// Takes those off the passed tests that these lines name: they were skipped.
    pub(crate) fn leave_out_skipped(&mut self, lines: &str) {
        self.passed = self.passed.saturating_sub(skips::count(lines.lines()));
        for suite in &mut self.suites {
            suite.test_cases.retain(|case| {
                let has_passed = matches!(case.status, TestCaseStatus::Success { .. });
                !has_passed || !skips::names(lines, case.name.as_str())
            });
            suite.tests = suite.test_cases.len();
        }
    }

    /// Of a step that could not be run.
    pub(crate) fn broken(step: &str, reason: &str) -> Self {
        let attempt = Attempt {
            status: Status::Exited(127),
            log: format!("{reason}\n"),
            began: Instant::now(),
            took: Duration::ZERO,
            processor: Duration::ZERO,
        };
        Self::of_command(step, attempt)
    }

    fn of_attempt(step: &str, attempt: Attempt) -> Self {
        Self {
            step: step.to_owned(),
            status: attempt.status,
            passed: 0,
            failed: 0,
            flaky: 0,
            flaky_report: String::new(),
            failures: String::new(),
            log: attempt.log,
            began: attempt.began,
            took: attempt.took,
            processor: attempt.processor,
            suites: Vec::new(),
        }
    }
}

fn case(name: &str, verdict: Verdict, report: &str) -> TestCase {
    let status = match verdict {
        Verdict::Passed => TestCaseStatus::success(),
        Verdict::Failed => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_description(report);
            status
        }
    };
    TestCase::new(name, status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(status: i32, log: &str) -> Attempt {
        Attempt {
            status: Status::Exited(status),
            log: log.to_owned(),
            began: Instant::now(),
            took: Duration::ZERO,
            processor: Duration::ZERO,
        }
    }

    fn counts(status: i32, log: &str) -> (usize, usize) {
        let outcome = Outcome::of_command("a step", attempt(status, log));
        assert_eq!(outcome.suites[0].tests > 0, outcome.passed + outcome.failed > 0);
        (outcome.passed, outcome.failed)
    }

    const FAILED_ONCE: &str = "<testsuites name='a' tests='1' failures='1' errors='0'>
        <testsuite name='p' tests='1' disabled='0' errors='0' failures='1'>
        <testcase name='t'><failure type='test failure'/></testcase></testsuite></testsuites>";

    #[test]
    fn tests_that_passed_alone_excuse_a_run_that_failed_by_them_and_by_nothing_else() {
        let of_tests = |status, is_flaky: bool| {
            let mut results = Results::read(FAILED_ONCE).expect("it is a report");
            let test = results.repeatable().remove(0);
            let flaky = if is_flaky { (1, "once".to_owned()) } else { (0, String::new()) };
            if is_flaky {
                results.passed_alone(&test);
            }
            let outcome = Outcome::of_tests("a step", attempt(status, "why\n"), results, flaky);
            (outcome.status, outcome.passed, outcome.failed, outcome.failures)
        };
        assert_eq!(of_tests(100, true), (Status::Exited(0), 1, 0, String::new()));
        assert_eq!(of_tests(100, false).2, 1);
        let ended = of_tests(101, true);
        assert_eq!(ended, (Status::Exited(101), 1, 1, "    why\n".to_owned()));
    }

    #[test]
    fn a_step_without_tests_counts_as_one() {
        assert_eq!(counts(0, "Finished\n"), (1, 0));
        assert_eq!(counts(101, "error: it does not build\n"), (0, 1));
    }

    #[test]
    fn tests_count_and_a_program_that_dies_among_them_is_a_failure() {
        let log = "test a ... ok\ntest b ... ok\ntest result: ok. 2 passed; 0 failed; 0 ignored\n";
        assert_eq!(counts(0, log), (2, 0));
        assert_eq!(counts(101, log), (2, 1));
        assert_eq!(
            counts(101, &log.replace("b ... ok", "b ... FAILED").replace("0 f", "1 f")),
            (2, 1)
        );
    }
}
