//! Matches retained values with the variables of a build, by name and type. Pure.
//!
//! | the variable is | result |
//! |---|---|
//! | in both, of one type | its value is given back |
//! | in both, of different types | its value is not given, which is reported; a site stays down |
//! | new | it keeps its initial value, which is reported |
//! | gone | its value is dropped, which is reported |

use std::collections::HashMap;

use super::{Snapshot, Variable};

/// A value that is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Restored<'a> {
    /// Index of the variable in the build, from 0.
    pub(crate) variable: usize,
    /// Value, as its bytes.
    pub(crate) value: &'a [u8],
}

/// The match of a snapshot with a build.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Match<'a> {
    /// Values that are given back.
    pub(crate) restored: Vec<Restored<'a>>,
    /// Variables of the build that the snapshot does not know.
    pub(crate) new: Vec<String>,
    /// Variables of the snapshot that the build does not know.
    pub(crate) gone: Vec<String>,
    /// Variables whose type has changed, each with both types.
    pub(crate) changed: Vec<String>,
}

/// The error of retained variables whose type has changed: any choice of their values would be
/// silently wrong.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "retained values can't be given back, their types have changed: {}; start with `--cold` to \
     begin with initial values",
    .0.join(", ")
)]
pub(crate) struct Mismatch(pub Vec<String>);

/// Matches a snapshot with the retained variables of a build.
pub(crate) fn match_variables<'a>(snapshot: &'a Snapshot, build: &[Variable]) -> Match<'a> {
    let mut kept = HashMap::new();
    let mut rest = snapshot.values.as_slice();
    for variable in &snapshot.variables {
        // The sizes add up, which was checked when the snapshot was read.
        let (value, after) = rest.split_at(rest.len().min(variable.bytes as usize));
        rest = after;
        kept.insert(variable.path.as_str(), (variable, value));
    }
    let mut result = Match::default();
    for (index, variable) in build.iter().enumerate() {
        match kept.remove(variable.path.as_str()) {
            None => result.new.push(variable.path.clone()),
            Some((old, _))
                if old.type_name != variable.type_name || old.bytes != variable.bytes =>
            {
                let Variable { path, type_name, .. } = variable;
                result.changed.push(format!("`{path}` was `{}`, is `{type_name}`", old.type_name));
            }
            Some((_, value)) => result.restored.push(Restored { variable: index, value }),
        }
    }
    let is_gone = |variable: &&Variable| kept.contains_key(variable.path.as_str());
    result.gone = snapshot.variables.iter().filter(is_gone).map(|v| v.path.clone()).collect();
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(path: &str, type_name: &str, bytes: u32) -> Variable {
        Variable { path: path.to_owned(), type_name: type_name.to_owned(), bytes }
    }

    fn snapshot() -> Snapshot {
        let variables = vec![variable("a", "u16", 2), variable("b", "i8", 1)];
        Snapshot { sequence: 1, variables, values: vec![1, 2, 3] }
    }

    #[test]
    fn values_follow_their_names_and_not_their_places() {
        let snapshot = snapshot();
        let build = [variable("c", "f64", 8), variable("b", "i8", 1), variable("a", "u16", 2)];
        let found = match_variables(&snapshot, &build);
        let restored = |variable, value| Restored { variable, value };
        assert_eq!(found.restored, [restored(1, &[3][..]), restored(2, &[1, 2])]);
        assert_eq!((found.new, found.gone), (vec!["c".to_owned()], vec![]));
    }

    #[test]
    fn a_variable_that_is_gone_is_named() {
        let snapshot = snapshot();
        let found = match_variables(&snapshot, &[variable("b", "i8", 1)]);
        assert_eq!(found.gone, ["a"]);
    }

    #[test]
    fn another_type_is_not_given_and_both_are_named() {
        let snapshot = snapshot();
        let build = [variable("a", "i16", 2), variable("b", "i8", 1)];
        let found = match_variables(&snapshot, &build);
        assert_eq!(found.restored, [Restored { variable: 1, value: &[3] }]);
        let text = Mismatch(found.changed).to_string();
        assert!(text.contains("`a` was `u16`, is `i16`") && text.contains("--cold"), "{text}");
    }
}
