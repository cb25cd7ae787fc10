//! The table that says which tests of running sites are repeated in which surroundings.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::places::Places;

/// The table: of each program of tests, its tests and the surroundings in which each is repeated.
type Table = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// The path of the table, from the project's root.
pub(crate) const TABLE: &str = "product/supervisor/tests/surroundings.toml";

/// The tests of the supervisor that are repeated with other backends.
#[derive(Debug)]
pub(crate) struct Surroundings {
    table: Table,
    /// Programs and surroundings that steps have asked for.
    asked: RefCell<BTreeSet<(String, String)>>,
}

impl Surroundings {
    /// # Errors
    /// The table can't be read.
    pub(crate) fn of(places: &Places) -> Result<Self, String> {
        let path = format!("{}/{TABLE}", places.root);
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let table = toml::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
        Ok(Self { table, asked: RefCell::default() })
    }

    /// The tests of a program that are repeated in these surroundings, in the order of their names.
    pub(crate) fn tests(&self, program: &str, surroundings: &str) -> Vec<&str> {
        self.asked.borrow_mut().insert((program.to_owned(), surroundings.to_owned()));
        let tests = self.table.get(program).into_iter().flatten();
        let within = tests.filter(|(_, all)| all.iter().any(|name| name == surroundings));
        within.map(|(test, _)| test.as_str()).collect()
    }

    /// # Errors
    /// The table names surroundings that no step has asked for.
    pub(crate) fn check_asked(&self) -> Result<(), String> {
        let asked = self.asked.borrow();
        for (program, tests) in &self.table {
            for (test, places) in tests {
                for place in places {
                    if !asked.contains(&(program.clone(), place.clone())) {
                        return Err(format!(
                            "{TABLE}: no step runs `{program}` in `{place}`, as `{test}` wants"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Each program with each of its tests.
    #[cfg(test)]
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.table
            .iter()
            .flat_map(|(program, tests)| tests.keys().map(|test| (&**program, &**test)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surroundings_that_no_step_makes_are_refused() {
        let table = toml::from_str("[running]\na = [\"kvm\", \"contaner\"]").expect("a table");
        let surroundings = Surroundings { table, asked: RefCell::default() };
        assert_eq!(surroundings.tests("running", "kvm"), ["a"]);
        let refused = surroundings.check_asked().unwrap_err();
        assert!(refused.contains("`contaner`"), "{refused}");
        assert_eq!(surroundings.tests("running", "contaner"), ["a"]);
        assert_eq!(surroundings.check_asked(), Ok(()));
    }
}
