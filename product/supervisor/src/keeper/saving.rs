//! The retained values of one partition: from its exchange to disk, and back into a build.
//!
//! The partition writes them into its exchange in every cycle; here they go to disk ten times a
//! second. So a partition that dies loses nothing, and a supervisor that dies at most 100 ms.

use std::time::{Duration, Instant};

use quietcore_assembly::Staged;
use quietcore_exchange::RetainReader;
use quietcore_program::retain::RetainEntry;
use quietcore_scan::process::job::Value;
use quietcore_scan::stage::Piece;
use quietcore_units::Causes;

use crate::control::Restart;
use crate::keeper::Setup;
use crate::retained::{Mismatch, RetainFiles, Snapshot, Variable, match_variables};

/// How often the values go to disk.
const SAVE_EVERY: Duration = Duration::from_millis(100);

/// The retained values of a partition.
pub(crate) struct Saving {
    files: RetainFiles,
    /// The newest values, as they were for some build.
    newest: Option<Snapshot>,
    /// Number of the snapshot in the exchange that was saved last.
    saved: u64,
    next: Instant,
    buffer: Vec<u8>,
}

impl Saving {
    /// The values in the partition's state folder, which must fit the build.
    pub(crate) fn open(setup: &Setup, first: &Staged) -> Result<Self, String> {
        let name = &setup.partition.name;
        let (files, newest) = if setup.warm {
            RetainFiles::open(&setup.state_folder)
                .map_err(|error| format!("partition `{name}`: {}", Causes(&error)))?
        } else {
            (RetainFiles::begin_anew(&setup.state_folder), None)
        };
        if let Some(snapshot) = &newest {
            let changed = match_variables(snapshot, &variables(&first.retained)).changed;
            if !changed.is_empty() {
                return Err(format!("partition `{name}`: {}", Mismatch(changed)));
            }
        }
        Ok(Self { files, newest, saved: 0, next: Instant::now(), buffer: Vec::new() })
    }

    /// A restart begins.
    pub(crate) fn begin(&mut self, how: Restart) {
        if how != Restart::Warm {
            self.newest = None;
        }
        if how == Restart::Origin {
            // What can't be removed is overwritten by the next snapshot.
            let _ = self.files.forget();
        }
    }

    /// The values to give to a build, those whose name and type it has, and a line for each that
    /// has another type there.
    pub(crate) fn values(&self, staged: &Staged) -> (Vec<Value>, Vec<String>) {
        match &self.newest {
            Some(snapshot) => values_of(snapshot, &staged.retained),
            None => (Vec::new(), Vec::new()),
        }
    }

    /// Takes the values from the exchange and saves them, if it is time or `at_once`.
    pub(crate) fn save(
        &mut self,
        reader: Option<&RetainReader<'_>>,
        current: &Staged,
        at_once: bool,
    ) -> Result<(), String> {
        let Some(reader) = reader else { return Ok(()) };
        if current.retained.is_empty() || (Instant::now() < self.next && !at_once) {
            return Ok(());
        }
        self.next = Instant::now() + SAVE_EVERY;
        self.buffer.resize(current.stage.retained_bytes(), 0);
        let Ok(Some(found)) = reader.read(&mut self.buffer) else { return Ok(()) };
        let fits = found.generation == current.stage.generation && found.bytes == self.buffer.len();
        if !fits || found.number == self.saved {
            return Ok(());
        }
        self.saved = found.number;
        let variables = variables(&current.retained);
        let saved = self.files.save(&variables, &self.buffer);
        self.newest = Some(Snapshot { sequence: 0, variables, values: self.buffer.clone() });
        saved.map_err(|error| Causes(&error).to_string())
    }

    /// A new exchange counts its snapshots anew.
    pub(crate) fn new_exchange(&mut self) {
        self.saved = 0;
    }
}

fn values_of(snapshot: &Snapshot, retained: &[RetainEntry]) -> (Vec<Value>, Vec<String>) {
    let matched = match_variables(snapshot, &variables(retained));
    let restored = matched.restored.iter().map(|restored| {
        let RetainEntry { offset, bytes, .. } = retained[restored.variable];
        Value { place: Piece { offset, bytes }, bytes: restored.value.to_vec() }
    });
    (restored.collect(), matched.changed)
}

fn variables(entries: &[RetainEntry]) -> Vec<Variable> {
    let of = |entry: &RetainEntry| Variable {
        path: entry.path.clone(),
        type_name: entry.kind.clone(),
        bytes: entry.bytes,
    };
    entries.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_type_is_named_and_the_others_are_given() {
        let entry = |path: &str, kind: &str, offset, bytes| RetainEntry {
            path: path.to_owned(),
            kind: kind.to_owned(),
            offset,
            bytes,
        };
        let old = [entry("DW.total", "u32", 0, 4), entry("DW.mode", "u8", 4, 1)];
        let values = vec![1, 2, 3, 4, 5];
        let snapshot = Snapshot { sequence: 1, variables: variables(&old), values };
        let new = [entry("DW.total", "f32", 16, 4), entry("DW.mode", "u8", 20, 1)];
        let (given, changed) = values_of(&snapshot, &new);
        assert_eq!(given, [Value { place: Piece { offset: 20, bytes: 1 }, bytes: vec![5] }]);
        assert_eq!(changed, ["`DW.total` was `u32`, is `f32`"]);
    }
}
