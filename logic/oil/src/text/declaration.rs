//! The declarations of the section `IMPLEMENTATION`: attributes, their types, ranges and defaults.
//!
//! ```text
//! TASK { UINT32 [1..16] PRIORITY; ENUM [NON, FULL] SCHEDULE = FULL; UINT32 VENDOR_STACK = 512; };
//! ```

use crate::text::place::{TextPosition, Word};
use crate::text::tree::Value;

/// All declarations of a text, by object and attribute.
#[derive(Debug, Default)]
pub(crate) struct Declarations {
    /// The attributes of each kind of object, in the order of the text.
    pub(crate) objects: Vec<(Word, Vec<Declaration>)>,
}

impl Declarations {
    /// The attributes of a kind of object.
    pub(crate) fn of(&self, kind: &str) -> &[Declaration] {
        let found = self.objects.iter().find(|(word, _)| word.text == kind);
        found.map_or(&[], |(_, declared)| declared.as_slice())
    }

    /// Adds declarations of a kind of object; those that are there stay.
    pub(crate) fn extend(&mut self, kind: &Word, declared: &[Declaration]) {
        let index = self.objects.iter().position(|(word, _)| word.text == kind.text);
        let index = index.unwrap_or_else(|| {
            self.objects.push((kind.clone(), Vec::new()));
            self.objects.len() - 1
        });
        let known = &mut self.objects[index].1;
        let is_new = |it: &&Declaration| !known.iter().any(|other| other.name.text == it.name.text);
        let new: Vec<_> = declared.iter().filter(is_new).cloned().collect();
        known.extend(new);
    }
}

/// The declaration of an attribute.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    /// `UINT32`, `ENUM`, `TASK_TYPE` and so on.
    pub(crate) type_word: Word,
    /// The attribute that it declares.
    pub(crate) name: Word,
    /// The values that are allowed.
    pub(crate) range: Range,
    /// `true` if it may be given several times.
    pub(crate) is_many: bool,
    /// The value if it is left out.
    pub(crate) default: Option<Fallback>,
}

/// A default: a value with its token.
#[derive(Clone, Debug)]
pub(crate) struct Fallback {
    pub(crate) value: Value,
    pub(crate) token: String,
    pub(crate) place: TextPosition,
}

/// The restriction of a value by a declaration.
#[derive(Clone, Debug)]
pub(crate) enum Range {
    /// Whatever the type has.
    Any,
    /// Numbers from one to another.
    Numbers(i128, i128),
    /// Single numbers that are allowed.
    Some(Vec<i128>),
    /// Words, each with the attributes of its block: the values of `ENUM` and `BOOLEAN`.
    Words(Vec<Branch>),
}

/// A word and the attributes of the block behind it.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) word: Word,
    pub(crate) attributes: Vec<Declaration>,
}

impl Declaration {
    /// The attributes of the block behind a value.
    pub(crate) fn branch(&self, word: &str) -> &[Declaration] {
        match &self.range {
            Range::Words(branches) => branches
                .iter()
                .find(|branch| branch.word.text == word)
                .map_or(&[], |branch| branch.attributes.as_slice()),
            Range::Any | Range::Numbers(..) | Range::Some(_) => &[],
        }
    }
}
