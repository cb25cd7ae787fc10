//! From the debug information of the linked module to its symbols.

use std::collections::{BTreeMap, HashMap};

use crate::build::image::LinkedFile;
use crate::build::sources;
use crate::debug::{DebugInfo, EntryOffset, RawKind, RawVariable, Shapes};
use crate::interface::{INSTANCE_PREFIX, OBJECT_NAME};
use crate::place::{Access, Memory};
use crate::symbols::{DataImage, Root, Symbols, SymbolsFileError};

/// Most variables with a static address.
const ROOTS_MAX: usize = 500_000;

/// Most classes that one begins with, one inside of the other.
const BASES_MAX: usize = 16;

/// A variable on its way to becoming a root.
struct CollectedVariable<'a> {
    variable: &'a RawVariable,
    /// Its name without what the glue puts before it.
    name: &'a str,
    root: Root,
}

/// Collects the variables of a module.
///
/// `access` says what variables that the glue made are to the model, where their types do not tell.
/// Of a program that is a class, `object` is its type: its members are variables as those of C are.
pub(super) fn symbols(
    model: &str,
    info: &DebugInfo,
    linked: &LinkedFile<'_>,
    image: DataImage,
    access: &HashMap<String, Access>,
    object: Option<EntryOffset>,
) -> Result<Symbols, SymbolsFileError> {
    let mut shapes = Shapes::new(info);
    let mut found = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let members = object.map(|class| members(info, class)).unwrap_or_default();
    for variable in info.variables.iter().chain(&members) {
        let made = variable.name.strip_prefix(INSTANCE_PREFIX);
        if made.is_none() && variable.name.starts_with("quietcore_") {
            continue;
        }
        if !seen.insert((variable.address, &variable.name)) {
            continue;
        }
        if found.len() == ROOTS_MAX {
            return Err(SymbolsFileError::Content(format!("more than {ROOTS_MAX} variables")));
        }
        let name = made.unwrap_or(&variable.name);
        let shape = shapes.of(variable.target);
        let bytes = shapes.bytes(shape);
        let Some((memory, offset)) = locate(variable.address, bytes, linked, image) else {
            continue;
        };
        let given = made.and_then(|name| access.get(name)).copied();
        let access = given.unwrap_or_else(|| class(info, variable, name));
        let root = Root { name: String::new(), shape, memory, offset, access };
        found.push(CollectedVariable { variable, name, root });
    }
    Symbols::new(model, image, named(found), shapes.into_types())
}

/// The members of the object that the glue makes of a class, those of what it begins with among
/// them, as variables.
fn members(info: &DebugInfo, class: EntryOffset) -> Vec<RawVariable> {
    let storage = info.variables.iter().find(|variable| variable.name == OBJECT_NAME);
    let Some(storage) = storage else { return Vec::new() };
    let mut members = Vec::new();
    let mut pending = vec![(class, storage.address, 0)];
    while let Some((class, address, depth)) = pending.pop() {
        let kind = info.strip(class).map(|stripped| &stripped.raw.kind);
        let Some(RawKind::Structure { members: Some(parts), .. }) = kind else { continue };
        for part in parts.iter().filter(|part| part.bits.is_none()) {
            let address = address.saturating_add(part.offset);
            if part.name.is_empty() {
                if depth < BASES_MAX && pending.len() < BASES_MAX {
                    pending.push((part.target, address, depth + 1));
                }
                continue;
            }
            members.push(RawVariable {
                name: part.name.clone(),
                function: None,
                unit: String::new(),
                external: true,
                target: part.target,
                address,
            });
        }
    }
    members
}

/// The class by the variable's own type; a plain number has none but by its name.
fn class(info: &DebugInfo, variable: &RawVariable, name: &str) -> Access {
    let stripped = info.strip(variable.target);
    let is_structure = stripped.is_some_and(|it| matches!(it.raw.kind, RawKind::Structure { .. }));
    if !is_structure {
        return Access::Other;
    }
    Access::of_root(name, &stripped.map_or_else(String::new, |it| it.name().to_owned()))
}

