//! The end of a command: its exit status, or its failure.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use quietcore_record::verdict::Verdict;
use quietcore_units::Causes;

/// The outcome of a command that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Passed, or done if there is nothing to pass. Exit status 0.
    Done,
    /// Failed or not proven. Exit status 1.
    NotPassed,
}

impl Status {
    /// Returns the status of what was asked for, which has passed or not.
    pub(crate) fn of(is_passed: bool) -> Self {
        if is_passed { Self::Done } else { Self::NotPassed }
    }
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
    /// Returns a failure with these words; several problems take a line each.
    pub(crate) fn new(words: impl fmt::Display) -> Self {
        Self(words.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Puts the whole chain of causes into one line.
impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(format!("quietcore: {}", Causes(&error)))
    }
}
