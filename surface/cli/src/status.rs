//! How a command ends.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use quietcore_record::verdict::Verdict;
use quietcore_units::Causes;

/// A command that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Passed, or done where there is nothing to pass. Exit status 0.
    Done,
    /// Failed or not proven. Exit status 1.
    NotPassed,
}

impl From<Verdict> for Status {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Done,
            Verdict::Fail | Verdict::NotProven => Self::NotPassed,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Done => Self::SUCCESS,
            Status::NotPassed => Self::from(1),
        }
    }
}

/// A command that could not be done, in words for the person who gave it. Exit status 2.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    /// A failure with these words; several problems take a line each.
    pub(crate) fn new(words: impl fmt::Display) -> Self {
        Self(words.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The whole chain of causes in one line.
impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(format!("quietcore: {}", Causes(&error)))
    }
}
