//! The line of a skip, and where it goes.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// The environment variable that names the file to which skips are added.
pub const SKIP_FILE_VARIABLE: &str = "QUIETCORE_SKIP_FILE";

/// Records a skip of the test that the function `place` is nested in. Called through
/// [`skip!`](crate::skip).
///
/// # Panics
/// Where the file can't be written: a skip that nobody hears of would count as a pass.
pub fn record(place: &str, reason: &str) {
    let line = line_for(place, reason);
    eprint!("SKIPPED: {line}");
    if let Some(file) = env::var_os(SKIP_FILE_VARIABLE) {
        append(Path::new(&file), &line);
    }
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

    #[test]
    fn skips_are_added_to_what_stands_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("skips");
        append(&file, "a: no root\n");
        append(&file, "b: no network\n");
        assert_eq!(std::fs::read_to_string(file).unwrap(), "a: no root\nb: no network\n");
    }
}
