//! Files in the styles of other implementations, and what is said of each.
//!
//! `tests/foreign/` holds them: written for these tests after what ERIKA 2 and 3, Trampoline,
//! nxtOSEK, the CIAA firmware and dOSEK are given. `tests/stored/foreign.txt` has what is said.

mod understood;

use std::fs;

use quietcore_oil::{Configuration, NotIncluded, Problems, Reading, decode, oil, read};

use crate::support::{STRICT, assert_stored, repository_file};

/// A file of the folder, read as a program's would be.
fn read_file(name: &str, reading: Reading) -> Result<Configuration, Problems> {
    let folder = repository_file("logic/oil/tests/foreign");
    let text = decode(fs::read(folder.join(name)).unwrap());
    read(name, &text, reading, &mut |wanted| {
        Err(NotIncluded::Missing(format!("there is no `{wanted}`")))
    })
}

fn names() -> Vec<String> {
    let entries = fs::read_dir(repository_file("logic/oil/tests/foreign")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// The configuration of a file that is accepted.
#[track_caller]
fn accepted(name: &str) -> Configuration {
    read_file(name, Reading::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Goal: each file is accepted or refused as its name says, and what is said is what is stored.
#[test]
fn files_of_others_are_accepted_and_what_is_assumed_is_said() {
    let mut said = String::new();
    let names = names();
    for name in &names {
        said.push_str(&format!("# {name}\n"));
        match read_file(name, Reading::default()) {
            Ok(configuration) => {
                assert!(!name.starts_with("refused"), "{name} is accepted");
                for remark in configuration.remarks() {
                    said.push_str(&format!("{remark}\n"));
                }
            }
            Err(problems) => {
                assert!(name.starts_with("refused"), "{name}: {problems}");
                said.push_str(&format!("{problems}\n"));
            }
        }
        said.push('\n');
    }
    assert_eq!(names.len(), 30);
    assert_stored("logic/oil/tests/stored/foreign.txt", said.trim_end());
}

#[test]
fn a_strict_reading_refuses_all_of_them() {
    for name in names() {
        assert!(read_file(&name, STRICT).is_err(), "{name}");
    }
}

/// Goal: what was understood is an application of the language itself.
/// Method: write it down, and read that strictly.
#[test]
fn what_is_understood_can_be_written_down_strictly() {
    for name in names().iter().filter(|name| !name.starts_with("refused")) {
        let text = oil(&accepted(name));
        let again =
            read("again.oil", &text, STRICT, &mut |_| Err(NotIncluded::Missing(String::new())));
        let again = again.unwrap_or_else(|problems| panic!("{name}: {problems}\n{text}"));
        assert_eq!(again.remarks(), [], "{name}");
        assert_eq!(oil(&again), text, "{name}");
    }
}
