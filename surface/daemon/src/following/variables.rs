//! The messages of a subscription: which variables it has, then what a client does not know yet.
//!
//! Each sample has a number, and each value that of the sample in which it changed last. So a
//! client that has got all up to a number needs what is younger, whatever others have got.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use quietcore_api::convert::value;
use quietcore_api::v1;
use quietcore_program::Value;
use quietcore_program::place::Scalar;
use quietcore_supervisor::monitor::watch::{Row, Sample};

use super::Deadband;

/// Followed variables as clients were told them, and when each changed, in samples from 1 on.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// The number of the last sample.
    number: u64,
    /// The sample that changed something last.
    changed_at: u64,
    /// The variables by path and type, and the sample from which on they are these.
    list: Vec<(Arc<str>, Scalar)>,
    listed_at: u64,
    described: Vec<v1::Variable>,
    /// The value of each as told last, and the sample that it is of.
    values: Vec<(Value, u64)>,
    /// Numbers of those that are forced, and since which sample these are they.
    forced: Vec<u32>,
    forced_at: u64,
    /// The last sample's word on whether cycles come.
    silent: bool,
    reading: v1::Reading,
    read_at_ns: u64,
}

impl Followed {
    /// Takes note of the next sample.
    pub(super) fn take(&mut self, sample: &Sample, deadband: Deadband) {
        self.number += 1;
        self.reading = reading(sample);
        self.read_at_ns = now_ns();
        let is_new = self.number == 1 || self.is_of_others(&sample.rows);
        if is_new {
            self.begin_list(&sample.rows);
        }
        for ((told, at), row) in self.values.iter_mut().zip(&sample.rows) {
            if deadband.is_left(told, &row.value) {
                (*told, *at) = (row.value.clone(), self.number);
                self.changed_at = self.number;
            }
        }
        let is_forced = |number: &u32| sample.rows[*number as usize].forced;
        let numbers = 0..u32::try_from(sample.rows.len()).unwrap_or(u32::MAX);
        if is_new || !numbers.clone().filter(is_forced).eq(self.forced.iter().copied()) {
            self.forced = numbers.filter(is_forced).collect();
            (self.forced_at, self.changed_at) = (self.number, self.number);
        }
        if self.silent != sample.silent {
            self.silent = sample.silent;
            self.changed_at = self.number;
        }
    }

    fn begin_list(&mut self, rows: &[Row]) {
        self.listed_at = self.number;
        self.list = rows.iter().map(|row| (Arc::clone(&row.path), row.kind.clone())).collect();
        self.described = rows.iter().map(described).collect();
        self.values = rows.iter().map(|row| (row.value.clone(), self.number)).collect();
    }

    /// Returns `true` if these are not the variables of the list.
    fn is_of_others(&self, rows: &[Row]) -> bool {
        let same = |((path, kind), row): (&(Arc<str>, Scalar), &Row)| {
            *path == row.path && *kind == row.kind
        };
        self.list.len() != rows.len() || !self.list.iter().zip(rows).all(same)
    }

    /// Returns the number of the last sample.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the number of the sample from which on the variables are these.
    pub(super) fn listed_at(&self) -> u64 {
        self.listed_at
    }

    /// Returns the variables in the order of their indices.
    pub(super) fn list(&self) -> v1::VariableList {
        v1::VariableList { variables: self.described.clone() }
    }

    /// Returns the message for a client of this list that knows the samples up to `since`, 0 for
    /// none, and from which `left_out` were kept since then; `None` if there is nothing new.
    pub(super) fn changes(&self, since: u64, left_out: u64) -> Option<v1::Sample> {
        if self.changed_at <= since {
            return None;
        }
        let young = (0..).zip(&self.values).filter(|(_, (_, at))| *at > since);
        let (indices, values) = young.map(|(index, (told, _))| (index, value(told))).unzip();
        let forced_changed = self.forced_at > since;
        Some(v1::Sample {
            reading: Some(self.reading),
            read_at_ns: self.read_at_ns,
            left_out,
            indices,
            values,
            forced_changed,
            forced: if forced_changed { self.forced.clone() } else { Vec::new() },
        })
    }
}

/// Describes a variable in the words of the contract.
pub(crate) fn described(row: &Row) -> v1::Variable {
    v1::Variable {
        path: row.path.to_string(),
        r#type: row.kind.to_string(),
        role: row.access.to_string(),
        writable: row.writable,
    }
}

