//! Everything that is wrong with a text.

use std::fmt;

/// More problems than this are counted, not listed.
pub const PROBLEMS_MAX: usize = 200;

/// Everything that is wrong with a text: never empty, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Problems<P> {
    problems: Vec<P>,
    left_out: usize,
}

impl<P> Problems<P> {
    /// The problems in the order of the text; `left_out` counts those beyond [`PROBLEMS_MAX`].
    ///
    /// # Panics
    /// Where there is no problem: that would be an `Err` that says nothing.
    pub fn new(problems: Vec<P>, left_out: usize) -> Self {
        assert!(!problems.is_empty(), "a refused text has a problem");
        Self { problems, left_out }
    }

    /// The problems, in the order of the text; those of included files behind those of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, P> {
        self.problems.iter()
    }

    /// Returns how many were found beyond those listed.
    pub const fn left_out(&self) -> usize {
        self.left_out
    }
}

impl<'p, P> IntoIterator for &'p Problems<P> {
    type Item = &'p P;
    type IntoIter = std::slice::Iter<'p, P>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<P: fmt::Display> fmt::Display for Problems<P> {
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

impl<P: fmt::Debug + fmt::Display> std::error::Error for Problems<P> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_has_a_line_and_those_left_out_are_counted() {
        assert_eq!(Problems::new(vec!["one", "two"], 0).to_string(), "one\ntwo");
        assert_eq!(Problems::new(vec!["one"], 7).to_string(), "one\n… and 7 more");
    }
}
