//! The forces of a partition, as its keeper knows them: by name.
//!
//! A force holds until somebody releases it. Its process may die meanwhile, and its program be
//! replaced; so it belongs to the keeper, who gives it to each process that it starts and to each
//! build that is swapped in. Where a build has no such variable the force ends, which is told, and
//! begins again should the build before be brought back.

use std::fmt;

use quietcore_exchange::{Assignment, Command, FORCE_LIMIT, ForceReader, Held, Target};
use quietcore_program::Symbols;
use quietcore_program::place::Scalar;
use quietcore_scan::stage::{Force, Moved};

use super::saving::some_of;
use crate::control::NotForced;

/// A variable that is held.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Forced {
    path: String,
    kind: Scalar,
    /// Where it lies in the build that runs.
    target: Target,
    value: u64,
}

/// The forces in a build.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Forces {
    held: Vec<Forced>,
    /// Those that only the build before has, as long as it may come back.
    dormant: Vec<Forced>,
}

/// The reason why a variable is not forced in a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WhyNotForced {
    /// There is no variable of this name.
    Absent,
    /// It has another type.
    OtherType { was: String, is: String },
    /// It can't be written.
    Constant,
    /// It shares a word with another forced one, and they don't lie as they did.
    Apart,
}

impl fmt::Display for WhyNotForced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("it has no such variable"),
            Self::OtherType { was, is } => write!(f, "its type was {was} and is {is}"),
            Self::Constant => f.write_str("it can't be written any more"),
            Self::Apart => f.write_str("its bits lie in another word than those forced beside it"),
        }
    }
}

impl Forces {
    /// Returns how many variables are held.
    pub(super) fn count(&self) -> usize {
        self.held.len()
    }

    /// Lists the names of the first variables, and how many more there are.
    pub(super) fn names(&self) -> String {
        some_of(self.held.iter().map(|forced| forced.path.as_str()))
    }

    /// Takes note of commands that were applied; `paths` are the names of their variables.
    pub(super) fn note(&mut self, commands: &[Command], paths: &[String], symbols: &Symbols) {
        for (index, command) in commands.iter().enumerate() {
            match command {
                Command::Force(assignment) => {
                    if let Some(path) = paths.get(index) {
                        self.force(path, assignment, symbols);
                    }
                }
                Command::Unforce(target) => self.release(target),
                Command::UnforceAll => *self = Self::default(),
                Command::Set(_) | Command::Swap { .. } => {}
            }
        }
    }

    fn force(&mut self, path: &str, assignment: &Assignment, symbols: &Symbols) {
        let Ok(place) = symbols.resolve(path) else { return };
        let Assignment { target, value } = *assignment;
        self.release(&target);
        if self.held.len() < FORCE_LIMIT {
            let forced = Forced { path: path.to_owned(), kind: place.scalar, target, value };
            self.held.push(forced);
        }
    }

    fn release(&mut self, target: &Target) {
        let is_it = |forced: &Forced| {
            let own = &forced.target;
            (own.offset, own.bytes) == (target.offset, target.bytes) && own.mask & target.mask != 0
        };
        self.held.retain(|forced| !is_it(forced));
    }

    /// Releases what is not held in `other` any more.
    pub(super) fn keep_those_of(&mut self, other: &Self) {
        let among = |list: &[Forced], path: &str| list.iter().any(|one| one.path == path);
        self.held.retain(|forced| among(&other.held, &forced.path));
        self.dormant.retain(|forced| among(&other.held, &forced.path));
    }

    /// Returns the same forces in another build, and those that it can't have.
    pub(super) fn in_build(&self, symbols: &Symbols) -> (Self, Vec<NotForced>) {
        let mut found = Self::default();
        let mut lost = Vec::new();
        for forced in self.held.iter().chain(&self.dormant) {
            match forced.in_build(symbols) {
                Ok(moved) => found.held.push(moved),
                Err(why) => {
                    let variable = forced.path.clone();
                    lost.push(NotForced { variable, why: why.to_string() });
                }
            }
        }
        (found, lost)
    }

