//! Patterns that choose variables: `servo_P.*`, `servo_DW.filter[*]`, `*_U.position`.
//!
//! A pattern is a path whose names may hold wildcards: `*` stands for any characters, `?` for one;
//! an index may be `*` as a whole. It matches part by part, so a `*` never crosses a `.` or a `[`.
//! A pattern chooses what it matches **and everything inside of it**: `servo_P` chooses all
//! parameters.

use std::fmt;

use crate::symbols::path::{self, Step};

/// Which variables are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    parts: Vec<PathPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathPart {
    /// A name, perhaps with wildcards.
    Name(String),
    /// An element of an array.
    Index(u64),
    /// All elements of an array.
    AnyIndex,
}

/// A pattern that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{pattern}` is no pattern: at position {at} {problem}; write it like `servo_P.*` or \
     `servo_DW.filter[*]`"
)]
pub struct PatternError {
    /// The pattern as it was given.
    pub pattern: String,
    /// Position in the pattern, counted in bytes from 0.
    pub at: usize,
    /// The problem, as the rest of a sentence.
    pub problem: String,
}

impl Pattern {
    /// Parses a pattern such as `servo_P.*`.
    ///
    /// # Errors
    /// [`PatternError`].
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let error = |at, problem: &str| PatternError {
            pattern: text.chars().take(path::PATH_BYTES_MAX).collect(),
            at,
            problem: problem.to_owned(),
        };
        let steps = path::steps(text).map_err(|(at, problem)| error(at, problem))?;
        let parts = steps.into_iter().map(|step| match step {
            Step::Name(name) => Ok(PathPart::Name(name.to_owned())),
            Step::Index("*") => Ok(PathPart::AnyIndex),
            Step::Index(index) => index.parse().map(PathPart::Index).map_err(|_| {
                let at = index.as_ptr() as usize - text.as_ptr() as usize;
                error(at, "an index is neither a number nor `*`")
            }),
        });
        Ok(Self { text: text.to_owned(), parts: parts.collect::<Result<_, _>>()? })
    }

    /// The part at this depth; the root is at depth 0. `None` where the pattern has ended and so
    /// everything is chosen.
    pub(super) fn part(&self, depth: usize) -> Option<&PathPart> {
        self.parts.get(depth)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl std::str::FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        Self::parse(text)
    }
}

/// Returns `true` if a name is of the form of a pattern with `*` and `?`. Linear in both but for
/// the product of their lengths: each `*` is tried again from its latest start only.
pub(crate) fn matches_name(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at_pattern, mut at_name) = (0, 0);
    let mut latest_star: Option<(usize, usize)> = None;
    while at_name < name.len() {
        match pattern.get(at_pattern) {
            Some(b'*') => {
                latest_star = Some((at_pattern, at_name));
                at_pattern += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[at_name] => {
                at_pattern += 1;
                at_name += 1;
            }
            _ => match latest_star {
                Some((star, start)) => {
                    latest_star = Some((star, start + 1));
                    at_pattern = star + 1;
                    at_name = start + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at_pattern..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_characters() {
        for (pattern, name, matches) in [
            ("*", "", true),
            ("servo_*", "servo_P", true),
            ("servo_*", "turbine_P", false),
            ("*_P", "servo_P", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("abc", "abcd", false),
        ] {
            assert_eq!(matches_name(pattern, name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn a_broken_pattern_names_its_place() {
        let error = Pattern::parse("servo_DW.filter[x]").unwrap_err();
        assert_eq!(error.at, 16);
        assert!(Pattern::parse("servo_DW.").is_err());
    }
}
