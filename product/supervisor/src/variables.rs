//! Changes of variables against the build that runs: names become places and values, once; the
//! values around a change become its effects.
//!
//! ```text
//! resolve ─► look: values, forces ─► commands, a cycle takes them ─► effects ─► look once more:
//!                                                                    the program's own writes
//! ```

use quietcore_exchange::{
    Assignment, Command, DATA_READ_TRIES, DataRange, FORCE_LIMIT, Held, Target, View,
};
use quietcore_program::place::{Memory, VariableLocation};
use quietcore_program::{Symbols, Value};

use crate::control::change::Seen;
use crate::control::{Change, ChangeKind, ControlError, Effect, Refusal, WhyNoEffect};

/// A change whose variable was found and whose value fits it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Resolved {
    pub(crate) change: Change,
    pub(crate) place: VariableLocation,
    /// Value as the command ring carries it; `None` to release the variable.
    value: Option<u64>,
}

/// Finds the variables of a group of changes, and checks that each can be changed so.
///
/// # Errors
/// [`Refusal`] of the first change that is not possible.
pub(crate) fn resolve_all(
    symbols: &Symbols,
    changes: Vec<Change>,
) -> Result<Vec<Resolved>, ControlError> {
    changes.into_iter().map(|change| resolve(symbols, change)).collect()
}

fn resolve(symbols: &Symbols, change: Change) -> Result<Resolved, ControlError> {
    let place = symbols
        .resolve(&change.variable)
        .map_err(|error| Refusal::NoVariable { why: error.to_string() }.at(&change.variable))?;
    if !place.writable {
        return Err(Refusal::ReadOnly.at(&change.variable));
    }
    let value = match change.kind {
        ChangeKind::Unforce => None,
        ChangeKind::Set | ChangeKind::Force => Some(encode(&change, &place)?),
    };
    Ok(Resolved { change, place, value })
}

fn encode(change: &Change, place: &VariableLocation) -> Result<u64, ControlError> {
    let refused = |refusal: Refusal| refusal.at(&change.variable);
    let bad = |why: String| refused(Refusal::BadValue { why });
    let Some(text) = &change.value else {
        return Err(refused(Refusal::NoValue { variable: change.variable.clone() }));
    };
    let value = Value::parse(text, &place.scalar).map_err(|error| bad(error.to_string()))?;
    let is_finite = value.as_f64().is_none_or(f64::is_finite);
    if !is_finite && !change.allow_nan {
        return Err(refused(Refusal::NotFinite { value: text.clone() }));
    }
    place.encode(&value).map_err(|error| bad(error.to_string()))
}

impl Resolved {
    pub(crate) fn target(&self) -> Target {
        target_of(&self.place)
    }

    pub(crate) fn command(&self) -> Command {
        let target = self.target();
        match (self.change.kind, self.value) {
            (ChangeKind::Set, Some(value)) => Command::Set(Assignment { target, value }),
            (ChangeKind::Force, Some(value)) => Command::Force(Assignment { target, value }),
            _ => Command::Unforce(target),
        }
    }

    /// Does to the forces what the change does to them; `old` is the value of the variable.
    fn change_forces(&self, held: &mut Vec<Held>, old: Option<&Value>) {
        let target = self.target();
        match (self.change.kind, self.value) {
            (ChangeKind::Force, Some(value)) if released_by(held, &target).is_none() => {
                let before = old.and_then(|old| self.place.encode(old).ok()).unwrap_or(0);
                held.push(Held { force: Assignment { target, value }, before });
            }
            (ChangeKind::Unforce, _) => {
                for held in held.iter_mut().filter(|it| is_released(&it.force.target, &target)) {
                    held.force.target.mask &= !target.mask;
                }
                held.retain(|held| held.force.target.mask != 0);
            }
            _ => {}
        }
    }

    /// Returns the value that it gives its variable, as it is read back.
    fn given(&self) -> Option<Value> {
        self.place.decode(&self.value?.to_le_bytes())
    }
}

/// Returns the target of commands for a variable.
pub(crate) fn target_of(place: &VariableLocation) -> Target {
    match place.bit {
        None => Target::whole(place.offset, place.bytes() as u8),
        Some(_) => Target { offset: place.offset, bytes: place.bytes() as u8, mask: place.mask() },
    }
}

/// The variables of a group as they were at one instant between two cycles, or the nearest to it.
#[derive(Debug)]
pub(crate) struct Look {
    /// Values, as many as changes; `None` for one that could not be read.
    values: Vec<Option<Value>>,
    /// Forces; `None` if they could not be read whole.
    held: Option<Vec<Held>>,
}

impl Look {
    /// Looks at the variables, whose places belong to build `generation`.
    pub(crate) fn at(view: View<'_>, resolved: &[Resolved], generation: u32) -> Self {
        let values = read(view, resolved, generation);
        let values = values.unwrap_or_else(|| vec![None; resolved.len()]);
        let mut held = vec![Held::default(); FORCE_LIMIT];
        let count = view.forces().and_then(|forces| forces.read_held(&mut held).ok());
        let held = count.map(|count| {
            held.truncate(count);
            held
        });
        Self { values, held }
    }

