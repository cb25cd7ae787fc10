//! The retained values of one partition: from its exchange to disk, and back into a build.
//!
//! The partition writes them into its exchange in every cycle; here they go to their file ten times
//! a second where they have changed, and once a second the disk is waited for. So a partition that
//! dies loses nothing, a supervisor that dies at most 100 ms, and a machine that dies about 1 s.

use std::time::{Duration, Instant};

use quietcore_assembly::Staged;
use quietcore_exchange::{Assignment, Held, RetainReader};
use quietcore_program::retain::RetainEntry;
use quietcore_scan::process::job::Value;
use quietcore_scan::stage::Piece;
use quietcore_units::Causes;
use quietcore_wording::list;

use crate::control::Restart;
use crate::keeper::Setup;
use crate::retained::{Mismatch, RetainError, RetainFiles, Snapshot, Variable, match_variables};

/// How often the values go to their file.
const SAVE_EVERY: Duration = Duration::from_millis(100);
/// How often the disk is waited for, which is slow and wears it.
const KEEP_EVERY: Duration = Duration::from_secs(1);

/// How many variables a remark names.
const NAMED_MAX: usize = 3;

/// The retained values of a partition.
pub(crate) struct Saving {
    files: RetainFiles,
    /// The newest values, as they were for some build.
    newest: Option<Snapshot>,
    /// Number of the snapshot in the exchange that was saved last.
    saved: u64,
    next: Instant,
    /// When the disk is waited for next; at once the first time.
    keep_at: Instant,
    /// What of the newest values is in the files.
    stored: Stored,
    buffer: Vec<u8>,
    /// The cycle in which variables were released last: what was retained before it has their
    /// forced values.
    released: u64,
}

/// How sure values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    /// They are in no file.
    Not,
    /// They survive the death of every process.
    Written,
    /// They survive a loss of power.
    Kept,
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
        // What was read may not be on the disk yet, for all that is known.
        let stored = Stored::Written;
        let now = Instant::now();
        Ok(Self {
            files,
            newest,
            saved: 0,
            next: now,
            keep_at: now,
            stored,
            buffer: Vec::new(),
            released: 0,
        })
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

    /// Takes note that variables were released in a cycle.
    pub(crate) fn note_release(&mut self, cycle: u64) {
        self.released = self.released.max(cycle);
    }

    /// Takes the values from the exchange and saves them, if it is time or `at_once`. Variables
    /// that are `forced` are retained as they were before; where it is not known which are, nothing
    /// is saved.
    pub(crate) fn save(
        &mut self,
        reader: Option<&RetainReader<'_>>,
        current: &Staged,
        forced: Option<Vec<Held>>,
        at_once: bool,
    ) -> Result<(), String> {
        let Some(reader) = reader else { return Ok(()) };
        if current.retained.is_empty() || (Instant::now() < self.next && !at_once) {
            return Ok(());
        }
        let now = Instant::now();
        self.next = now + SAVE_EVERY;
        self.buffer.resize(current.stage.retained_bytes(), 0);
        let Ok(Some(found)) = reader.read(&mut self.buffer) else { return Ok(()) };
        let fits = found.generation == current.stage.generation && found.bytes == self.buffer.len();
        let Some(forced) = forced.filter(|_| fits && found.cycle >= self.released) else {
            return Ok(());
        };
        give_back(&forced, &current.retained, &mut self.buffer);
        if found.number != self.saved {
            self.saved = found.number;
            self.take(variables(&current.retained));
        }
        self.store(now, at_once).map_err(|error| Causes(&error).to_string())
    }

    /// Makes what is in the buffer the newest values, where it is others.
    fn take(&mut self, variables: Vec<Variable>) {
        let same =
            |newest: &Snapshot| newest.values == self.buffer && newest.variables == variables;
        if !self.newest.as_ref().is_some_and(same) {
            self.newest = Some(Snapshot { sequence: 0, variables, values: self.buffer.clone() });
            self.stored = Stored::Not;
        }
    }

    /// Brings the newest values to the files, as far as they are not there and it is time.
    fn store(&mut self, now: Instant, at_once: bool) -> Result<(), RetainError> {
        let Some(newest) = &self.newest else { return Ok(()) };
        let keep = at_once || now >= self.keep_at;
        match self.stored {
            Stored::Kept => {}
            Stored::Written if !keep => {}
            Stored::Not if !keep => {
                self.files.write(&newest.variables, &newest.values)?;
                self.stored = Stored::Written;
            }
            Stored::Not | Stored::Written => {
                self.keep_at = now + KEEP_EVERY;
                self.files.keep(&newest.variables, &newest.values)?;
                self.stored = Stored::Kept;
            }
        }
        Ok(())
    }

    /// A new exchange counts its snapshots anew.
    pub(crate) fn new_exchange(&mut self) {
        self.saved = 0;
        self.released = 0;
    }
}

