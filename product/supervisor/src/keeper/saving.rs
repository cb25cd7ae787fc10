//! The retained values of one partition: from its exchange to disk, and back into a build.
//!
//! The partition writes them into its exchange in every cycle. From there they go to their file ten
//! times a second, where they have changed, and once a second the disk is waited for. So a
//! partition that dies loses nothing, a supervisor that dies loses 100 ms at most, and a machine
//! that dies about 1 s.

use std::time::{Duration, Instant};

use quietcore_assembly::Staged;
use quietcore_exchange::{Assignment, Held, RetainReader};
use quietcore_program::retain::RetainEntry;
use quietcore_scan::process::job::Value;
use quietcore_scan::stage::DataRange;
use quietcore_units::Causes;
use quietcore_wording::list;

use crate::control::Restart;
use crate::keeper::Setup;
use crate::retained::{Mismatch, RetainError, RetainFiles, Snapshot, Variable, match_variables};
use crate::world::World;

/// Time between two writes of the values to their file.
pub(super) const SAVE_EVERY: Duration = Duration::from_millis(100);
/// Time between two waits for the disk, since each is slow and wears it.
const KEEP_EVERY: Duration = Duration::from_secs(1);

/// Limit of the variables that a remark names.
const NAMED_MAX: usize = 3;

/// The retained values of a partition.
pub(crate) struct Saving {
    files: RetainFiles,
    /// The newest values, as they were for some build.
    newest: Option<Snapshot>,
    /// Number of the snapshot in the exchange that was saved last.
    saved: u64,
    next: Instant,
    /// Instant at which the disk is waited for next; at once the first time.
    keep_at: Instant,
    /// Safety of the newest values.
    stored: Stored,
    buffer: Vec<u8>,
    /// Cycle in which variables were released last: values retained before it are forced ones.
    released: u64,
    /// Forces until that cycle, and the first cycle of which they are those; `None` if they are not
    /// known.
    forced_before: Option<(u64, Vec<Held>)>,
}

/// The safety of values against loss.
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
    /// Reads the values in the partition's state folder, which must fit the build.
    pub(crate) fn open(setup: &Setup, first: &Staged, world: &dyn World) -> Result<Self, String> {
        let name = &setup.partition.name;
        let (files, newest) = if setup.warm {
            RetainFiles::open(world.storage(), &setup.state_folder)
                .map_err(|error| format!("partition `{name}`: {}", Causes(&error)))?
        } else {
            (RetainFiles::begin_anew(world.storage(), &setup.state_folder), None)
        };
        if let Some(snapshot) = &newest {
            let changed = match_variables(snapshot, &variables(&first.retained)).changed;
            if !changed.is_empty() {
                return Err(format!("partition `{name}`: {}", Mismatch(changed)));
            }
        }
        // What was read may not be on the disk itself yet.
        let stored = Stored::Written;
        let now = world.now();
        Ok(Self {
            files,
            newest,
            saved: 0,
            next: now,
            keep_at: now,
            stored,
            buffer: Vec::new(),
            released: 0,
            forced_before: None,
        })
    }

    /// Forgets the values that a restart does not take over.
    pub(crate) fn begin(&mut self, how: Restart) {
        if how != Restart::Warm {
            self.newest = None;
        }
        if how == Restart::Origin {
            // What can't be removed is overwritten by the next snapshot.
            let _ = self.files.forget();
        }
    }

    /// Returns the values for a build, those whose name and type it has, and a line for each that
    /// has another type there.
    pub(crate) fn values(&self, staged: &Staged) -> (Vec<Value>, Vec<String>) {
        match &self.newest {
            Some(snapshot) => values_of(snapshot, &staged.retained),
            None => (Vec::new(), Vec::new()),
        }
    }

    /// Returns `true` if it is time to save values.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now >= self.next
    }

    /// Takes note that variables were released in a cycle, and of the forces before it, where they
    /// are known: a process that dies in that cycle has retained nothing since.
    pub(crate) fn note_release(&mut self, cycle: u64, held: Option<Vec<Held>>) {
        self.forced_before = held.map(|held| (self.released, held));
        self.released = self.released.max(cycle);
    }

    /// Returns `true` if all known values survive a loss of power.
    pub(crate) fn is_settled(&self) -> bool {
        self.newest.is_none() || self.stored == Stored::Kept
    }

    /// Takes the values from the exchange, if there is one, and brings them to their files: to the
    /// disk itself if it is time for that or `at_once`. Variables that are `forced` are retained as
    /// they were before the force; nothing is taken where it is not known which these are.
    pub(crate) fn save(
        &mut self,
        reader: Option<&RetainReader<'_>>,
        current: &Staged,
        forced: impl Fn() -> Option<Vec<Held>>,
        now: Instant,
        at_once: bool,
    ) -> Result<(), String> {
        self.next = now + SAVE_EVERY;
        if let Some(reader) = reader.filter(|_| !current.retained.is_empty()) {
            self.read(reader, current, forced);
        }
        self.store(now, at_once).map_err(|error| Causes(&error).to_string())
    }

    fn read(
        &mut self,
        reader: &RetainReader<'_>,
        current: &Staged,
        forced: impl Fn() -> Option<Vec<Held>>,
    ) {
        let before = forced();
        self.buffer.resize(current.stage.retained_bytes(), 0);
        let Ok(Some(found)) = reader.read(&mut self.buffer) else { return };
        let fits = found.generation == current.stage.generation && found.bytes == self.buffer.len();
        // Where a force began or ended meanwhile, nobody knows which value was read.
        let forced = forced().filter(|forced| before.as_ref() == Some(forced));
        let forced = self.forces_of(found.cycle, forced);
        let Some(forced) = forced.filter(|_| fits) else { return };
        give_back(&forced, &current.retained, &mut self.buffer);
        if found.number != self.saved {
            self.saved = found.number;
            self.take(variables(&current.retained));
        }
    }

    /// Returns the forces that the values of a cycle were retained with, if it is known: those of
    /// `now`, or those from before variables were released.
    fn forces_of(&self, cycle: u64, now: Option<Vec<Held>>) -> Option<Vec<Held>> {
        if cycle >= self.released {
            return now;
        }
        let (since, held) = self.forced_before.as_ref()?;
        (cycle >= *since).then(|| held.clone())
    }

    /// Makes the content of the buffer the newest values, if it differs from them.
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
        let keep = at_once || !self.files.is_sure() || now >= self.keep_at;
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

    /// Starts to count anew, as a new exchange does with its snapshots.
    pub(crate) fn new_exchange(&mut self) {
        self.saved = 0;
        self.released = 0;
        self.forced_before = None;
    }
}

/// Lists retained variables that begin with another value than the program's own: the first three
/// names, and the number of further ones. Returns `None` if all begin as the program says.
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

/// Lists the first three names in words, and the number of further ones.
pub(super) fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    let named = list(names.iter().copied().take(NAMED_MAX));
    match names.len() {
        0..=NAMED_MAX => named,
        many => format!("{named} and {} more", many - NAMED_MAX),
    }
}

/// Replaces the values of forced variables in a snapshot of retained values by those from before
/// the force.
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
        Value { place: DataRange { offset, bytes }, bytes: restored.value.to_vec() }
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
mod tests;