/// Returns the circumstances of a sample.
pub(crate) fn reading(sample: &Sample) -> v1::Reading {
    v1::Reading {
        cycle: sample.cycle,
        generation: sample.generation,
        consistent: sample.consistent,
        silent: sample.silent,
    }
}

/// Returns nanoseconds since 1970, until the year 2554.
fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use quietcore_program::place::Access;
    use quietcore_units::DataType;

    use super::*;

    fn sample(values: &[f64]) -> Sample {
        let row = |(number, value): (usize, &f64)| Row {
            path: format!("x{number}").into(),
            value: Value::Double(*value),
            kind: Scalar::Number(DataType::F64),
            access: Access::Other,
            writable: true,
            forced: *value < 0.0,
        };
        let rows = values.iter().enumerate().map(row).collect();
        Sample { cycle: 7, generation: 1, consistent: true, silent: false, rows }
    }

    /// Returns what is followed after these samples.
    fn after(samples: &[&[f64]], deadband: Deadband) -> Followed {
        let mut followed = Followed::default();
        samples.iter().for_each(|values| followed.take(&sample(values), deadband));
        followed
    }

    #[test]
    fn the_first_message_has_all_and_the_next_what_has_changed() {
        let deadband = Deadband::new(0.5).expect("a difference");
        let mut followed = after(&[&[1.0, 2.0]], deadband);
        let first = followed.changes(0, 0).expect("a first sample");
        assert_eq!((first.indices, first.forced_changed), (vec![0, 1], true));
        followed.take(&sample(&[1.4, 2.0]), deadband);
        assert_eq!(followed.changes(1, 0), None);
        // The band is around what was told, so that a slow drift is not lost.
        followed.take(&sample(&[1.6, 2.0]), deadband);
        let next = followed.changes(2, 0).expect("it has left the band");
        assert_eq!(next.indices, [0]);
        assert_eq!(next.values, [value(&Value::Double(1.6))]);
        assert!(!next.forced_changed);
    }

    #[test]
    fn a_client_that_was_late_gets_all_that_others_got_meanwhile() {
        let followed = after(&[&[1.0, 1.0], &[2.0, 1.0], &[2.0, -3.0]], Deadband::default());
        let late = followed.changes(1, 1).expect("changes");
        assert_eq!((late.left_out, late.indices, late.forced), (1, vec![0, 1], vec![1]));
        let prompt = followed.changes(2, 0).expect("a change");
        assert_eq!((prompt.left_out, prompt.indices), (0, vec![1]));
        assert_eq!(followed.changes(3, 0), None);
    }

    #[test]
    fn a_force_is_told_when_it_begins_and_ends() {
        let mut followed = after(&[&[1.0, 1.0], &[1.0, -1.0]], Deadband::default());
        let told = followed.changes(1, 0).expect("a force");
        assert_eq!((told.forced_changed, told.forced), (true, vec![1]));
        followed.take(&sample(&[1.0, 1.0]), Deadband::default());
        let told = followed.changes(2, 0).expect("its end");
        assert_eq!((told.forced_changed, told.forced), (true, vec![]));
    }

    #[test]
    fn a_partition_that_falls_silent_is_told_once_though_no_value_changes() {
        let mut followed = after(&[&[1.0]], Deadband::default());
        let silent = Sample { silent: true, ..sample(&[1.0]) };
        followed.take(&silent, Deadband::default());
        let told = followed.changes(1, 0).expect("the silence");
        assert!(told.indices.is_empty() && told.reading.is_some_and(|it| it.silent));
        followed.take(&silent, Deadband::default());
        assert_eq!(followed.changes(2, 0), None);
    }

    #[test]
    fn other_variables_after_a_deploy_are_listed_anew() {
        let mut followed = after(&[&[1.0, 2.0], &[3.0, 4.0]], Deadband::default());
        assert_eq!(followed.listed_at(), 1);
        let mut other = sample(&[3.0, 4.0]);
        other.rows[1].kind = Scalar::Number(DataType::F32);
        followed.take(&other, Deadband::default());
        assert_eq!((followed.listed_at(), followed.list().variables.len()), (3, 2));
        followed.take(&sample(&[3.0]), Deadband::default());
        assert_eq!((followed.listed_at(), followed.list().variables.len()), (4, 1));
        assert_eq!(followed.changes(0, 0).map(|told| told.indices), Some(vec![0]));
    }
}
