//! The choice of variables to be read, and their values as last read.

use std::sync::Arc;

use quietcore_exchange::DataRange;
use quietcore_program::place::{Memory, VariableLocation};
use quietcore_program::{Pattern, Value};

use super::{Monitor, MonitorError};

/// Limit of the variables that are read together.
pub const VARIABLES_MAX: usize = 100_000;

/// Longest gap between two variables that is read along, in bytes, so that one range serves both.
const GAP_BYTES_MAX: u32 = 64;

/// A variable that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Path of the variable, shared with everybody who shows it.
    pub path: Arc<str>,
    /// Location of the variable in the data, and its type.
    pub place: VariableLocation,
    /// Offset of its bytes in what was read.
    at: usize,
}

/// Variables that are read together, and their bytes as last read.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    variables: Vec<Variable>,
    ranges: Vec<DataRange>,
    bytes: Vec<u8>,
}

impl Selection {
    /// Makes a selection of these places, in this order.
    fn new(places: Vec<(String, VariableLocation)>) -> Self {
        let mut variables: Vec<Variable> = places
            .into_iter()
            .map(|(path, place)| Variable { path: path.into(), place, at: 0 })
            .collect();
        let mut order: Vec<usize> = (0..variables.len()).collect();
        order.sort_by_key(|index| variables[*index].place.offset);
        let mut ranges: Vec<DataRange> = Vec::new();
        let mut before = 0_usize;
        for index in order {
            let place = &variables[index].place;
            let (start, end) = (place.offset, place.offset.saturating_add(length(place)));
            match ranges.last_mut() {
                Some(last) if start <= end_of(last).saturating_add(GAP_BYTES_MAX) => {
                    last.bytes = last.bytes.max(end - last.offset);
                }
                _ => {
                    before += ranges.last().map_or(0, |last| last.bytes as usize);
                    ranges.push(DataRange { offset: start, bytes: end - start });
                }
            }
            let range = ranges.last().expect("one was there or was pushed");
            variables[index].at = before + (start - range.offset) as usize;
        }
        let bytes = vec![0; ranges.iter().map(|range| range.bytes as usize).sum()];
        Self { variables, ranges, bytes }
    }

    /// Returns the variables, in the order in which they were chosen.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns the value of a variable as it was last read.
    pub fn value(&self, variable: &Variable) -> Value {
        let bytes = self.bytes.get(variable.at..).unwrap_or_default();
        variable.place.decode(bytes).expect("the ranges hold all bytes of every variable")
    }

    pub(super) fn parts(&mut self) -> (&[DataRange], &mut [u8]) {
        (&self.ranges, &mut self.bytes)
    }
}

fn length(place: &VariableLocation) -> u32 {
    u32::try_from(place.bytes()).expect("a scalar has at most 8 bytes")
}

fn end_of(range: &DataRange) -> u32 {
    range.offset.saturating_add(range.bytes)
}

impl Monitor {
    /// Chooses variables by path or pattern; each once, in the order of the patterns.
    ///
    /// # Errors
    /// [`MonitorError`] when one of them chooses nothing, with the nearest names, or when all
    /// choose more than [`VARIABLES_MAX`].
    pub fn select(&self, patterns: &[String]) -> Result<Selection, MonitorError> {
        let mut places: Vec<(String, VariableLocation)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for text in patterns {
            let refuse = |problem: String| MonitorError::Pattern { pattern: text.clone(), problem };
            let pattern = Pattern::parse(text).map_err(|error| refuse(error.to_string()))?;
            let mut chosen = 0;
            let leaves = self.symbols().leaves(Some(&pattern), VARIABLES_MAX + 1);
            for (path, place) in leaves.filter(|(_, place)| place.memory == Memory::Data) {
                chosen += 1;
                if seen.insert(path.clone()) {
                    places.push((path, place));
                }
            }
            if chosen == 0 {
                return Err(self.why_nothing(text).unwrap_or_else(|| {
                    refuse(
                        "no variable is called so; `quietcore watch PARTITION '*' --once` \
                            lists them"
                            .to_owned(),
                    )
                }));
            }
            if places.len() > VARIABLES_MAX {
                let what = format!("more than {VARIABLES_MAX} variables; name fewer");
                return Err(refuse(what));
            }
        }
        Ok(Selection::new(places))
    }

    /// Returns the error of a path without wildcards that chooses nothing.
    fn why_nothing(&self, path: &str) -> Option<MonitorError> {
        if path.contains(['*', '?']) {
            return None;
        }
        match self.symbols().resolve(path) {
            Err(error) => Some(error.into()),
            Ok(_) => Some(MonitorError::Pattern {
                pattern: path.to_owned(),
                problem: "it is a constant of the program, which nobody changes".to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quietcore_program::place::{Access, Scalar, Scalar::Number};
    use quietcore_units::DataType::{U8, U16, U64};

    fn place(offset: u32, scalar: Scalar) -> VariableLocation {
        let access = Access::Other;
        VariableLocation { memory: Memory::Data, offset, scalar, access, bit: None, writable: true }
    }

    proptest! {
        /// Goal: whatever is chosen in whatever order, each value is the one at its place.
        /// Method: data in which every byte is its own place, copied as the exchange would.
        #[test]
        fn each_value_is_found_again(
            chosen in proptest::collection::vec((0_u32..2000, 0_usize..3), 0..40),
        ) {
            let data: Vec<u8> = (0..2008_u32).map(|index| (index * 7 % 251) as u8).collect();
            let scalars = [Number(U8), Number(U16), Number(U64)];
            let places = chosen.iter().enumerate().map(|(index, (offset, scalar))| {
                (index.to_string(), place(*offset, scalars[*scalar].clone()))
            });
            let mut selection = Selection::new(places.collect());
            let (ranges, bytes) = selection.parts();
            prop_assert!(ranges.windows(2).all(|pair| end_of(&pair[0]) < pair[1].offset));
            let mut rest = bytes;
            for range in ranges {
                let (part, after) = rest.split_at_mut(range.bytes as usize);
                part.copy_from_slice(&data[range.offset as usize..end_of(range) as usize]);
                rest = after;
            }
            prop_assert!(rest.is_empty());
            for variable in selection.variables() {
                let expected = variable.place.decode(&data[variable.place.offset as usize..]);
                prop_assert_eq!(Some(selection.value(variable)), expected);
            }
        }
    }
}
