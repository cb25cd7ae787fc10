//! Texts and stored copies for the tests of this crate.

use std::path::PathBuf;

use quietcore_oil::{Configuration, NotIncluded, Problems, Reading, read};

/// Options of a strict reading, without a tick.
pub(crate) const STRICT: Reading = Reading { strict: true, tick_ns: None };

/// Reads a text that includes nothing as `a.oil`, strictly.
pub(crate) fn read_text(text: &str) -> Result<Configuration, Problems> {
    read("a.oil", text, STRICT, &mut |_| {
        Err(NotIncluded::Missing("nothing can be included here".to_owned()))
    })
}

/// Reads such a text as those of others are read.
pub(crate) fn understand(text: &str) -> Result<Configuration, Problems> {
    let mut none = |_: &str| Err(NotIncluded::Missing("nothing can be included here".to_owned()));
    read("a.oil", text, Reading::default(), &mut none)
}

/// Objects within a CPU; the first of them stands in line 2.
pub(crate) fn whole(objects: &str) -> String {
    format!("OIL_VERSION = \"2.5\"; CPU c {{ OS k;\n{objects}\n}};\n")
}

/// Reads a text without problems.
#[track_caller]
pub(crate) fn accept(text: &str) -> Configuration {
    read_text(text).unwrap_or_else(|problems| panic!("{problems}\n{text:.2000}"))
}

/// Reads objects without problems.
#[track_caller]
pub(crate) fn accept_objects(objects: &str) -> Configuration {
    accept(&whole(objects))
}

/// All problems of a text.
#[track_caller]
pub(crate) fn problems(text: &str) -> String {
    match read_text(text) {
        Ok(_) => panic!("no problem is found in\n{text:.2000}"),
        Err(problems) => problems.to_string(),
    }
}

/// A file of the repository.
pub(crate) fn repository_file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A file that the tests have stored.
pub(crate) fn stored(name: &str) -> String {
    let path = repository_file("logic/oil/tests/stored").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares a text with its stored copy. With `QUIETCORE_STORE=1` it stores the text in its place.
#[track_caller]
pub(crate) fn assert_stored(path: &str, text: &str) {
    let path = repository_file(path);
    if std::env::var_os("QUIETCORE_STORE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        stored,
        text,
        "{} differs; if the new text is right, run the test with QUIETCORE_STORE=1",
        path.display()
    );
}
