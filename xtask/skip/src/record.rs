//! The line of a skip, and where it goes.

use std::backtrace::Backtrace;
use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// The environment variable that names the file to which skips are added.
pub const SKIP_FILE_VARIABLE: &str = "QUIETCORE_SKIP_FILE";

/// The function of Rust's test runner that calls a test.
const RUNNER: &str = "test::__rust_begin_short_backtrace";

/// Records a skip of the test on this thread's stack. `place` is a function that is nested in the
/// one that skips, which stands for the test where the stack has none: in a program with a runner
/// of its own, and in a thread that a test has started. Called through [`skip!`](crate::skip).
///
/// # Panics
/// Where the file can't be written: a skip that is not listed would count as a pass.
pub fn record(place: &str, reason: &str) {
    let stack = Backtrace::force_capture().to_string();
    let line = line_for(test_on(&stack).unwrap_or(place), reason);
    eprint!("SKIPPED: {line}");
    if let Some(file) = env::var_os(SKIP_FILE_VARIABLE) {
        append(Path::new(&file), &line);
    }
}

/// The path of the test on a stack of calls: the closure that the runner has called.
fn test_on(stack: &str) -> Option<&str> {
    let calls = stack.lines().filter_map(|line| {
        let (number, call) = line.trim_start().split_once(": ")?;
        number.parse::<usize>().ok().map(|_| call.trim_end())
    });
    let calls: Vec<&str> = calls.collect();
    let runner = calls.iter().position(|call| call.starts_with(RUNNER))?;
    calls[..runner].iter().rev().find_map(|call| call.strip_suffix("::{{closure}}"))
}

/// `test: reason`, on one line whatever the reason contains.
fn line_for(place: &str, reason: &str) -> String {
    let test = place.strip_suffix("::here").unwrap_or(place);
    let test = test.trim_end_matches("::{{closure}}");
    let reason: Vec<&str> = reason.split_whitespace().collect();
    format!("{test}: {}\n", reason.join(" "))
}

fn append(file: &Path, line: &str) {
    // One write in append mode: lines of tests that run at the same time don't mix.
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .and_then(|mut open| open.write_all(line.as_bytes()));
    if let Err(error) = written {
        panic!(
            "the skip could not be added to `{}`: {error}; {SKIP_FILE_VARIABLE} must name a \
             writable file",
            file.display()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_one_line_with_the_name_of_its_test() {
        fn here() {}
        let place = std::any::type_name_of_val(&here);
        assert_eq!(
            line_for(place, "there is no\n  /dev/kvm"),
            "quietcore_skip::record::tests::a_skip_is_one_line_with_the_name_of_its_test: there \
             is no /dev/kvm\n"
        );
        assert_eq!(line_for("a::b::{{closure}}::here", "x"), "a::b: x\n");
    }

    #[inline(never)]
    fn helper() -> Option<String> {
        let find = || test_on(&Backtrace::force_capture().to_string()).map(str::to_owned);
        find()
    }

    #[test]
    fn a_skip_in_a_helper_is_of_the_test_that_called_it() {
        let this = "record::tests::a_skip_in_a_helper_is_of_the_test_that_called_it";
        let found = helper().expect("a test runs");
        assert_eq!(found, format!("quietcore_skip::{this}"));
        assert_eq!(std::thread::spawn(helper).join().expect("no panic"), None);
        assert_eq!(test_on("0: a::{{closure}}\n1: main\n"), None, "another runner");
    }

    #[test]
    fn skips_are_added_to_what_stands_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("skips");
        append(&file, "a: no root\n");
        append(&file, "b: no network\n");
        assert_eq!(std::fs::read_to_string(file).unwrap(), "a: no root\nb: no network\n");
    }
}
