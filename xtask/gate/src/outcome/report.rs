//! The output of Rust's test runner.
//!
//! The programs of several crates print into one log. A test with a network of its own runs itself
//! again in it, and shows the output of that run among its failures: such lines are not counted.

use std::collections::BTreeSet;

/// A line that stands where chance has chosen the input of a property.
pub(crate) const CHOSEN_BY_CHANCE: &str = "minimal failing input";
/// Lines of a report that the summary shows, from the one that names the place on.
const SHOWN_MAX: usize = 6;
/// Columns of such a line.
const COLUMNS_MAX: usize = 200;
/// Lines that the summary shows of the end of a log without reports.
const LAST_MAX: usize = 5;
/// Beginnings of lines with which compilers and checks fail; the first one names the place. A
/// warning comes before and is no failure.
const COMPLAINTS: [&str; 3] = ["error", "Diff in ", "FAIL"];

/// The end of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
}

/// The contents of a log.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Tests that passed and failed, as the programs count them.
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// The passed ones of programs in which none failed.
    pub(crate) passed_whole: usize,
    /// Set if any program has counted its tests.
    pub(crate) counts: bool,
    /// Tests with their verdicts. A test is missing if its own output has torn its line.
    pub(crate) verdicts: Vec<(String, Verdict)>,
    /// Tests with a report of their failure.
    pub(crate) reported: BTreeSet<String>,
}

impl Report {
    pub(crate) fn read(log: &str) -> Self {
        let mut report = Self::default();
        for line in own_lines(log) {
            report.take(line);
        }
        report.counts = log.lines().any(|line| line.starts_with("test result: "));
        report
    }

    fn take(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            let (passed, failed) = (figure(counts, "passed;"), figure(counts, "failed;"));
            self.passed += passed;
            self.failed += failed;
            self.passed_whole += if counts.starts_with("ok. ") { passed } else { 0 };
        } else if let Some(name) = head_of_report(line) {
            self.reported.insert(name.to_owned());
        } else if let Some((name, verdict)) = verdict(line) {
            self.verdicts.push((name.to_owned(), verdict));
        }
    }
}

/// The tests that failed, each with the first lines of its report; or else the first complaint, and
/// how the log ends.
pub(crate) fn failures_in(log: &str) -> String {
    let mut shown = String::new();
    let mut add = |indent: &str, line: &str| {
        shown.push_str(indent);
        shown.extend(line.chars().take(COLUMNS_MAX));
        shown.push('\n');
    };
    if log.lines().all(|line| head_of_report(line).is_none()) {
        let log = strip_ansi_escapes::strip_str(log);
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.len().saturating_sub(LAST_MAX);
        let complains = |line: &&str| COMPLAINTS.iter().any(|it| line.starts_with(it));
        if let Some(first) = lines[..last].iter().position(complains) {
            let until = last.min(first + SHOWN_MAX);
            lines[first..until].iter().for_each(|line| add("    ", line));
            if until < last {
                add("    ", "…");
            }
        }
        lines[last..].iter().for_each(|line| add("    ", line));
        return shown;
    }
    let mut left = 0;
    for line in log.lines() {
        if let Some(name) = head_of_report(line) {
            add("    ", name);
            left = 0;
        }
        if line.contains("panicked at") {
            left = SHOWN_MAX;
        }
        if left > 0 {
            left -= 1;
            add("        ", line);
        }
    }
    shown
}

/// The lines without those of programs that a failed test has run.
fn own_lines(log: &str) -> impl Iterator<Item = &str> {
    let (mut in_failures, mut nested) = (false, 0_usize);
    log.lines().filter(move |line| {
        in_failures |= *line == "failures:";
        if in_failures && is_start(line) {
            nested += 1;
        }
        let own = nested == 0;
        if line.starts_with("test result: ") {
            match nested {
                0 => in_failures = false,
                _ => nested -= 1,
            }
        }
        own
    })
}

/// Returns `true` if a program begins with its tests: `running 3 tests`.
fn is_start(line: &str) -> bool {
    let mut words = line.split(' ');
    words.next() == Some("running")
        && words.next().is_some_and(|count| count.parse::<u32>().is_ok())
        && matches!(words.next(), Some("test" | "tests"))
        && words.next().is_none()
}

/// The test of which a report begins: `---- name stdout ----`.
fn head_of_report(line: &str) -> Option<&str> {
    let inner = line.strip_prefix("---- ")?.strip_suffix(" ----")?;
    inner.split(' ').next()
}

/// The test that ended: `test name ... ok`.
fn verdict(line: &str) -> Option<(&str, Verdict)> {
    let (name, verdict) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    match verdict {
        "ok" => Some((name, Verdict::Passed)),
        "FAILED" => Some((name, Verdict::Failed)),
        _ => None,
    }
}

/// The figure before this word: `3` of `ok. 3 passed; 0 failed;`.
fn figure(counts: &str, word: &str) -> usize {
    let words: Vec<&str> = counts.split_whitespace().collect();
    let pair = words.windows(2).find(|pair| pair[1] == word);
    pair.and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_PROGRAMS: &str = "
running 2 tests
test a::passes ... ok
test a::fails ... FAILED

failures:

---- a::fails stdout ----
running 1 test
test a::fails ... FAILED
test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out
thread 'a::fails' panicked at src/a.rs:3:
left: 1
right: 2

failures:
    a::fails

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out

running 1 test
test b::panics - should panic ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out
";

    #[test]
    fn tests_of_all_programs_are_counted_and_those_that_a_failed_one_has_run_are_not() {
        let report = Report::read(TWO_PROGRAMS);
        assert_eq!((report.passed, report.failed, report.passed_whole), (2, 1, 1));
        let verdicts: Vec<_> = report.verdicts.iter().map(|(name, how)| (&**name, *how)).collect();
        let passed = Verdict::Passed;
        assert_eq!(
            verdicts,
            [("a::passes", passed), ("a::fails", Verdict::Failed), ("b::panics", passed)]
        );
        assert_eq!(report.reported, ["a::fails".to_owned()].into());
        assert!(!Report::read("no program of tests").counts);
    }

    #[test]
    fn the_summary_shows_the_place_of_each_failure_or_else_a_complaint_and_the_end_of_the_log() {
        let shown = failures_in(TWO_PROGRAMS);
        assert!(shown.starts_with("    a::fails\n        thread 'a::fails' panicked"), "{shown}");
        assert!(shown.contains("        right: 2\n"), "{shown}");
        assert_eq!(failures_in("1\n2\n3\n4\n5\n6\n"), "    2\n    3\n    4\n    5\n    6\n");
        assert!(failures_in(&"x".repeat(1000)).len() < 210);
        let log = "ok\n\x1b[31mDiff in \x1b[0ma.rs:1:\n-a\n+b\n1\n2\n3\n4\n5\n6\n7\n8\n";
        let shown = "Diff in a.rs:1:\n-a\n+b\n1\n2\n3\n4\n5\n6\n7\n8";
        assert_eq!(failures_in(log).replace("    ", "").trim_end(), shown);
        let shown = "error: a\nx\nx\nx\nx\nx\n…\nx\nx\nx\nx\nx";
        let log = format!("warning: b\nerror: a\n{}", "x\n".repeat(20));
        assert_eq!(failures_in(&log).replace("    ", "").trim_end(), shown);
    }
}
