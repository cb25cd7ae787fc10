//! What is wrong with a site file, each at its place, all at once.

use std::fmt;

use serde::Serialize;

/// More problems than this are counted, not listed.
pub const PROBLEMS_MAX: usize = 200;

/// A place in a site file, written `site.toml:9:10: `partition.axis.vcr.cpus``.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// The name of the file as given to [`read`](crate::read).
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The dotted path of the key, arrays by the name of the element where it has one; empty where
    /// the whole file is meant.
    pub key: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)?;
        if !self.key.is_empty() {
            write!(f, ": `{}`", self.key)?;
        }
        Ok(())
    }
}

/// One thing that is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// What is wrong: lower case, without a final stop.
    pub problem: String,
    /// What would be right.
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.problem, self.remedy)
    }
}

/// Everything that is wrong with a site file: never empty, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problems {
    problems: Vec<Problem>,
    left_out: usize,
}

impl Problems {
    /// Sorts the problems by place; `left_out` counts those beyond [`PROBLEMS_MAX`].
    ///
    /// # Panics
    /// Where there is no problem: that would be an `Err` that says nothing.
    pub(crate) fn new(mut problems: Vec<Problem>, left_out: usize) -> Self {
        assert!(!problems.is_empty(), "a refused site file has a problem");
        problems.sort();
        problems.dedup();
        Self { problems, left_out }
    }

    /// The problems, in the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.problems.iter()
    }

    /// How many were found beyond those listed.
    pub const fn left_out(&self) -> usize {
        self.left_out
    }
}

impl<'p> IntoIterator for &'p Problems {
    type Item = &'p Problem;
    type IntoIter = std::slice::Iter<'p, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        if self.left_out > 0 {
            write!(f, "\n… and {} more", self.left_out)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Something that is allowed and may still surprise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Remark {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// What to know, and what to do if it isn't wanted.
    pub remark: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.remark)
    }
}
