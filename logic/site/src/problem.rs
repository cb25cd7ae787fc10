//! Problems of a site file, each with its position, all at once.

use std::fmt;

use quietcore_wording::FilePosition;
pub use quietcore_wording::PROBLEMS_MAX;
use serde::Serialize;

/// A place in a site file, written `site.toml:9:10: `partition.axis.vcr.cpus``.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct KeyPosition {
    /// The position of its first character; the file as given to [`read`](crate::read).
    #[serde(flatten)]
    pub position: FilePosition,
    /// The dotted path of the key, arrays by the name of the element where it has one; empty where
    /// the whole file is meant.
    pub key: String,
}

impl fmt::Display for KeyPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.position)?;
        if !self.key.is_empty() {
            write!(f, ": `{}`", self.key)?;
        }
        Ok(())
    }
}

/// One thing that is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Position of the key or value.
    #[serde(flatten)]
    pub place: KeyPosition,
    /// The problem: lower case, without a final stop.
    pub problem: String,
    /// The remedy: lower case, without a final stop.
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.problem, self.remedy)
    }
}

/// Everything that is wrong with a site file.
pub type Problems = quietcore_wording::Problems<Problem>;

/// Sorts the problems by place; `left_out` counts those beyond [`PROBLEMS_MAX`].
pub(crate) fn sorted(mut problems: Vec<Problem>, left_out: usize) -> Problems {
    problems.sort();
    problems.dedup();
    Problems::new(problems, left_out)
}

/// Something that is allowed and may still surprise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Remark {
    /// Position of the key or value.
    #[serde(flatten)]
    pub place: KeyPosition,
    /// The remark, with what to do if it isn't wanted.
    pub remark: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.remark)
    }
}
