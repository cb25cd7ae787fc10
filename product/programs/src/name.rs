//! The names that programs and their files may have.
//!
//! A name is checked before anything is written by it, and what was checked is a type: its path has
//! plain parts only, so that it stays below the folder that it is joined to.

use std::fmt;
use std::path::{Path, PathBuf};

use quietcore_program::build::RECEIVED_MARK;

/// The longest name of a file with its folders, in bytes.
pub const NAME_BYTES_MAX: usize = 1024;
/// The longest part of it, in bytes.
pub const PART_BYTES_MAX: usize = 255;
/// The most folders in each other.
pub const DEPTH_MAX: usize = 16;
/// The longest name of a program, in bytes.
pub const PROGRAM_BYTES_MAX: usize = 64;

/// The rule that a name breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameProblem {
    /// Nothing is left of it without slashes and `.`.
    Empty,
    /// It is longer than [`NAME_BYTES_MAX`], or a part of it than [`PART_BYTES_MAX`].
    Long,
    /// It begins at the root.
    Absolute,
    /// It leads out of its folder.
    Upwards,
    /// It has control characters, such as a newline.
    Control,
    /// It has a backslash, which is a separator elsewhere.
    Backslash,
    /// It is not UTF-8.
    NoText,
    /// It has more than [`DEPTH_MAX`] folders.
    Deep,
    /// It is used by Quietcore.
    Reserved,
    /// Another file or folder has it.
    Twice,
}

impl fmt::Display for NameProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("is no name of a file"),
            Self::Long => write!(
                f,
                "is too long; a name has up to {NAME_BYTES_MAX} bytes, each part up to \
                 {PART_BYTES_MAX}"
            ),
            Self::Absolute => f.write_str("begins at the root; give names relative to the folder"),
            Self::Upwards => f.write_str("leads out of the folder by `..`"),
            Self::Control => f.write_str("has a control character, such as a newline"),
            Self::Backslash => f.write_str("has a backslash; write `/` between folders"),
            Self::NoText => f.write_str("is not UTF-8"),
            Self::Deep => write!(f, "lies below more than {DEPTH_MAX} folders"),
            Self::Reserved => f.write_str("is a name that Quietcore uses itself"),
            Self::Twice => f.write_str("is there twice"),
        }
    }
}

/// A name that was checked: relative, of plain parts, below its folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryName(String);

impl EntryName {
    /// Checks a name as an archive has it; `.` and what is empty between slashes are left out.
    ///
    /// # Errors
    /// [`NameProblem`].
    pub fn check(bytes: &[u8]) -> Result<Self, NameProblem> {
        let name = std::str::from_utf8(bytes).map_err(|_| NameProblem::NoText)?;
        if name.len() > NAME_BYTES_MAX {
            return Err(NameProblem::Long);
        }
        if name.starts_with('/') {
            return Err(NameProblem::Absolute);
        }
        if name.contains(char::is_control) {
            return Err(NameProblem::Control);
        }
        if name.contains('\\') {
            return Err(NameProblem::Backslash);
        }
        let parts: Vec<&str> =
            name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.is_empty() {
            return Err(NameProblem::Empty);
        }
        if parts.contains(&"..") {
            return Err(NameProblem::Upwards);
        }
        if parts.iter().any(|part| part.len() > PART_BYTES_MAX) {
            return Err(NameProblem::Long);
        }
        if parts.len() > DEPTH_MAX + 1 {
            return Err(NameProblem::Deep);
        }
        if parts.contains(&RECEIVED_MARK) {
            return Err(NameProblem::Reserved);
        }
        Ok(Self(parts.join("/")))
    }

    /// Returns the name, with `/` between its parts.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns its path below a folder.
    pub fn below(&self, folder: &Path) -> PathBuf {
        folder.join(&self.0)
    }
}

/// Returns `true` if a program may have this name.
pub(crate) fn is_program(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    name.len() <= PROGRAM_BYTES_MAX
        && name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_lead_elsewhere_or_mislead_are_refused() {
        for (name, problem) in [
            (&b""[..], NameProblem::Empty),
            (b"./", NameProblem::Empty),
            (b"/etc/passwd", NameProblem::Absolute),
            (b"..", NameProblem::Upwards),
            (b"a/../../b.c", NameProblem::Upwards),
            (b"a/..", NameProblem::Upwards),
            (b"a\nb.c", NameProblem::Control),
            (b"a\0b.c", NameProblem::Control),
            (b"a\x1b[31mb.c", NameProblem::Control),
            (b"..\\b.c", NameProblem::Backslash),
            (b"\xff.c", NameProblem::NoText),
            (b"a/.quietcore-received", NameProblem::Reserved),
        ] {
            assert_eq!(EntryName::check(name), Err(problem), "{}", name.escape_ascii());
        }
        assert_eq!(EntryName::check(&[b'a'; 1025]), Err(NameProblem::Long));
        assert_eq!(EntryName::check(&[b'a'; 256]), Err(NameProblem::Long));
        assert_eq!(EntryName::check("a/".repeat(18).as_bytes()), Err(NameProblem::Deep));
        for (name, kept) in
            [("./servo//servo.c", "servo/servo.c"), ("näme 🙂.h", "näme 🙂.h"), ("...", "...")]
        {
            assert_eq!(EntryName::check(name.as_bytes()).unwrap().as_str(), kept);
        }
    }

    #[test]
    fn programs_have_plain_names() {
        for good in ["servo", "Servo_2.1-a", "0"] {
            assert!(is_program(good), "{good}");
        }
        for bad in ["", ".", "..", "-a", "a/b", "a b", "a\n", "é", &"a".repeat(65)] {
            assert!(!is_program(bad), "{bad:?}");
        }
    }

    proptest! {
        /// Whatever the bytes are: a name that is taken stays below its folder.
        #[test]
        fn a_name_that_is_taken_stays_below_its_folder(
            parts in prop::collection::vec(
                prop_oneof![
                    Just("..".to_owned()), Just(".".to_owned()), Just(String::new()),
                    Just("\n".to_owned()), "[a-z]{1,4}", "\\PC{0,6}", any::<String>()
                ],
                0..20
            ),
            raw in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            for bytes in [parts.join("/").as_bytes(), &raw] {
                let Ok(name) = EntryName::check(bytes) else { continue };
                let path = name.below(Path::new("/folder"));
                let below = path.strip_prefix("/folder").unwrap();
                let mut parts = below.components();
                prop_assert!(parts.all(|part| matches!(part, Component::Normal(_))));
                prop_assert!(below.components().count() >= 1);
                prop_assert!(!name.as_str().contains(char::is_control));
                prop_assert_eq!(EntryName::check(name.as_str().as_bytes()), Ok(name.clone()));
            }
        }
    }
}