    /// Returns the effects of the changes, as far as they are known when a cycle has taken them.
    /// `is_input` says which places the fieldbus writes before each step.
    pub(crate) fn effects(
        &self,
        resolved: &[Resolved],
        is_input: impl Fn(&Target) -> bool,
    ) -> Vec<Effect> {
        // The changes of a group are made one after another.
        let mut held = self.held.clone();
        let effect = |(one, old): (&Resolved, &Option<Value>)| {
            let target = one.target();
            let released = held.as_deref().and_then(|held| released_by(held, &target));
            let was_forced = held.as_ref().map(|held| match one.change.kind {
                ChangeKind::Unforce => released.is_some(),
                _ => held.iter().any(|held| overlap(&held.force.target, &target)),
            });
            // A release puts back the value from before the force.
            let back = || one.place.decode(&released?.before.to_le_bytes());
            let new = if one.value.is_some() { one.given() } else { back() };
            if let Some(held) = &mut held {
                one.change_forces(held, old.as_ref());
            }
            let seen = Seen { was_forced, is_input: is_input(&target), is_as_before: false };
            Effect {
                change: one.change.clone(),
                old: old.as_ref().map(ToString::to_string),
                new: new.as_ref().map(ToString::to_string),
                without_effect: WhyNoEffect::decide(one.change.kind, &seen),
            }
        };
        resolved.iter().zip(&self.values).map(effect).collect()
    }

    /// Returns for each change of a group if its variable has the value of this look again at
    /// `now`, when each task has run since, though it was set to another one with effect.
    pub(crate) fn undone(
        &self,
        resolved: &[Resolved],
        effects: &[Effect],
        now: &Self,
    ) -> Vec<bool> {
        let last_set = |place: &VariableLocation| {
            let set = |one: &&Resolved| one.change.kind == ChangeKind::Set && one.place == *place;
            resolved.iter().rfind(set).and_then(Resolved::given)
        };
        let is_undone = |(index, one): (usize, &Resolved)| {
            let (Some(was), Some(is)) = (&self.values[index], &now.values[index]) else {
                return false;
            };
            let is_set = last_set(&one.place).is_none_or(|set| same(&set, is));
            let is_open = effects[index].without_effect.is_none();
            one.change.kind == ChangeKind::Set && is_open && same(was, is) && !is_set
        };
        resolved.iter().enumerate().map(is_undone).collect()
    }
}

/// Adds to the effects of a group that the program writes the `undone` variables by itself.
pub(crate) fn add_undone(effects: &mut [Effect], undone: &[bool]) {
    let seen = Seen { is_as_before: true, ..Seen::default() };
    for (effect, _) in effects.iter_mut().zip(undone).filter(|(_, undone)| **undone) {
        effect.without_effect = WhyNoEffect::decide(effect.change.kind, &seen);
    }
}

/// Compares two values; NaN is the same as NaN here.
fn same(one: &Value, other: &Value) -> bool {
    one == other || one.to_string() == other.to_string()
}

/// Reads the variables; returns `None` if another build runs, or they don't lie in the data.
fn read(view: View<'_>, resolved: &[Resolved], generation: u32) -> Option<Vec<Option<Value>>> {
    let in_data = |one: &&Resolved| one.place.memory == Memory::Data;
    let range = |one: &Resolved| {
        let Target { offset, bytes, .. } = one.target();
        DataRange { offset, bytes: u32::from(bytes) }
    };
    let ranges: Vec<DataRange> = resolved.iter().filter(in_data).map(range).collect();
    let mut bytes = vec![0; ranges.iter().map(|range| range.bytes as usize).sum()];
    let reading = view.read_data(&ranges, &mut bytes, DATA_READ_TRIES).ok()?;
    if reading.active.generation != generation {
        return None;
    }
    let mut rest = bytes.as_slice();
    let mut value = |one: &Resolved| {
        if !in_data(&one) {
            return None;
        }
        let (own, after) = rest.split_at_checked(one.place.bytes())?;
        rest = after;
        one.place.decode(own)
    };
    Some(resolved.iter().map(&mut value).collect())
}

/// Returns `true` if two targets have a bit in common, or lie across one another.
pub(crate) fn overlap(held: &Target, own: &Target) -> bool {
    if (held.offset, held.bytes) == (own.offset, own.bytes) {
        return held.mask & own.mask != 0;
    }
    let end = |target: &Target| u64::from(target.offset) + u64::from(target.bytes);
    u64::from(held.offset) < end(own) && u64::from(own.offset) < end(held)
}

/// Returns the force that the release of a variable ends; one that lies across it stays.
fn released_by(held: &[Held], target: &Target) -> Option<Held> {
    held.iter().find(|held| is_released(&held.force.target, target)).copied()
}

fn is_released(held: &Target, own: &Target) -> bool {
    (held.offset, held.bytes) == (own.offset, own.bytes) && held.mask & own.mask != 0
}

#[cfg(test)]
mod tests;