/// Returns the location of a variable: in the data image or in the constants of the file.
fn locate(
    address: u64,
    bytes: u64,
    linked: &LinkedFile<'_>,
    image: DataImage,
) -> Option<(Memory, u32)> {
    if bytes == 0 {
        return None;
    }
    if let Some(offset) = address.checked_sub(image.address).filter(|it| *it < image.bytes) {
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= image.bytes);
        return inside.then_some((Memory::Data, u32::try_from(offset).ok()?));
    }
    linked.file_range(address, bytes)?;
    Some((Memory::Constant, u32::try_from(address).ok()?))
}

/// Gives each variable a name of its own.
///
/// At file level a plain name goes to the one that other files see, or to the only one of that
/// name; all others are qualified by their source file. A variable in a function is always
/// qualified by it.
fn named(found: Vec<CollectedVariable<'_>>) -> Vec<Root> {
    let mut of_name: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for CollectedVariable { variable, name, .. } in
        found.iter().filter(|it| it.variable.function.is_none())
    {
        let (all, seen_outside) = of_name.entry(name).or_default();
        *all += 1;
        *seen_outside += usize::from(variable.external);
    }
    let mut taken: BTreeMap<String, Root> = BTreeMap::new();
    for CollectedVariable { variable, name, root } in found {
        let (all, seen_outside) = of_name.get(name).copied().unwrap_or_default();
        let is_plain = all == 1 || (variable.external && seen_outside == 1);
        let qualified = match &variable.function {
            Some(function) => format!("{function}::{name}"),
            None if is_plain => name.to_owned(),
            None => format!("{}::{name}", qualifier(&variable.unit)),
        };
        let mut unique = qualified.clone();
        let mut number = 1;
        // Blocks inside of one function may each have a variable of one name.
        while taken.contains_key(&unique) {
            number += 1;
            unique = format!("{qualified}~{number}");
        }
        taken.insert(unique.clone(), Root { name: unique, ..root });
    }
    taken.into_values().collect()
}

/// A source file as part of a name: without its ending, and without what a path would be cut at.
fn qualifier(unit: &str) -> String {
    let stem = unit.rsplit_once('.').filter(|_| sources::is_compiled(unit));
    let stem = stem.map_or(unit, |(stem, _)| stem);
    stem.replace(['.', '[', ']'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(variables: &[(&str, Option<&str>, &str, bool)]) -> Vec<String> {
        let raw: Vec<RawVariable> = variables
            .iter()
            .map(|(name, function, unit, external)| RawVariable {
                name: (*name).to_owned(),
                function: function.map(str::to_owned),
                unit: (*unit).to_owned(),
                external: *external,
                target: 1,
                address: 0,
            })
            .collect();
        let root = |_| Root {
            name: String::new(),
            shape: 0,
            memory: Memory::Data,
            offset: 0,
            access: Access::Other,
        };
        let found = raw.iter().map(|variable| CollectedVariable {
            variable,
            name: &variable.name,
            root: root(0),
        });
        named(found.collect()).into_iter().map(|root| root.name).collect()
    }

    #[test]
    fn every_variable_gets_a_name_of_its_own() {
        assert_eq!(
            names(&[
                ("gain", None, "servo.c", true),
                ("gain", None, "sub/filter.v2.c", false),
                ("table", None, "a.c", false),
                ("once", None, "a.c", false),
                ("table", None, "b.c", false),
                ("count", Some("servo_step"), "servo.c", false),
                ("count", Some("servo_step"), "servo.c", false),
            ]),
            [
                "a::table",
                "b::table",
                "gain",
                "once",
                "servo_step::count",
                "servo_step::count~2",
                "sub/filter_v2::gain",
            ]
        );
    }
}
