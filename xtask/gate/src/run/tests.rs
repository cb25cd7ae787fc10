//! Tests by cargo-nextest, each in a process of its own; those that fail are repeated alone.

use std::fs;
use std::io;

use super::{Runner, skips, slug};
use crate::outcome::results::{Results, TestId};
use crate::outcome::{Attempt, Outcome};
use crate::steps::step::{CommandLine, Tests};

/// Tests that may fail and pass when they are repeated; more of them are no chance.
pub(crate) const FLAKY_MAX: usize = 5;
/// Runs a command beside so many busy loops.
const BESIDE_LOOPS: &str = r#"
for ((loop = 0; loop < $0; loop++)); do
    while :; do :; done &
done
trap 'kill $(jobs -p)' EXIT
"$@""#;

impl Runner {
    /// Runs tests, and repeats those that failed, alone and at most twice.
    pub(super) fn tests(&self, name: &str, tests: &Tests) -> Result<Outcome, String> {
        let mut tests = tests.clone();
        tests.variables.push((skips::VARIABLE.to_owned(), self.skips.file(&slug(name))));
        let tests = &tests;
        let (mut attempt, results) = self.nextest(name, tests)?;
        let Some(mut results) = results else {
            // It may not have been built; but without a report nothing has passed.
            return match attempt.status.is_pass() {
                true => Err(format!("cargo-nextest left no report:\n{}", attempt.log)),
                false => Ok(Outcome::of_command(name, attempt)),
            };
        };
        let failed = results.repeatable();
        let mut flaky = Vec::new();
        if failed.len() == results.counts().1 && failed.len() <= FLAKY_MAX {
            let mut left = failed;
            for time in ["second", "third"] {
                if left.is_empty() {
                    break;
                }
                let filter: Vec<String> = left.iter().map(TestId::filter).collect();
                let filter = filter.join(" or ");
                let alone = Tests { filter, is_alone: true, ..tests.clone() };
                let again = format!("{name}, the {time} time");
                let (again, repeated) = self.nextest(&again, &alone)?;
                attempt.took += again.took;
                attempt.processor += again.processor;
                let passed = |test: &TestId| {
                    let passed = repeated.as_ref().is_some_and(|results| results.has_passed(test));
                    passed && !skips::names(&self.skips.of(&slug(name)), &test.name)
                };
                let (passed, failed) = left.into_iter().partition(passed);
                flaky.extend::<Vec<TestId>>(passed);
                left = failed;
            }
        }
        let reports: String = flaky.iter().map(|test| results.failure(test)).collect();
        flaky.iter().for_each(|test| results.passed_alone(test));
        let skipped = self.skips.of(&slug(name));
        // Tests that skipped before, in other surroundings, have run now or skipped again.
        let is_repetition = !tests.filter.is_empty();
        self.skips.take(&skipped, |test| is_repetition && results.has_run(test));
        let mut outcome = Outcome::of_tests(name, attempt, results, (flaky.len(), reports));
        outcome.leave_out_skipped(&skipped);
        Ok(outcome)
    }

    /// Runs cargo-nextest; there are no results where it ran no test.
    fn nextest(&self, name: &str, tests: &Tests) -> Result<(Attempt, Option<Results>), String> {
        let program = self.places.own("cargo-nextest/bin/cargo-nextest");
        let words = [program.as_str(), "nextest", "run", "--locked"];
        let mut command = match tests.load {
            0 => CommandLine::words("env"),
            loops => CommandLine::words("bash -c").arguments([BESIDE_LOOPS, &loops.to_string()]),
        };
        command = command.arguments(words);
        command = command.arguments(tests.built.split_whitespace());
        if tests.is_alone {
            command = command.arguments(["--test-threads=1"]);
        }
        if !tests.filter.is_empty() {
            command = command.arguments(["--filterset", &tests.filter]);
        }
        command.variables.clone_from(&tests.variables);
        // It is not cargo's folder where that was chosen by CARGO_TARGET_DIR.
        let report = format!("{}/target/nextest/default/junit.xml", self.places.root);
        match fs::remove_file(&report) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(format!("{report}: {error}"));
            }
            _ => {}
        }
        let attempt = self.command(name, &command)?;
        let results = match fs::read_to_string(&report) {
            Ok(text) => Some(Results::read(&text).map_err(|error| format!("{report}: {error}"))?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(format!("{report}: {error}")),
        };
        Ok((attempt, results))
    }
}
