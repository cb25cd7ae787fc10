//! Files in memory that fail by chance, die between two steps, and lose what no disk has.
//!
//! ```text
//! name ──► content          as processes see it
//! durable name ──► content  as it is after a loss of power: whole where it was synchronised, else
//!                           whole, cut off or empty
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use quietcore_units::Nanos;

use super::chance::Chance;
use super::universe::{Death, Universe};
use crate::world::Storage;
use crate::world::storage::LogLines;

/// The behaviour of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// They work as they should.
    Good,
    /// There is no room: whatever is written is cut off.
    Full,
    /// Each step on them fails.
    Failing,
    /// Each step takes its time.
    Slow,
}

/// A content, by its index in [`Files::contents`].
type Content = usize;

/// All files of a universe.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) mood: Mood,
    /// Steps that are left to a supervisor that dies within one; `None` if it won't.
    pub(super) steps_left: Option<u64>,
    /// Instant at which the supervisor died; nothing that it does takes effect since.
    pub(super) died_at: Option<Nanos>,
    contents: Vec<(Vec<u8>, bool)>,
    names: BTreeMap<PathBuf, Content>,
    durable: BTreeMap<PathBuf, Content>,
}

impl Files {
    pub(super) fn new() -> Self {
        Self {
            mood: Mood::Good,
            steps_left: None,
            died_at: None,
            contents: Vec::new(),
            names: BTreeMap::new(),
            durable: BTreeMap::new(),
        }
    }

    /// Lists the files whose names have this end, as processes see them.
    pub(super) fn ending(&self, end: &str) -> Vec<PathBuf> {
        let ends = |path: &&PathBuf| path.to_string_lossy().ends_with(end);
        self.names.keys().filter(ends).cloned().collect()
    }

    /// Plays a loss of power: what no disk has may be lost.
    pub(super) fn lose_power(&mut self, chance: &mut Chance) {
        let mut left = BTreeMap::new();
        let paths: Vec<PathBuf> = self.names.keys().chain(self.durable.keys()).cloned().collect();
        for path in paths {
            let (name, durable) = (self.names.get(&path), self.durable.get(&path));
            // A name for which no disk was waited may be there or not.
            let content = if chance.one_in(2) { name } else { durable };
            let Some(content) = content.copied() else { continue };
            let (bytes, is_synchronised) = &mut self.contents[content];
            if !*is_synchronised && !chance.one_in(3) {
                bytes.truncate(chance.below(bytes.len() as u64 + 1) as usize);
            }
            left.insert(path, content);
        }
        self.names.clone_from(&left);
        self.durable = left;
    }

    fn create(&mut self, path: &Path, bytes: &[u8], is_synchronised: bool) {
        self.contents.push((bytes.to_vec(), is_synchronised));
        self.names.insert(path.to_owned(), self.contents.len() - 1);
    }
}

/// The files of a universe, as its supervisor reaches them.
#[derive(Clone)]
pub(super) struct Store(pub(super) Weak<Universe>);

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Store")
    }
}

fn no_room() -> io::Error {
    io::ErrorKind::StorageFull.into()
}

impl Store {
    /// Takes one step, which may fail, come late, or be the one in which the supervisor dies.
    fn step<T>(&self, work: impl FnOnce(&mut Files) -> io::Result<T>) -> io::Result<T> {
        let universe = self.0.upgrade().ok_or(io::ErrorKind::NotFound)?;
        let pause = universe.with(|state| match state.files.mood {
            Mood::Slow => {
                state.tally.fault("slow step of the disk");
                state.chance.micros(100, 150_000)
            }
            Mood::Good | Mood::Full | Mood::Failing => Nanos::ZERO,
        });
        universe.pass(pause);
        universe.with(|state| {
            let is_killed = state.death != Death::InOrder && state.now >= state.life_ends;
            let files = &mut state.files;
            match &mut files.steps_left {
                Some(left) if *left > 0 && !is_killed => *left -= 1,
                None if !is_killed => {}
                _ => drop(files.died_at.get_or_insert(state.now)),
            }
            if files.died_at.is_some() {
                return Err(io::ErrorKind::Other.into());
            }
            if files.mood == Mood::Failing {
                state.tally.fault("failed step of the disk");
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            work(files)
        })
    }
}

impl Storage for Store {
    fn make_folder(&self, _: &Path) -> io::Result<()> {
        self.step(|_| Ok(()))
    }

    fn read(&self, path: &Path, _: u64) -> Result<Option<Vec<u8>>, String> {
        let universe = self.0.upgrade().ok_or("the universe has ended")?;
        Ok(universe.with(|state| {
            let files = &state.files;
            files.names.get(path).map(|content| files.contents[*content].0.clone())
        }))
    }

    fn write_anew(&self, path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
        let universe = self.0.upgrade().ok_or(io::ErrorKind::NotFound)?;
        let part = universe.with(|state| state.chance.below(bytes.len() as u64 + 1)) as usize;
        // The file is there before its bytes are, and its bytes before the disk has them.
        self.step(|files| {
            files.create(path, &bytes[..part], false);
            if files.mood == Mood::Full { Err(no_room()) } else { Ok(()) }
        })
        .inspect_err(|error| {
            if error.kind() == io::ErrorKind::StorageFull {
                universe.with(|state| state.tally.fault("file cut off on a full disk"));
            }
        })?;
        self.step(|files| {
            files.create(path, bytes, false);
            Ok(())
        })?;
        if !sync {
            return Ok(());
        }
        self.step(|files| {
            files.create(path, bytes, true);
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|files| {
            let content = files.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
            files.names.insert(to.to_owned(), content);
            Ok(())
        })
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.step(|files| {
            files.durable.retain(|path, _| path.parent() != Some(folder));
            let own = files.names.iter().filter(|(path, _)| path.parent() == Some(folder));
            files.durable.extend(own.map(|(path, content)| (path.clone(), *content)));
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(|files| match files.names.remove(path) {
            Some(_) => Ok(()),
            None => Err(io::ErrorKind::NotFound.into()),
        })
    }

    fn open_log(&self, path: &Path, _: u64) -> io::Result<(Box<dyn LogLines>, u64)> {
        let lines = self.step(|files| {
            let length =
                files.names.get(path).map_or(0, |content| files.contents[*content].0.len());
            if length == 0 {
                files.create(path, &[], false);
            }
            Ok(length as u64)
        })?;
        Ok((Box::new(Lines { store: self.clone(), path: path.to_owned() }), lines))
    }
}

/// A file for lines.
#[derive(Debug)]
struct Lines {
    store: Store,
    path: PathBuf,
}

impl LogLines for Lines {}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.store.step(|files| {
            if files.mood == Mood::Full {
                return Err(no_room());
            }
            // The content is kept short: nobody reads it, and runs are many.
            if let Some(content) = files.names.get(&self.path) {
                files.contents[*content].0.truncate(1 << 12);
                files.contents[*content].0.extend_from_slice(bytes);
            }
            Ok(bytes.len())
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the store of a universe, for users that keep it in an [`Arc`].
pub(super) fn store_of(universe: &Arc<Universe>) -> Arc<dyn Storage> {
    Arc::new(Store(Arc::downgrade(universe)))
}
