//! Every promise names the test that keeps it, or says that none does yet.
//!
//! A promise is a paragraph of `SPECIFICATION.md` and everything up to the next promise or heading:
//!
//! ```text
//! **P7.** A stall is counted as the cycles it cost.
//! Enforced by `what_the_partition_records_is_read_from_outside`.
//!
//! **P8.** A full disk leaves what was measured so far readable. *Not enforced yet.*
//! ```
//!
//! The numbers count from 1 without a gap, so that a promise is struck out in public and never
//! silently replaced. After `Enforced by` stand, in backticks, names of Rust test functions (with
//! or without their path) or of files below `tests/`. Both marks in one promise say that a part of
//! it is enforced.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::tree::Tree;

const RULE: &str = "promises";
const FILE: &str = "SPECIFICATION.md";
const ENFORCED: &str = "Enforced by";
const NOT_YET: &str = "*Not enforced yet";

/// Finds promises without a test, with one that does not exist, or with a number out of order.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.file(FILE) else {
        return Vec::new();
    };
    let tests: BTreeSet<String> =
        tree.sources.iter().flat_map(crate::source::Source::test_functions).collect();
    let promises = promises(&file.text);
    let mut findings = Vec::new();
    if promises.is_empty() {
        let remedy = "write each as `**P1.** text`";
        findings.push(Finding::new(RULE, FILE, 1, "it has no promise", remedy));
    }
    for (index, promise) in promises.iter().enumerate() {
        let expected = format!("P{}", index + 1);
        if promise.number != expected {
            findings.push(Finding::new(
                RULE,
                FILE,
                promise.line,
                format!("`{}` follows where `{expected}` is due", promise.number),
                "number the promises from 1 without gaps",
            ));
        }
        findings.extend(check_promise(promise, &tests, tree));
    }
    findings
}

struct Promise {
    number: String,
    line: usize,
    text: String,
}

fn promises(document: &str) -> Vec<Promise> {
    let mut found: Vec<Promise> = Vec::new();
    let mut in_promise = false;
    for (index, line) in document.lines().enumerate() {
        if let Some((number, rest)) = promise_head(line) {
            found.push(Promise {
                number: number.to_owned(),
                line: index + 1,
                text: rest.to_owned(),
            });
            in_promise = true;
        } else if line.starts_with('#') {
            in_promise = false;
        } else if let Some(promise) = found.last_mut().filter(|_| in_promise) {
            promise.text.push('\n');
            promise.text.push_str(line);
        }
    }
    found
}

/// `**P12.** text`, as number and text.
fn promise_head(line: &str) -> Option<(&str, &str)> {
    let (number, rest) = line.strip_prefix("**")?.split_once(".**")?;
    let digits = number.strip_prefix('P')?;
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit());
    is_number.then_some((number, rest))
}

fn check_promise(promise: &Promise, tests: &BTreeSet<String>, tree: &Tree) -> Vec<Finding> {
    let finding = |what: String, remedy: &str| {
        Finding::new(RULE, FILE, promise.line, format!("{}: {what}", promise.number), remedy)
    };
    let enforced = promise.text.split_once(ENFORCED).map(|(_, names)| names);
    let named = enforced.map(backticked).unwrap_or_default();
    let mut findings = Vec::new();
    if named.is_empty() && !promise.text.contains(NOT_YET) {
        let remedy = "write `Enforced by` and the test in backticks, or `*Not enforced yet.*`";
        findings.push(finding("it names no test".to_owned(), remedy));
    }
    for name in named {
        let is_file = name.contains('/') && tree.file(name).is_some();
        let function = name.rsplit("::").next().unwrap_or(name);
        if !is_file && !tests.contains(function) {
            let remedy = "name a test function, or a file below `tests/`";
            findings.push(finding(format!("there is no test `{name}`"), remedy));
        }
    }
    findings
}

fn backticked(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: &str = "#[test]\nfn a_stall_is_counted() {}\nfn no_test() {}\n";

    fn findings(text: &str) -> Vec<String> {
        let findings = check(&Tree::of(&[
            (FILE, text),
            ("a/tests/b.rs", TESTS),
            ("tests/system/quickstart.sh", ""),
        ]));
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_promise_with_its_test_or_its_admission_is_right() {
        let text = "# Promises\n\n**P1.** A stall\ncounts.\nEnforced \
                    by\n`b::a_stall_is_counted`.\n\n**P2.** B. *Not enforced yet.*\n\n**P3.** C. \
                    Enforced by `tests/system/quickstart.sh`.\n# Words with `backticks`\n";
        assert_eq!(findings(text), [""; 0]);
    }

    #[test]
    fn a_promise_without_or_with_a_missing_test_is_found() {
        let text = "**P1.** A.\n\n**P2.** B. Enforced by `no_test` and `a_stall_is_counted`.\n";
        let found = findings(text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("SPECIFICATION.md:1: promises: P1: it names no test"));
        assert!(found[1].contains(":3: promises: P2: there is no test `no_test`"));
    }

    #[test]
    fn numbers_have_no_gap_and_no_repetition() {
        let found = findings("**P1.** *Not enforced yet.*\n\n**P3.** *Not enforced yet.*\n");
        assert!(found[0].contains("`P3` follows where `P2` is due"), "{found:?}");
        assert_eq!(findings("Nothing promised.\n").len(), 1);
    }
}