/// The names of retained variables that begin with another value than the program's own, the first
/// three and how many more; `None` where all begin as the program says.
pub(crate) fn unlike_initial(staged: &Staged, values: &[Value]) -> Option<String> {
    let initial = staged.build.initial_data().ok()?;
    let begins_as_built = |value: &Value| {
        let first = value.place.offset as usize;
        initial.get(first..first + value.bytes.len()) == Some(&value.bytes[..])
    };
    let others = values.iter().filter(|value| !begins_as_built(value));
    let name = |value: &Value| {
        staged.retained.iter().find(|it| it.offset == value.place.offset).map(|it| it.path.as_str())
    };
    let names: Vec<_> = others.filter_map(name).collect();
    (!names.is_empty()).then(|| some_of(names.into_iter()))
}

/// The first three names in words, and how many more there are.
pub(super) fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    let named = list(names.iter().copied().take(NAMED_MAX));
    match names.len() {
        0..=NAMED_MAX => named,
        many => format!("{named} and {} more", many - NAMED_MAX),
    }
}

/// Puts the values that forced variables had before into a snapshot of what is retained.
fn give_back(forced: &[Held], retained: &[RetainEntry], values: &mut [u8]) {
    let mut place = 0;
    for entry in retained {
        let own = place..place + entry.bytes as usize;
        place = own.end;
        let Some(bytes) = values.get_mut(own) else { return };
        for Held { force: Assignment { target, .. }, before } in forced {
            // A force may be on one of many elements, or on some bits of a word.
            let masks = target.mask.to_le_bytes().into_iter().zip(before.to_le_bytes());
            for (offset, (mask, before)) in (target.offset..).zip(masks).take(target.bytes.into()) {
                let byte =
                    offset.checked_sub(entry.offset).and_then(|at| bytes.get_mut(at as usize));
                if let Some(byte) = byte {
                    *byte = (*byte & !mask) | (before & mask);
                }
            }
        }
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
    use quietcore_exchange::Target;

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

    /// Goal: no forced value is retained, whether it is one element of an array, some bits of a
    /// word, or lies across the border of what is retained.
    #[test]
    fn a_forced_variable_is_retained_as_it_was_before() {
        let entry = |offset, bytes| RetainEntry {
            path: "DW.some".to_owned(),
            kind: "u8[4]".to_owned(),
            offset,
            bytes,
        };
        let held = |offset, bytes, mask, before| Held {
            force: Assignment { target: Target { offset, bytes, mask }, value: 0 },
            before,
        };
        let forced = [
            held(10, 1, u64::MAX, 0x77),
            held(40, 2, 0x0ff0, 0x1234),
            held(34, 4, u64::MAX, 0xaabb_ccdd),
        ];
        let mut values = [9; 8];
        give_back(&forced, &[entry(8, 4), entry(40, 2), entry(36, 2)], &mut values);
        assert_eq!(values, [9, 9, 0x77, 9, 0x39, 0x02, 0xbb, 0xaa]);
    }

    /// Goal: the disk is spared where nothing changes, and what changed last gets there all the
    /// same. Method: the number of the snapshot in the files counts how often they were written.
    #[test]
    fn values_that_stay_are_written_once_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (files, newest) = RetainFiles::open(folder.path()).unwrap();
        let start = Instant::now();
        let mut saving = Saving {
            files,
            newest,
            saved: 0,
            next: start,
            keep_at: start,
            stored: Stored::Written,
            buffer: Vec::new(),
            released: 0,
        };
        let mut save = |millis: u64, value: u8, at_once: bool| {
            saving.buffer = vec![value];
            saving.take(vec![Variable { path: "a".into(), type_name: "u8".into(), bytes: 1 }]);
            saving.store(start + Duration::from_millis(millis), at_once).unwrap();
            let found = RetainFiles::open(folder.path()).unwrap().1.unwrap();
            assert_eq!(found.values, [value]);
            (found.sequence, saving.stored)
        };
        assert_eq!(save(0, 1, false), (1, Stored::Kept));
        assert_eq!(save(100, 1, false), (1, Stored::Kept));
        assert_eq!(save(200, 2, false), (2, Stored::Written));
        assert_eq!(save(300, 2, false), (2, Stored::Written));
        assert_eq!(save(1000, 2, false), (3, Stored::Kept));
        assert_eq!(save(1100, 2, true), (3, Stored::Kept));
        assert_eq!(save(1200, 3, true), (4, Stored::Kept));
    }
}
