//! Attributes and objects of another implementation that a text has: listed once, used for nothing.

use std::collections::HashSet;

use crate::text::place::Word;

/// Most names that the list has; more are counted.
const NAMES_MAX: usize = 40;

/// Attributes by the kind of object that has them, and objects, each name once.
#[derive(Debug, Default)]
pub(crate) struct Unused {
    /// The first of them.
    first: Option<Word>,
    /// Names by kind, in the order of the text; those of objects have none.
    kinds: Vec<(Option<String>, Vec<String>)>,
    /// All of them, so that each is listed once.
    known: HashSet<(Option<String>, String)>,
    /// The implementation that they belong to, where that is known.
    implementation: Option<&'static str>,
}

impl Unused {
    /// Adds an attribute of a kind of object or, without a kind, an object.
    pub(crate) fn add(&mut self, kind: Option<&str>, word: &Word) {
        if self.first.as_ref().is_none_or(|first| word.place < first.place) {
            self.first = Some(word.clone());
        }
        let (kind, name) = (kind.map(str::to_owned), word.text.clone());
        if !self.known.insert((kind.clone(), name.clone())) {
            return;
        }
        match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, names)) => names.push(name),
            None => self.kinds.push((kind, vec![name])),
        }
    }

    /// Names the implementation that they belong to.
    pub(crate) fn name_implementation(&mut self, name: &'static str) {
        self.implementation = Some(name);
    }

    /// The first of them and the sentence that lists them all; `None` where there are none.
    pub(crate) fn told(&self) -> Option<(Word, String)> {
        let first = self.first.clone()?;
        let mut room = NAMES_MAX;
        let mut parts = Vec::new();
        for (kind, names) in &self.kinds {
            let shown: Vec<_> = names.iter().take(room).map(|name| format!("`{name}`")).collect();
            room -= shown.len();
            if !shown.is_empty() {
                let what = kind.as_deref().unwrap_or("objects");
                parts.push(format!("{what} {}", shown.join(", ")));
            }
        }
        let whose = self.implementation.map_or(String::new(), |name| format!(" ({name})"));
        let more = match self.known.len() - (NAMES_MAX - room) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Some((first, format!("not used here{whose}: {}{more}", parts.join("; "))))
    }
}
