//! The table that says which tests of running sites are repeated in which surroundings.

use std::collections::BTreeMap;
use std::fs;

use crate::places::Places;

/// The table: of each program of tests, its tests and the surroundings in which each is repeated.
type Table = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// The path of the table, from the project's root.
pub(crate) const TABLE: &str = "product/supervisor/tests/surroundings.toml";

/// The tests of the supervisor that are repeated with other backends.
#[derive(Debug)]
pub(crate) struct Surroundings(Table);

impl Surroundings {
    /// # Errors
    /// The table can't be read.
    pub(crate) fn of(places: &Places) -> Result<Self, String> {
        let path = format!("{}/{TABLE}", places.root);
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        toml::from_str(&text).map(Self).map_err(|error| format!("{path}: {error}"))
    }

    /// The tests of a program that are repeated in these surroundings, in the order of their names.
    pub(crate) fn tests(&self, program: &str, surroundings: &str) -> Vec<&str> {
        let tests = self.0.get(program).into_iter().flatten();
        let within = tests.filter(|(_, all)| all.iter().any(|name| name == surroundings));
        within.map(|(test, _)| test.as_str()).collect()
    }

    /// Each pair of a program and a surrounding that the table names.
    #[cfg(test)]
    pub(crate) fn pairs(&self) -> std::collections::BTreeSet<(String, String)> {
        let pairs = self.0.iter().flat_map(|(program, tests)| {
            tests.values().flatten().map(move |name| (program.clone(), name.clone()))
        });
        pairs.collect()
    }

    /// Each program with each of its tests.
    #[cfg(test)]
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|(program, tests)| tests.keys().map(|test| (&**program, &**test)))
    }
}