    /// Moves them to the build that follows the one that runs. Returns the forces in it, the
    /// offsets between which they move, and those that it can't have.
    pub(super) fn in_next_build(&self, symbols: &Symbols) -> (Self, Vec<Moved>, Vec<NotForced>) {
        let mut next = Self::default();
        let mut moved: Vec<Moved> = Vec::new();
        let mut lost = Vec::new();
        for forced in &self.held {
            let to = forced.in_build(symbols).and_then(|new| {
                let Target { offset, mask, .. } = new.target;
                let from = forced.target.offset;
                let known = moved.iter().find(|moved| moved.from == from);
                // Bit fields of one word are one force of the partition.
                let stays = known.is_none_or(|known| known.to == offset);
                let same = mask == forced.target.mask && new.target.bytes == forced.target.bytes;
                if stays && same { Ok(new) } else { Err(WhyNotForced::Apart) }
            });
            match to {
                Ok(new) => {
                    moved.push(Moved { from: forced.target.offset, to: new.target.offset });
                    next.held.push(new);
                }
                Err(why) => {
                    let variable = forced.path.clone();
                    lost.push(NotForced { variable, why: why.to_string() });
                    next.dormant.push(forced.clone());
                }
            }
        }
        (next, moved, lost)
    }

    /// Forgets what only the build before had, as it does not come back.
    pub(super) fn forget_dormant(&mut self) {
        self.dormant.clear();
    }

    /// Returns the forces that a process begins with.
    pub(super) fn at_start(&self) -> Vec<Force> {
        self.held.iter().map(|forced| Force::from(forced.assignment())).collect()
    }

    /// Returns the commands, with the names of their variables, that force whatever `table`, the
    /// list of the partition, does not hold.
    pub(super) fn missing(&self, table: Option<ForceReader<'_>>) -> Vec<(Command, String)> {
        let there = held_in(table).unwrap_or_default();
        let holds = |forced: &&Forced| {
            there.iter().any(|Held { force: Assignment { target, .. }, .. }| {
                let own = forced.target;
                (target.offset, target.bytes) == (own.offset, own.bytes)
                    && target.mask & own.mask == own.mask
            })
        };
        let missing = self.held.iter().filter(|forced| !holds(forced));
        missing.map(|one| (Command::Force(one.assignment()), one.path.clone())).collect()
    }
}

impl Forced {
    const fn assignment(&self) -> Assignment {
        Assignment { target: self.target, value: self.value }
    }

    fn in_build(&self, symbols: &Symbols) -> Result<Self, WhyNotForced> {
        let place = symbols.resolve(&self.path).map_err(|_| WhyNotForced::Absent)?;
        if !place.writable {
            return Err(WhyNotForced::Constant);
        }
        if place.scalar != self.kind {
            let (was, is) = (self.kind.to_string(), place.scalar.to_string());
            return Err(WhyNotForced::OtherType { was, is });
        }
        let target = crate::live::target_of(&place);
        // Shifted to where the bits lie now.
        let value = self.value >> self.target.mask.trailing_zeros();
        let value = value << target.mask.trailing_zeros();
        let is_as_wide = target.mask.count_ones() == self.target.mask.count_ones();
        if !is_as_wide {
            let bits = |target: &Target| format!("a field of {} bits", target.mask.count_ones());
            let (was, is) = (bits(&self.target), bits(&target));
            return Err(WhyNotForced::OtherType { was, is });
        }
        Ok(Self { path: self.path.clone(), kind: place.scalar, target, value })
    }
}

/// Reads the list of a partition; `None` where it can't be read.
pub(super) fn held_in(table: Option<ForceReader<'_>>) -> Option<Vec<Held>> {
    let mut held = vec![Held::default(); FORCE_LIMIT];
    let count = table?.read_held(&mut held).ok()?;
    held.truncate(count);
    Some(held)
}
