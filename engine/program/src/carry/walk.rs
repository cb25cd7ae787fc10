//! The walk through two builds' types side by side.

use std::collections::{HashMap, HashSet};

use crate::carry::{COPIES_MAX, CarryPlan, Copy, NOT_CARRIED_LISTED_MAX, OldData, bits};
use crate::place::{Access, Memory, Scalar};
use crate::symbols::{Member, Pattern, Shape, Spot, Symbols, TypeIndex};

pub(super) fn plan(
    old: &Symbols,
    new: &Symbols,
    data: OldData<'_>,
    only: Option<&[Pattern]>,
) -> CarryPlan {
    let mut walk = Walk {
        old,
        new,
        data,
        plan: CarryPlan::default(),
        same: HashMap::new(),
        holds_address: HashMap::new(),
        path: String::new(),
        access: Access::Other,
    };
    match only {
        None => walk.roots(),
        Some(patterns) => walk.chosen(patterns),
    }
    let mut plan = walk.plan;
    plan.arrange();
    plan
}

pub(super) struct Walk<'a> {
    pub(super) old: &'a Symbols,
    pub(super) new: &'a Symbols,
    data: OldData<'a>,
    pub(super) plan: CarryPlan,
    same: HashMap<(TypeIndex, TypeIndex), bool>,
    holds_address: HashMap<TypeIndex, bool>,
    /// Path of the walk; longer while it is inside of a structure.
    pub(super) path: String,
    /// Class of the root that it is in.
    access: Access,
}

/// A place in the old build and the one of the same name in the new build.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) old: Spot,
    pub(super) new: Spot,
}

