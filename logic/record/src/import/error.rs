//! The problems of an imported file, each with its place.

use std::fmt;

/// Problems that are named one by one; further ones are only counted.
const PROBLEMS_SHOWN: usize = 20;

/// Problems beyond which a file isn't read any further.
const PROBLEMS_COUNTED: usize = 1_000;

/// The longest piece of the file that an error repeats, in characters.
const QUOTED_CHARS: usize = 40;

/// One problem of an imported file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The fault, and what would be right.
    pub what: String,
}

/// The reason why a file was not imported: every problem, one a line, as `file:line:column:
/// problem`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ImportError {
    /// The file as the caller named it.
    pub file: String,
    /// The problems, in the order of the file.
    pub problems: Vec<Problem>,
    /// Number of problems beyond those.
    pub more: usize,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Problem { line, column, what }) in self.problems.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{}:{line}:{column}: {what}", self.file)?;
        }
        if self.more > 0 {
            write!(f, "\n{}: and {} more problems", self.file, self.more)?;
        }
        Ok(())
    }
}

/// The problems found so far.
#[derive(Debug)]
pub(crate) struct Problems {
    error: ImportError,
}

impl Problems {
    pub(crate) fn new(file: &str) -> Self {
        Self { error: ImportError { file: file.to_owned(), problems: Vec::new(), more: 0 } }
    }

    /// Adds a problem at line and column.
    pub(crate) fn at(&mut self, (line, column): (usize, usize), what: impl Into<String>) {
        if self.error.problems.len() < PROBLEMS_SHOWN {
            self.error.problems.push(Problem { line, column, what: what.into() });
        } else {
            self.error.more += 1;
        }
    }

    /// Returns `true` if further problems would tell nobody anything.
    pub(crate) fn are_enough(&self) -> bool {
        self.error.more >= PROBLEMS_COUNTED
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.error.problems.is_empty()
    }

    /// Returns the value, unless there was a problem.
    pub(crate) fn unless_any<T>(self, value: T) -> Result<T, ImportError> {
        if self.is_empty() { Ok(value) } else { Err(self.error) }
    }

    pub(crate) fn into_error(self) -> ImportError {
        assert!(!self.is_empty(), "an error has a problem");
        self.error
    }
}

/// Returns a piece of the file for an error text: short, and without control characters.
pub(crate) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(QUOTED_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("`{}`", short.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_named_and_the_rest_counted() {
        let mut problems = Problems::new("a.txt");
        for line in 1..=25 {
            problems.at((line, 2), "wrong; right");
        }
        let text = problems.into_error().to_string();
        assert!(text.starts_with("a.txt:1:2: wrong; right\na.txt:2:2: "));
        assert!(text.ends_with("a.txt: and 5 more problems"));
    }

    #[test]
    fn quoted_text_is_short_and_harmless() {
        assert_eq!(quoted("a\u{1b}[2J"), "`a\\u{1b}[2J`");
        assert_eq!(quoted(&"x".repeat(100)).chars().count(), QUOTED_CHARS + 3);
    }
}
