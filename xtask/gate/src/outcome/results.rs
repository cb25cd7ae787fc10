//! The report of cargo-nextest on the tests that it has run: JUnit in the form of Maven Surefire.

use quick_junit::{Report, TestCase, TestCaseStatus, TestSuite};

use crate::outcome::report::CHOSEN_BY_CHANCE;

/// Lines of a failure that the summary shows, from the one that names the place on, and their
/// columns.
const SHOWN_MAX: usize = 6;
const COLUMNS_MAX: usize = 200;

/// The tests of a step, with the results of repetitions.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) suites: Vec<TestSuite>,
}

/// A test, by its program and its own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestId {
    pub(crate) program: String,
    pub(crate) name: String,
}

impl Results {
    /// # Errors
    /// The text is no such report.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let report = Report::deserialize_from_str(text).map_err(|error| error.to_string())?;
        Ok(Self { suites: report.test_suites })
    }

    /// Counts the tests that passed, and those that did not.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let (all, failed) = (self.cases().count(), self.failed().count());
        (all - failed, failed)
    }

    /// The tests that failed. Those whose failure chance has chosen the input of would not meet it
    /// again.
    pub(crate) fn repeatable(&self) -> Vec<TestId> {
        let by_chance = |case: &TestCase| failure_text(case).contains(CHOSEN_BY_CHANCE);
        let repeatable = self.failed().filter(|(_, case)| !by_chance(case));
        repeatable.map(|(suite, case)| TestId::of(suite, case)).collect()
    }

    /// The tests that failed, each with the first lines of its report.
    pub(crate) fn failures(&self) -> String {
        self.failed().map(|(suite, case)| shown(&TestId::of(suite, case), case)).collect()
    }

    /// The first lines of the report of one test.
    pub(crate) fn failure(&self, test: &TestId) -> String {
        let found = self.failed().find(|(suite, case)| TestId::of(suite, case) == *test);
        found.map_or_else(String::new, |(_, case)| shown(test, case))
    }

    /// Returns `true` if the test of this path ran: crate, modules, name. Some skips have a name
    /// alone.
    pub(crate) fn has_run(&self, path: &str) -> bool {
        self.cases().any(|(suite, case)| {
            let program = suite.name.as_str().rsplit("::").next().unwrap_or_default();
            let (program, name) = (program.replace('-', "_"), case.name.as_str());
            path.strip_prefix(&*program).and_then(|rest| rest.strip_prefix("::")) == Some(name)
                || name.rsplit("::").next() == Some(path)
        })
    }

    /// Returns `true` if this test ran and passed.
    pub(crate) fn has_passed(&self, test: &TestId) -> bool {
        let mut cases = self.cases().filter(|(suite, case)| TestId::of(suite, case) == *test);
        cases.next().is_some_and(|(_, case)| matches!(case.status, TestCaseStatus::Success { .. }))
    }

    /// Counts a test as passed that has passed alone.
    pub(crate) fn passed_alone(&mut self, test: &TestId) {
        let suite = self.suites.iter_mut().find(|suite| suite.name.as_str() == test.program);
        let Some(suite) = suite else { return };
        let cases = &mut suite.test_cases;
        if let Some(case) = cases.iter_mut().find(|case| case.name.as_str() == test.name) {
            case.status = TestCaseStatus::success();
            case.add_property(quick_junit::Property::new("flaky", "passed when it was repeated"));
            suite.failures = suite.failures.saturating_sub(1);
        }
    }

    fn cases(&self) -> impl Iterator<Item = (&TestSuite, &TestCase)> {
        self.suites.iter().flat_map(|suite| suite.test_cases.iter().map(move |case| (suite, case)))
    }

    fn failed(&self) -> impl Iterator<Item = (&TestSuite, &TestCase)> {
        self.cases().filter(|(_, case)| matches!(case.status, TestCaseStatus::NonSuccess { .. }))
    }
}

impl TestId {
    fn of(suite: &TestSuite, case: &TestCase) -> Self {
        Self { program: suite.name.as_str().to_owned(), name: case.name.as_str().to_owned() }
    }

    /// The filterset of cargo-nextest that it alone is in.
    pub(crate) fn filter(&self) -> String {
        format!("(binary_id(={}) and test(={}))", self.program, self.name)
    }
}

impl std::fmt::Display for TestId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}::{}", self.program, self.name)
    }
}

/// All that a failed test has printed, and how it ended.
fn failure_text(case: &TestCase) -> String {
    let TestCaseStatus::NonSuccess { message, description, .. } = &case.status else {
        return String::new();
    };
    let texts = [message, description, &case.system_out, &case.system_err];
    texts.into_iter().flatten().map(|text| format!("{}\n", text.as_str())).collect()
}

/// A test, with the lines from the place of its failure on, or how it ended.
fn shown(test: &TestId, case: &TestCase) -> String {
    let text = failure_text(case);
    let place = text.lines().position(|line| line.contains("panicked at")).unwrap_or(0);
    let lines = text.lines().skip(place).take(SHOWN_MAX);
    let line = |line: &str| -> String {
        "        ".chars().chain(line.chars().take(COLUMNS_MAX)).chain(['\n']).collect()
    };
    format!("    {test}\n{}", lines.map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="2" errors="0" time="1.5">
  <testsuite name="quietcore-cli::probes" tests="3" disabled="0" errors="0" failures="2">
    <testcase name="a::passes" classname="quietcore-cli::probes" time="0.1"/>
    <testcase name="a::fails" classname="quietcore-cli::probes" time="0.2">
      <failure message="it failed" type="test failure">thread 'a::fails' panicked at src/a.rs:3:
left: 1
right: 2</failure>
      <system-out>running 1 test</system-out>
    </testcase>
    <testcase name="b::fails" classname="quietcore-cli::probes" time="0.2">
      <failure type="test timeout"/>
      <system-err>minimal failing input: x = 1</system-err>
    </testcase>
  </testsuite>
</testsuites>"#;

    #[test]
    fn failed_tests_are_named_with_their_place_and_repeated_unless_chance_chose_their_input() {
        let results = Results::read(REPORT).expect("it is a report");
        assert_eq!(results.counts(), (1, 2));
        let [test] = &results.repeatable()[..] else { panic!("{results:?}") };
        assert_eq!(test.to_string(), "quietcore-cli::probes::a::fails");
        assert_eq!(test.filter(), "(binary_id(=quietcore-cli::probes) and test(=a::fails))");
        let failure = results.failure(test);
        assert!(failure.contains("panicked at src/a.rs:3") && failure.contains("right: 2"));
        assert!(results.failures().contains("b::fails"));
        assert!(results.has_run("probes::a::passes") && results.has_run("passes"));
        assert!(!results.has_run("running::a::passes") && !results.has_run("probes::passes"));
        assert!(Results::read("<testsuites").is_err());
    }

    #[test]
    fn a_test_that_passed_alone_is_no_failure_any_more_and_keeps_a_mark() {
        let mut results = Results::read(REPORT).expect("it is a report");
        let test = results.repeatable().remove(0);
        results.passed_alone(&test);
        assert_eq!(results.counts(), (2, 1));
        assert_eq!(results.suites[0].failures, 1);
        assert_eq!(results.suites[0].test_cases[1].properties[0].name.as_str(), "flaky");
    }
}