impl Walk<'_> {
    fn roots(&mut self) {
        let (old, new) = (self.old, self.new);
        for root in old.roots().iter().filter(|root| root.memory == Memory::Data) {
            self.path.clone_from(&root.name);
            self.access = root.access;
            match new.root(&root.name) {
                None => self.plan.refuse(&root.name, "the new build has none"),
                Some(other) if other.memory == Memory::Constant => {
                    self.plan.refuse(&root.name, "it is a constant of the new build");
                }
                Some(other) => {
                    self.pair(Pair { old: Spot::of_root(root), new: Spot::of_root(other) });
                }
            }
        }
        let data = new.roots().iter().filter(|root| root.memory == Memory::Data);
        let fresh = data.filter(|root| old.root(&root.name).is_none());
        self.plan.fresh = fresh.map(|root| root.name.clone()).collect();
    }

    /// The scalars that patterns choose, one by one.
    fn chosen(&mut self, patterns: &[Pattern]) {
        let old = self.old;
        let mut seen = HashSet::new();
        for (path, place) in patterns.iter().flat_map(|it| old.leaves(Some(it), COPIES_MAX)) {
            if place.memory != Memory::Data || !place.writable || !seen.insert(path.clone()) {
                continue;
            }
            match self.new.resolve(&path) {
                Err(error) => self.plan.refuse(&path, error.to_string()),
                Ok(other) if other.memory == Memory::Constant => {
                    self.plan.refuse(&path, "it is a constant of the new build");
                }
                Ok(other) if other.scalar != place.scalar => {
                    self.plan.refuse(&path, changed(&place.scalar, &other.scalar));
                }
                Ok(other) if place.bit.is_some() || other.bit.is_some() => {
                    if place.bit != other.bit || place.offset != other.offset {
                        self.plan.refuse(&path, "its bits lie elsewhere");
                    }
                }
                Ok(other) => {
                    self.access = place.access;
                    let (from, to) = (u64::from(place.offset), u64::from(other.offset));
                    self.path.clone_from(&path);
                    if self.is_wanted(from, place.bytes() as u64) {
                        self.copy(from, to, place.bytes() as u64, 1);
                    }
                }
            }
        }
    }

    fn pair(&mut self, pair: Pair) {
        let (old, new) = (self.old.shape(pair.old.shape), self.new.shape(pair.new.shape));
        let whole =
            self.is_same(pair.old.shape, pair.new.shape) && !self.holds_address(pair.old.shape);
        if whole && !self.is_wanted(pair.old.offset, old.bytes()) {
            return;
        }
        let by_parts = self.access == Access::Parameter && !matches!(old, Shape::Scalar(_));
        if whole && !by_parts {
            if self.access == Access::Parameter && self.plan.tuned.len() < NOT_CARRIED_LISTED_MAX {
                self.plan.tuned.push(self.path.clone());
            }
            let count = self.old.scalar_count(pair.old.shape);
            self.copy(pair.old.offset, pair.new.offset, old.bytes(), count);
            return;
        }
        match (old, new) {
            (Shape::Scalar(Scalar::Address), Shape::Scalar(Scalar::Address)) => {}
            (Shape::Scalar(one), Shape::Scalar(other)) => {
                self.plan.refuse(&self.path.clone(), changed(one, other));
            }
            (
                Shape::Structure { members: ours, union: false, .. },
                Shape::Structure { members: theirs, union: false, .. },
            ) => self.members(pair, ours, theirs),
            (
                Shape::Array { element: one, length, .. },
                Shape::Array { element: other, length: new_length, .. },
            ) if length == new_length => self.elements(pair, *one, *other, *length),
            (one, other) if self.is_same(pair.old.shape, pair.new.shape) => {
                // A union of parameters, or one that holds an address.
                let is_carried = !self.holds_address(pair.old.shape);
                if is_carried {
                    let count = self.old.scalar_count(pair.old.shape);
                    self.copy(pair.old.offset, pair.new.offset, one.bytes(), count);
                } else {
                    self.plan.refuse(
                        &self.path.clone(),
                        format!("{} holds an address", other.describe()),
                    );
                }
            }
            (one, other) if one.describe() == other.describe() => {
                self.plan.refuse(&self.path.clone(), format!("{} has changed", one.describe()));
            }
            (one, other) => {
                let why = format!("it was {} and is {}", one.describe(), other.describe());
                self.plan.refuse(&self.path.clone(), why);
            }
        }
    }

    fn members(&mut self, pair: Pair, ours: &[Member], theirs: &[Member]) {
        let length = self.path.len();
        for member in ours.iter().filter(|member| member.bits.is_none()) {
            self.path.truncate(length);
            self.path.extend([".", &member.name]);
            match theirs.iter().find(|other| other.name == member.name) {
                Some(other) if other.bits.is_none() => {
                    let (old, new) = (pair.old.member(member), pair.new.member(other));
                    self.pair(Pair { old, new });
                }
                Some(_) => {
                    self.plan.refuse(&self.path.clone(), "it is a bit field in the new build");
                }
                None => self.plan.refuse(&self.path.clone(), "the new build has none"),
            }
        }
        self.path.truncate(length);
        bits::carry(self, pair, ours, theirs);
    }

    fn elements(&mut self, pair: Pair, one: TypeIndex, other: TypeIndex, length: u64) {
        // An array of addresses has nothing to carry, however long it is.
        if matches!(self.old.shape(one), Shape::Scalar(Scalar::Address)) {
            return;
        }
        let (old_bytes, new_bytes) = (self.old.shape(one).bytes(), self.new.shape(other).bytes());
        let path_length = self.path.len();
        for index in 0..length {
            if self.plan.copies.len() >= COPIES_MAX {
                break;
            }
            self.path.truncate(path_length);
            self.path.push_str(&format!("[{index}]"));
            let old = pair.old.element(one, old_bytes, index);
            self.pair(Pair { old, new: pair.new.element(other, new_bytes, index) });
        }
        self.path.truncate(path_length);
    }

    /// Returns `true` if bytes are to be carried: of a parameter, only those that were changed by
    /// hand.
    pub(super) fn is_wanted(&self, from: u64, bytes: u64) -> bool {
        if self.access != Access::Parameter {
            return true;
        }
        let range = |data: &[u8]| -> Option<Vec<u8>> {
            let start = usize::try_from(from).ok()?;
            let end = start.checked_add(usize::try_from(bytes).ok()?)?;
            Some(data.get(start..end)?.to_vec())
        };
        match (range(self.data.initial), range(self.data.current)) {
            (Some(initial), Some(current)) => initial != current,
            _ => false,
        }
    }

    /// Adds a copy, unless there are too many.
    pub(super) fn copy(&mut self, from: u64, to: u64, bytes: u64, count: u64) {
        let numbers = (u32::try_from(from), u32::try_from(to), u32::try_from(bytes));
        let (Ok(from), Ok(to), Ok(bytes)) = numbers else {
            return self.plan.refuse(&self.path.clone(), "it lies beyond all data");
        };
        // Neighbours grow together at once, so that arrays do not use up the limit.
        if let Some(last) = self.plan.copies.last_mut()
            && last.from + last.bytes == from
            && last.to + last.bytes == to
        {
            last.bytes += bytes;
        } else if self.plan.copies.len() < COPIES_MAX {
            self.plan.copies.push(Copy { from, to, bytes });
        } else {
            return self.plan.refuse(&self.path.clone(), "the plan has too many pieces already");
        }
        self.plan.carried += count;
    }

    /// Returns `true` if two types lay out the same parts in the same way.
    fn is_same(&mut self, one: TypeIndex, other: TypeIndex) -> bool {
        if let Some(known) = self.same.get(&(one, other)) {
            return *known;
        }
        let same = match (self.old.shape(one), self.new.shape(other)) {
            (Shape::Scalar(one), Shape::Scalar(other)) => one == other,
            (Shape::Opaque { .. }, _) => false,
            (
                Shape::Array { element: ours, length, .. },
                Shape::Array { element: theirs, length: new_length, .. },
            ) => length == new_length && self.is_same(*ours, *theirs),
            (
                Shape::Structure { bytes, union, members, .. },
                Shape::Structure { bytes: new_bytes, union: new_union, members: theirs, .. },
            ) => {
                bytes == new_bytes
                    && union == new_union
                    && members.len() == theirs.len()
                    && members.iter().zip(theirs).all(|(ours, theirs)| {
                        ours.name == theirs.name
                            && ours.offset == theirs.offset
                            && ours.bits == theirs.bits
                            && self.is_same(ours.shape, theirs.shape)
                    })
            }
            _ => false,
        };
        self.same.insert((one, other), same);
        same
    }

    fn holds_address(&mut self, shape: TypeIndex) -> bool {
        if let Some(known) = self.holds_address.get(&shape) {
            return *known;
        }
        let old = self.old;
        let holds = match old.shape(shape) {
            Shape::Scalar(scalar) => *scalar == Scalar::Address,
            // What can't be shown may hold anything.
            Shape::Opaque { .. } => true,
            Shape::Array { element, .. } => self.holds_address(*element),
            Shape::Structure { members, .. } => {
                members.iter().any(|member| self.holds_address(member.shape))
            }
        };
        self.holds_address.insert(shape, holds);
        holds
    }
}

/// Why a scalar is not carried: its type is another.
pub(super) fn changed(one: &Scalar, other: &Scalar) -> String {
    match (one, other) {
        (Scalar::Enum(ours), Scalar::Enum(theirs)) if ours.name == theirs.name => {
            format!("the values of {} have changed", ours.name)
        }
        _ => format!("it was {one} and is {other}"),
    }
}
