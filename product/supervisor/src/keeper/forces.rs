//! The forces of a partition, which its keeper knows by name.
//!
//! A force holds until somebody releases it. Its process may die meanwhile and its program be
//! replaced, so forces belong to the keeper, which gives them to each process that it starts and to
//! each build that is swapped in. Where a build has no such variable, the force ends, which is
//! reported, and begins again if the build before is brought back.

use std::fmt;

use quietcore_exchange::{Assignment, Command, FORCE_LIMIT, ForceReader, Held, Target};
use quietcore_program::Symbols;
use quietcore_program::place::Scalar;
use quietcore_scan::stage::{Force, Moved};

use super::incarnation::Incarnation;
use super::saving::some_of;
use crate::control::NotForced;

/// A forced variable, with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Forced {
    path: String,
    kind: Scalar,
    /// Location of the variable in the build that runs.
    target: Target,
    value: u64,
}

/// The forces that hold in a build.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Forces {
    held: Vec<Forced>,
    /// Forces that only the build before has, for as long as it may come back.
    dormant: Vec<Forced>,
}

/// The reason why a variable is not forced in a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WhyNotForced {
    /// There is no variable of this name.
    Absent,
    /// The variable has another type.
    OtherType { was: String, is: String },
    /// The variable can't be written.
    Constant,
    /// The variable shares a word with another forced one, but their relative position has changed.
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
    /// Returns the forces that a process retains its values with while a build of this generation
    /// runs; `None` if they are not known.
    pub(super) fn of_retained(&self, life: &Incarnation<'_>, generation: u32) -> Option<Vec<Held>> {
        // Without any force, the partition's list of them need not be known.
        let has_none = self.count() == 0 && life.late.is_empty();
        // Where another build has taken over, its forces lie elsewhere.
        let runs = life.region.active().generation == generation;
        let held = if runs { held_in(life.region.forces()) } else { has_none.then(Vec::new) };
        // A force that was released already, but before that was noted, still has its value among
        // the retained ones.
        held.filter(|held| !runs || self.are_in(held))
    }

    /// Returns the number of forced variables.
    pub(super) fn count(&self) -> usize {
        self.held.len()
    }

    /// Returns the names of the forced variables.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> + '_ {
        self.held.iter().map(|forced| forced.path.clone())
    }

    /// Lists the names of the first forced variables, and the number of further ones.
    pub(super) fn names(&self) -> String {
        some_of(self.held.iter().map(|forced| forced.path.as_str()))
    }

    /// Returns `true` if all of them overlap with forces that the partition holds.
    pub(super) fn are_in(&self, held: &[Held]) -> bool {
        let end = |target: &Target| target.offset + u32::from(target.bytes);
        self.held.iter().all(|Forced { target: own, .. }| {
            let mut theirs = held.iter().map(|it| &it.force.target);
            theirs.any(|it| it.offset < end(own) && own.offset < end(it))
        })
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
        // What waits for the build before is replaced, too: a variable has one force.
        self.dormant.retain(|forced| forced.path != path);
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

    /// Drops the forces that `other` does not hold any more.
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

    /// Moves the forces to the build that follows the one that runs. Returns the forces in it, the
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
                // For the partition, bit fields of one word are one force.
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

    /// Forgets the forces that only the build before had, as it does not come back.
    pub(super) fn forget_dormant(&mut self) {
        self.dormant.clear();
    }

    /// Returns the forces that a new process begins with.
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
        let target = crate::variables::target_of(&place);
        // The value is shifted to where the bits lie now.
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

/// Reads the list of forces that a partition holds; `None` where it can't be read.
pub(super) fn held_in(table: Option<ForceReader<'_>>) -> Option<Vec<Held>> {
    let mut held = vec![Held::default(); FORCE_LIMIT];
    let count = table?.read_held(&mut held).ok()?;
    held.truncate(count);
    Some(held)
}

#[cfg(test)]
mod tests {
    use quietcore_program::DataImage;
    use quietcore_program::place::{Access, Memory};
    use quietcore_program::symbols::{Root, Shape};
    use quietcore_units::DataType;

    use super::*;

    fn target(offset: u32) -> Target {
        Target { offset, bytes: 4, mask: 0xFFFF_FFFF }
    }

    fn forces(offsets: &[u32]) -> Forces {
        let forced = |offset: &u32| Forced {
            path: format!("plant_DW.at_{offset}"),
            kind: Scalar::Number(DataType::U32),
            target: target(*offset),
            value: 0,
        };
        Forces { held: offsets.iter().map(forced).collect(), dormant: Vec::new() }
    }

    /// Returns the variables of a build with one, of this type.
    fn build(kind: DataType) -> Symbols {
        let root = Root {
            name: "plant_d".to_owned(),
            shape: 0,
            memory: Memory::Data,
            offset: 8,
            access: Access::State,
        };
        let data = DataImage { address: 0x4000, bytes: 64 };
        Symbols::new("plant", data, vec![root], vec![Shape::Scalar(Scalar::Number(kind))]).unwrap()
    }

    fn force(forces: &mut Forces, symbols: &Symbols) {
        let target = crate::variables::target_of(&symbols.resolve("plant_d").unwrap());
        forces.force("plant_d", &Assignment { target, value: 1 }, symbols);
    }

    /// Goal: a variable has one force, also where one of the build before waits for its return.
    #[test]
    fn a_variable_that_is_forced_anew_in_another_build_has_no_second_force() {
        let [before, after] = [DataType::U64, DataType::U32].map(build);
        let mut forces = Forces::default();
        force(&mut forces, &before);
        let (mut next, _, lost) = forces.in_next_build(&after);
        assert_eq!((next.count(), lost.len()), (0, 1), "its type is another");
        assert_eq!(next.in_build(&before).0.count(), 1, "it waits for the build before");
        force(&mut next, &after);
        let (held, lost) = next.in_build(&after);
        assert_eq!((held.count(), lost), (1, Vec::new()), "and none is lost");
        let (held, lost) = next.in_build(&before);
        assert_eq!((held.count(), lost.len()), (0, 1), "the one before is replaced");
    }

    /// Goal: no forced value is retained that was let go before the keeper took note of that.
    #[test]
    fn a_force_that_the_partition_has_let_go_already_is_missed() {
        let held = |offset| Held {
            force: Assignment { target: target(offset), value: 0 },
            ..Held::default()
        };
        let held = [held(8), held(16)];
        assert!(forces(&[]).are_in(&held) && forces(&[]).are_in(&[]));
        assert!(forces(&[8]).are_in(&held) && forces(&[16, 8]).are_in(&held));
        assert!(!forces(&[8, 32]).are_in(&held) && !forces(&[8]).are_in(&[]));
    }
}
