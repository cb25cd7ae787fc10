//! The rows of a trace, in chunks that are sent and kept as they are.

use std::sync::Arc;

use quietcore_api::v1;
use quietcore_program::place::Scalar;
use quietcore_record::trace::{Moment, Number};
use quietcore_supervisor::recording::Column;

/// Rows of a chunk: one of 64 variables has some 300 kB, of the 4 MiB that clients take.
const CHUNK_ROWS: usize = 500;

/// Rows as they come, and the windows that they belong to.
#[derive(Debug, Default)]
pub(super) struct Rows {
    variables: usize,
    full: Vec<Arc<v1::TraceRows>>,
    last: v1::TraceRows,
    windows: Vec<v1::TraceWindow>,
}

impl Rows {
    /// Begins rows of so many values.
    pub(super) fn of(variables: usize) -> Self {
        Self { variables, ..Self::default() }.with_chunk(0)
    }

    fn with_chunk(mut self, first_row: u64) -> Self {
        self.begin_chunk(first_row);
        self
    }

    fn begin_chunk(&mut self, first_row: u64) {
        let columns = vec![v1::TraceValues::default(); self.variables];
        self.last = v1::TraceRows { first_row, columns, ..v1::TraceRows::default() };
    }

    /// Returns the number of rows.
    pub(super) fn count(&self) -> u64 {
        self.last.first_row + self.last.cycles.len() as u64
    }

    /// Returns the windows that have begun.
    pub(super) fn windows(&self) -> &[v1::TraceWindow] {
        &self.windows
    }

    /// Takes note that the next row begins a window.
    pub(super) fn begin_window(&mut self, trigger_cycle: u64, before: u64) {
        let first_row = self.count();
        self.windows.push(v1::TraceWindow { first_row, before, trigger_cycle });
    }

    /// Takes a row, of which each column has the value of its own type.
    pub(super) fn push(&mut self, moment: &Moment, values: &[Number]) {
        if self.last.cycles.len() == CHUNK_ROWS {
            let next = self.count();
            self.full.push(Arc::new(std::mem::take(&mut self.last)));
            self.begin_chunk(next);
        }
        if moment.lost_before > 0 {
            let gap = v1::TraceGap { row: self.count(), lost: moment.lost_before };
            self.last.gaps.push(gap);
        }
        self.last.cycles.push(moment.cycle);
        self.last.times_ns.push(moment.monotonic_ns);
        for (column, value) in self.last.columns.iter_mut().zip(values) {
            match *value {
                Number::Bool(value) => column.booleans.push(value),
                Number::Signed(value) => column.signed.push(value),
                Number::Unsigned(value) => column.unsigned.push(value),
                Number::Single(value) => column.singles.push(value),
                Number::Double(value) => column.doubles.push(value),
            }
        }
    }

    /// Returns all chunks as they are now.
    pub(super) fn chunks(&self) -> Vec<Arc<v1::TraceRows>> {
        let mut chunks = self.full.clone();
        if !self.last.cycles.is_empty() {
            chunks.push(Arc::new(self.last.clone()));
        }
        chunks
    }
}

/// Describes a column in the words of the contract.
pub(super) fn variable(column: &Column) -> v1::TraceVariable {
    let names = match &column.scalar {
        Scalar::Enum(names) => names.values.as_slice(),
        Scalar::Number(_) | Scalar::Address => &[],
    };
    let name = |(name, number): &(String, i64)| v1::EnumerationValue {
        number: *number,
        name: name.clone(),
    };
    v1::TraceVariable {
        path: column.path.clone(),
        r#type: column.scalar.to_string(),
        names: names.iter().map(name).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(cycle: u64, lost_before: u64) -> Moment {
        Moment { cycle, monotonic_ns: cycle * 1000, seconds: 0.0, lost_before }
    }

    #[test]
    fn rows_are_numbered_through_all_chunks_and_gaps_and_windows_name_theirs() {
        let mut rows = Rows::of(2);
        let count = 2 * CHUNK_ROWS as u64 + 3;
        for cycle in 0..count {
            if cycle == 501 {
                rows.begin_window(501, 1);
            }
            let lost = u64::from(cycle == 502) * 7;
            rows.push(&moment(cycle, lost), &[Number::Bool(true), Number::Double(0.5)]);
        }
        assert_eq!(rows.count(), count);
        let chunks = rows.chunks();
        let first: Vec<u64> = chunks.iter().map(|chunk| chunk.first_row).collect();
        assert_eq!(first, [0, 500, 1000]);
        assert_eq!(chunks[2].cycles, [1000, 1001, 1002]);
        assert_eq!(chunks[2].columns[0].booleans, [true; 3]);
        assert_eq!(chunks[2].columns[1].doubles, [0.5; 3]);
        assert_eq!(chunks[1].gaps, [v1::TraceGap { row: 502, lost: 7 }]);
        let window = v1::TraceWindow { first_row: 501, before: 1, trigger_cycle: 501 };
        assert_eq!(rows.windows(), [window]);
    }

    #[test]
    fn nothing_recorded_is_no_chunk() {
        assert!(Rows::of(1).chunks().is_empty());
    }
}
