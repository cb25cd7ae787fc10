//! What a text has that belongs to another implementation: listed once, and used for nothing.

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
    names: usize,
    /// Whose they are, where that is known.
    implementation: Option<&'static str>,
}

impl Unused {
    /// Adds an attribute of a kind of object or, without a kind, an object.
    pub(crate) fn add(&mut self, kind: Option<&str>, word: &Word) {
        if self.first.as_ref().is_none_or(|first| word.place < first.place) {
            self.first = Some(word.clone());
        }
        let names = match self.kinds.iter_mut().find(|(known, _)| known.as_deref() == kind) {
            Some((_, names)) => names,
            None => {
                self.kinds.push((kind.map(str::to_owned), Vec::new()));
                let Some((_, names)) = self.kinds.last_mut() else { return };
                names
            }
        };
        if !names.contains(&word.text) {
            names.push(word.text.clone());
            self.names += 1;
        }
    }

    /// Says whose they are.
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
        let more = match self.names - (NAMES_MAX - room) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Some((first, format!("not used here{whose}: {}{more}", parts.join("; "))))
    }
}
