//! Stored copies of texts that a user sees, and the comparison with them.
//!
//! With `QUIETCORE_STORE=1` the texts are stored again; `CONTRIBUTING.md` says when that is
//! allowed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Columns of the text that commands print.
const COLUMNS: &str = "80";
/// A folder that nobody can make, for keys and for running sites.
const NOWHERE: &str = "/proc/nowhere";
/// Hints that depend on the user, and on earlier sites of root on this machine: the begin and the
/// end of each.
const HINTS: [(&str, &str); 2] = [("; those in `/run", "is set"), ("; sites of root", "only")];
/// Lines that are shown before the first difference.
const LINES_BEFORE: usize = 3;
/// Lines that are shown from the first difference on.
const LINES_AFTER: usize = 6;

/// Returns a file in the folder of the tests.
pub(crate) fn test_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)
}

/// Compares a text with its stored copy, which is named from the folder of the tests.
#[track_caller]
pub(crate) fn assert_stored(path: &str, text: &str) {
    let file = test_file(path);
    if std::env::var_os("QUIETCORE_STORE").is_some() {
        fs::write(&file, text).unwrap();
    }
    let stored = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        stored == text,
        "tests/{path} differs; if the new text is right, run the test with QUIETCORE_STORE=1\n{}",
        difference(&stored, text)
    );
}

/// Returns the lines about the first difference of two texts.
fn difference(stored: &str, new: &str) -> String {
    let (stored, new): (Vec<_>, Vec<_>) = (stored.lines().collect(), new.lines().collect());
    let same = stored.iter().zip(&new).take_while(|(stored, new)| stored == new).count();
    let mut shown = format!("line {}:\n", same + 1);
    for line in &new[same.saturating_sub(LINES_BEFORE)..same] {
        writeln!(shown, "  {line}").unwrap();
    }
    for (sign, lines) in [('-', &stored), ('+', &new)] {
        for line in lines[same..].iter().take(LINES_AFTER) {
            writeln!(shown, "{sign} {line}").unwrap();
        }
    }
    shown
}

fn without_hints(mut text: String) -> String {
    for (begin, end) in HINTS {
        while let Some(at) = text.find(begin) {
            let length = text[at..].find(end).expect("the hint is whole") + end.len();
            text.replace_range(at..at + length, "");
        }
    }
    text
}

/// Runs the program in `at` and returns the call, its status and its output. The program has
/// nothing of this user's environment: the machine has no key, and no site runs.
pub(crate) fn transcript(at: &Path, arguments: &[&str]) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_quietcore"))
        .args(arguments)
        .current_dir(at)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("COLUMNS", COLUMNS)
        .env("QUIETCORE_STATE_DIR", NOWHERE)
        .env("QUIETCORE_RUN_DIR", NOWHERE)
        .output()
        .unwrap();
    let mut text =
        format!("$ quietcore{}\n", arguments.iter().map(|it| shown(it)).collect::<String>());
    writeln!(text, "status {}", ran.status.code().unwrap()).unwrap();
    for (sign, output) in [("output", &ran.stdout), ("error", &ran.stderr)] {
        if !output.is_empty() {
            writeln!(text, "--- {sign}").unwrap();
            text.push_str(std::str::from_utf8(output).unwrap());
        }
    }
    let mut text = without_hints(text);
    if !text.ends_with('\n') {
        text.push_str("\n(no end of line)\n");
    }
    text
}

/// Returns an argument as a shell takes it.
fn shown(argument: &str) -> String {
    let is_plain = !argument.is_empty() && !argument.contains([' ', '\'', '*', '$']);
    if is_plain { format!(" {argument}") } else { format!(" '{argument}'") }
}
