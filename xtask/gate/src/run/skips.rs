//! Tests and steps that could not run here, with the reasons.
//!
//! A test adds a line `test: reason` to a file that `QUIETCORE_SKIP_FILE` names; each step has its
//! own. The test's runner has counted it as passed. Steps that lack something are kept apart.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Names the file that tests add to.
pub(crate) const VARIABLE: &str = "QUIETCORE_SKIP_FILE";

/// The skips of this run.
#[derive(Debug)]
pub(crate) struct Skips {
    /// The folder with the files of the steps.
    folder: PathBuf,
    skipped: Mutex<Skipped>,
}

/// All that was skipped, with the reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skipped {
    /// Lines `test: reason` of tests that have not run since.
    pub(crate) tests: BTreeSet<String>,
    /// Reasons, by the missing need of steps.
    pub(crate) steps: BTreeMap<String, String>,
}

impl Skips {
    /// Makes the folder anew.
    ///
    /// # Errors
    /// It can't be written.
    pub(crate) fn begin(folder: &str) -> io::Result<Self> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.into(), skipped: Mutex::default() })
    }

    /// Adds something that is missing for steps, once.
    pub(crate) fn add(&self, what: &str, reason: &str) {
        self.change(|skipped| {
            let reason = || reason.trim().replace('\n', " ");
            skipped.steps.entry(what.to_owned()).or_insert_with(reason);
        });
    }

    /// The file for the tests of a step.
    pub(crate) fn file(&self, step: &str) -> String {
        self.folder.join(step).display().to_string()
    }

    /// The lines that the tests of a step have added to their file.
    pub(crate) fn of(&self, step: &str) -> String {
        fs::read_to_string(self.folder.join(step)).unwrap_or_default()
    }

    /// Takes lines in place of those of tests that have run in other surroundings since.
    pub(crate) fn take(&self, lines: &str, has_run: impl Fn(&str) -> bool) {
        self.change(|skipped| {
            skipped.tests.retain(|line| !has_run(name(line)));
            skipped.tests.extend(lines.lines().map(str::to_owned));
        });
    }

    pub(crate) fn all(&self) -> Skipped {
        self.change(|skipped| skipped.clone())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Skipped) -> T) -> T {
        change(&mut self.skipped.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Skipped {
    /// Counts tests and missing things. A test that skips for two reasons is one.
    pub(crate) fn count(&self) -> usize {
        count(self.tests.iter().map(String::as_str)) + self.steps.len()
    }

    /// All of it, a line each.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let steps = self.steps.iter().map(|(what, reason)| format!("{what}: {reason}"));
        steps.chain(self.tests.iter().cloned())
    }
}

/// Counts the tests in lines.
pub(crate) fn count<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    lines.map(name).collect::<BTreeSet<_>>().len()
}

/// Returns `true` if these lines name a test. Its path may begin elsewhere, as with the crate's
/// name.
pub(crate) fn names(lines: &str, test: &str) -> bool {
    lines.lines().any(|line| last(name(line)) == last(test))
}

/// The last part of a test's path.
pub(crate) fn last(test: &str) -> &str {
    test.rsplit("::").next().unwrap_or(test)
}

/// The program of tests of a path, if the path begins with it.
pub(crate) fn program(test: &str) -> &str {
    test.split("::").next().unwrap_or(test)
}

/// The test's path in a line.
fn name(line: &str) -> &str {
    line.split(": ").next().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_skips_twice_is_one_and_a_missing_tool_is_no_test() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let skips = Skips::begin(&folder.path().display().to_string()).expect("it is ours");
        skips.take("probes::a: no KVM\nprobes::a: no root\nb: no card\n", |_| false);
        skips.add("miri", "no nightly");
        skips.add("miri", "no rust-src");
        let all = skips.all();
        assert_eq!(all.count(), 3);
        assert_eq!(all.lines().next().as_deref(), Some("miri: no nightly"));
    }

    #[test]
    fn a_test_is_found_by_its_name_and_not_by_a_part_of_it() {
        let lines = "probes::tests::a_guest: no KVM\n";
        assert!(names(lines, "tests::a_guest") && names(lines, "a_guest"));
        assert!(!names(lines, "guest") && !names(lines, "a_guest_boots"));
    }

    #[test]
    fn a_test_that_has_run_in_other_surroundings_is_skipped_only_if_it_was_there_too() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let skips = Skips::begin(&folder.path().display().to_string()).expect("it is ours");
        skips.take("running::a: no KVM\nrunning::b: no KVM\nrates::c: no KVM\n", |_| false);
        fs::write(skips.file("lab"), "running::b: no card\n").expect("the folder is ours");
        skips.take(&skips.of("lab"), |test| program(test) == "running");
        let left = ["rates::c: no KVM", "running::b: no card"];
        assert_eq!(skips.all().tests, left.map(str::to_owned).into());
    }
}
