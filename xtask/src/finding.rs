//! A place where the house departs from its rules.

use std::fmt;

/// One departure from a rule, with what would put it right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Path below the root of the repository, with `/` between its parts.
    pub(crate) path: String,
    /// Line, from 1.
    pub(crate) line: usize,
    /// The rule's name, as waivers name it.
    pub(crate) rule: &'static str,
    /// The departure from a rule.
    pub(crate) what: String,
    /// The remedy, as an imperative sentence.
    pub(crate) remedy: String,
}

impl Finding {
    /// A finding in line `line` of `path`.
    pub(crate) fn new(
        rule: &'static str,
        path: &str,
        line: usize,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { path: path.to_owned(), line, rule, what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, rule, what, remedy } = self;
        write!(f, "{path}:{line}: {rule}: {what}; {remedy}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_place_rule_fault_and_remedy() {
        let finding = Finding::new("length", "a/b.rs", 7, "it has 601 lines", "split it");
        assert_eq!(finding.to_string(), "a/b.rs:7: length: it has 601 lines; split it");
    }
}
