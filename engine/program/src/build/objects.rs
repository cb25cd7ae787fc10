//! The compiled files: what each defines and needs, and which of them the program is made of.
//!
//! A folder often holds more than the program: an example for a board, a wrapper for a simulation.
//! So objects are taken as from an archive: those of the entry points, then whatever they need, and
//! nothing else. A file that does not compile is an error only where something needs it, and then
//! it is shown as the compiler said it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use cpp_demangle::DemangleOptions;
use object::{Object as _, ObjectSymbol as _, SymbolKind};

use crate::build::compiler::Outcome;
use crate::build::sources;

/// One source file after the compiler has seen it.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// The source file, relative to the folder.
    pub(crate) name: String,
    /// The object file; there is one when the compiler succeeded.
    pub(crate) path: PathBuf,
    pub(crate) outcome: Outcome,
    /// Names of functions that others can call, as they are written: `servo_step`, `Servo::step`.
    pub(crate) functions: BTreeSet<String>,
    /// The names that the linker knows functions of C++ by, by their written names; several where
    /// a function is overloaded.
    pub(crate) links: BTreeMap<String, BTreeSet<String>>,
    /// Names of all that others can refer to.
    pub(crate) defined: BTreeSet<String>,
    /// Names that it refers to.
    pub(crate) needed: BTreeSet<String>,
}

impl Object {
    /// Reads the names of an object file. Of a failed one there are none.
    pub(crate) fn new(name: String, path: PathBuf, outcome: Outcome) -> std::io::Result<Self> {
        let mut object = Self {
            name,
            path,
            outcome,
            functions: BTreeSet::new(),
            links: BTreeMap::new(),
            defined: BTreeSet::new(),
            needed: BTreeSet::new(),
        };
        if object.outcome.success {
            let bytes = std::fs::read(&object.path)?;
            let file = object::File::parse(&*bytes).map_err(std::io::Error::other)?;
            for symbol in file.symbols().filter(|it| it.is_global() && it.name().is_ok()) {
                let name = symbol.name().unwrap_or_default().to_owned();
                if symbol.is_undefined() {
                    object.needed.insert(name);
                } else {
                    if symbol.kind() == SymbolKind::Text {
                        let written = written(&name);
                        if written != name {
                            object.links.entry(written.clone()).or_default().insert(name.clone());
                        }
                        object.functions.insert(written);
                    }
                    object.defined.insert(name);
                }
            }
        }
        Ok(object)
    }

    /// Returns whether it was compiled from C++.
    pub(crate) fn is_cpp(&self) -> bool {
        sources::is_cpp(&self.name)
    }

    fn folder(&self) -> &str {
        self.name.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// The name of a function as it is written, without its parameters.
pub(crate) fn written(link: &str) -> String {
    demangled(link, &DemangleOptions::new().no_params().no_return_type())
}

/// The same with the types of its parameters; a function of C has none that the linker knows.
pub(crate) fn written_whole(link: &str) -> String {
    demangled(link, &DemangleOptions::new().no_return_type())
}

fn demangled(link: &str, options: &DemangleOptions) -> String {
    let parsed = link.starts_with("_Z").then(|| cpp_demangle::Symbol::new(link).ok()).flatten();
    let written = parsed.and_then(|symbol| symbol.demangle_with_options(options).ok());
    written.unwrap_or_else(|| link.to_owned())
}

/// Which objects the program is made of.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Positions of the objects, in ascending order.
    pub(crate) chosen: Vec<usize>,
    /// Names that no object defines; perhaps a library does.
    pub(crate) open: BTreeSet<String>,
}

/// Takes the objects that define `roots`, and all that these need.
///
/// If several define a name, one in a folder that something was taken from already is preferred,
/// then the first by name.
pub(crate) fn select(objects: &[Object], roots: &BTreeSet<String>) -> Selection {
    let mut defining: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, object) in objects.iter().enumerate() {
        for name in &object.defined {
            defining.entry(name).or_default().push(index);
        }
    }
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    let mut folders: BTreeSet<&str> = BTreeSet::new();
    let mut seen: BTreeSet<String> = roots.clone();
    let mut open = BTreeSet::new();
    let mut pending: Vec<String> = roots.iter().rev().cloned().collect();
    while let Some(name) = pending.pop() {
        let Some(candidates) = defining.get(name.as_str()) else {
            open.insert(name);
            continue;
        };
        if candidates.iter().any(|index| chosen.contains(index)) {
            continue;
        }
        let near = candidates.iter().find(|index| folders.contains(objects[**index].folder()));
        let index = *near.unwrap_or(&candidates[0]);
        chosen.insert(index);
        folders.insert(objects[index].folder());
        for needed in &objects[index].needed {
            if seen.insert(needed.clone()) {
                pending.push(needed.clone());
            }
        }
    }
    Selection { chosen: chosen.into_iter().collect(), open }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, defined: &[&str], needed: &[&str]) -> Object {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Object {
            name: name.to_owned(),
            path: PathBuf::new(),
            outcome: Outcome { success: true, text: String::new(), printed: String::new() },
            functions: set(defined),
            links: BTreeMap::new(),
            defined: set(defined),
            needed: set(needed),
        }
    }

    #[test]
    fn what_is_needed_is_taken_and_nothing_else() {
        let objects = [
            object("board.c", &["MW_init"], &["HAL_Init"]),
            object("old/servo_data.c", &["servo_P"], &[]),
            object("servo.c", &["servo_step"], &["servo_P", "look1", "sin"]),
            object("servo_data.c", &["servo_P"], &[]),
            object("shared/look1.c", &["look1"], &["servo_P"]),
        ];
        let selection = select(&objects, &BTreeSet::from(["servo_step".to_owned()]));
        assert_eq!(selection.chosen, [2, 3, 4]);
        assert_eq!(selection.open, BTreeSet::from(["sin".to_owned()]));
    }
}
