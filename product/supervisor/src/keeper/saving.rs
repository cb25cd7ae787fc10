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
use crate::retained::{RetainFiles, Snapshot, Variable, match_variables};

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
            match_variables(snapshot, &variables(&first.retained))
                .map_err(|error| format!("partition `{name}`: {error}"))?;
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

    /// The values to give to a build: those whose name and type it has.
    pub(crate) fn values(&self, staged: &Staged) -> Vec<Value> {
        let Some(snapshot) = &self.newest else { return Vec::new() };
        let variables = variables(&staged.retained);
        // A mismatch was refused where a person could hear it; here only what fits is given.
        let Ok(matched) = match_variables(snapshot, &variables) else { return Vec::new() };
        let restored = matched.restored.iter().map(|restored| {
            let RetainEntry { offset, bytes, .. } = staged.retained[restored.variable];
            Value { place: Piece { offset, bytes }, bytes: restored.value.to_vec() }
        });
        restored.collect()
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

fn variables(entries: &[RetainEntry]) -> Vec<Variable> {
    let of = |entry: &RetainEntry| Variable {
        path: entry.path.clone(),
        type_name: entry.kind.clone(),
        bytes: entry.bytes,
    };
    entries.iter().map(of).collect()
}
