//! One kind of edit: what a forger does to a folder.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The check that finds a lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The folder itself: something else in it follows otherwise.
    Folder,
    /// A signature alone: nothing else in the folder says it a second time.
    SignatureOnly,
}

/// One kind of edit.
pub(crate) struct Lie {
    pub(crate) name: &'static str,
    pub(crate) reach: Reach,
    /// `true` if it is told in what follows from the records, which then is not made anew.
    pub(crate) is_of_pages: bool,
    pub(crate) tell: Box<dyn Fn(&Path) + Send + Sync>,
}

/// A lie that is done by hand.
pub(crate) fn lie(name: &'static str, tell: impl Fn(&Path) + Send + Sync + 'static) -> Lie {
    Lie { name, reach: Reach::Folder, is_of_pages: false, tell: Box::new(tell) }
}

/// A value of a JSON file that is replaced: `place` is a JSON pointer.
pub(crate) fn set(
    name: &'static str,
    file: &'static str,
    place: &'static str,
    value: Value,
) -> Lie {
    lie(name, move |root| {
        change(root, file, |document| put(document, place, value.clone()));
    })
}

impl Lie {
    /// The same lie, which nothing in the folder contradicts.
    pub(crate) fn beyond(self) -> Self {
        Self { reach: Reach::SignatureOnly, ..self }
    }

    /// The same lie, which is told in what follows from the records.
    pub(crate) fn of_pages(self) -> Self {
        Self { is_of_pages: true, ..self }
    }
}

/// Changes a JSON file.
pub(crate) fn change(root: &Path, file: &str, work: impl FnOnce(&mut Value)) {
    let path = root.join(file);
    let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let before = document.clone();
    work(&mut document);
    assert_ne!(document, before, "an edit that changes nothing is no lie");
    fs::write(&path, serde_json::to_vec_pretty(&document).unwrap()).unwrap();
}

/// Puts a value to where a JSON pointer leads, which need not be there yet.
pub(crate) fn put(document: &mut Value, place: &str, value: Value) {
    let (parent, key) = place.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Object(entries) => {
            entries.insert(key.to_owned(), value);
        }
        Value::Array(entries) if key == "-" => entries.push(value),
        Value::Array(entries) => entries[key.parse::<usize>().unwrap()] = value,
        other => panic!("{place} leads into {other}"),
    }
}
