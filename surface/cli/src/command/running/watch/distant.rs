//! Variables behind a daemon, sample by sample.
//!
//! Each sample is a call, so that it is of the cycle in which it was asked for, as on the machine
//! itself. A partition whose cycles have stopped is found here: its number of cycles stands.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quietcore_program::place::{Access, Enumeration, Scalar};
use quietcore_remote::{Reading, Remote, Variable};
use quietcore_supervisor::monitor::watch::{Row, Sample};
use quietcore_units::DataType;
use serde_json::json;

use crate::status::Failure;

/// Time without a cycle after which a partition is shown as silent.
const SILENCE: Duration = Duration::from_secs(1);

/// Variables of a partition that a daemon reads.
#[derive(Debug)]
pub(super) struct DistantWatch {
    remote: Remote,
    /// Names of site and partition, in this order.
    place: (String, String),
    patterns: Vec<String>,
    cycles: Cycles,
}

/// The last cycle that was seen, and when it rose.
#[derive(Debug)]
struct Cycles {
    last: Option<(u64, Instant)>,
}

impl Cycles {
    /// Takes note of a cycle; returns `true` if none has come for a while.
    fn is_silent(&mut self, cycle: u64, now: Instant) -> bool {
        match self.last {
            Some((last, since)) if last == cycle => now.duration_since(since) >= SILENCE,
            _ => {
                self.last = Some((cycle, now));
                false
            }
        }
    }
}

impl DistantWatch {
    pub(super) fn new(remote: Remote, place: (String, String), patterns: Vec<String>) -> Self {
        Self { remote, place, patterns, cycles: Cycles { last: None } }
    }

    /// Reads all variables; `now` dates the cycle that is seen.
    pub(super) fn sample(&mut self, now: Instant) -> Result<Sample, Failure> {
        let (site, partition) = &self.place;
        let reading = self.remote.read((site, partition), &self.patterns)?;
        let Reading { cycle, generation, consistent, variables } = reading;
        let silent = self.cycles.is_silent(cycle, now);
        let rows = variables.into_iter().map(row).collect();
        Ok(Sample { cycle, generation, consistent, silent, rows })
    }
}

fn row(variable: Variable) -> Row {
    let Variable { path, value, kind, role, forced } = variable;
    let access = ACCESSES.into_iter().find(|it| it.to_string() == role);
    Row {
        path: path.into(),
        value,
        kind: scalar(kind),
        access: access.unwrap_or(Access::Other),
        writable: true,
        forced,
    }
}

const ACCESSES: [Access; 6] = [
    Access::Input,
    Access::Output,
    Access::Parameter,
    Access::Signal,
    Access::State,
    Access::Other,
];

/// Returns the type of this name; names that are no number's are those of enumerations.
fn scalar(name: String) -> Scalar {
    if let Ok(number) = serde_json::from_value::<DataType>(json!(name)) {
        return Scalar::Number(number);
    }
    if name == Scalar::Address.to_string() {
        return Scalar::Address;
    }
    Scalar::Enum(Arc::new(Enumeration { name, bytes: 4, signed: true, values: Vec::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_the_name_that_the_daemon_gave_it() {
        for name in ["f64", "bool", "address", "Mode", "enum"] {
            assert_eq!(scalar(name.to_owned()).to_string(), name);
        }
        assert_eq!(scalar("f32".to_owned()), Scalar::Number(DataType::F32));
    }

    #[test]
    fn cycles_that_stand_for_a_second_are_silent() {
        let begin = Instant::now();
        let mut cycles = Cycles { last: None };
        assert!(!cycles.is_silent(7, begin));
        assert!(!cycles.is_silent(7, begin + SILENCE / 2));
        assert!(cycles.is_silent(7, begin + SILENCE));
        assert!(!cycles.is_silent(8, begin + SILENCE));
    }
}
