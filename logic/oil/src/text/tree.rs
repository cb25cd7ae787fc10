//! An OIL text as a tree, without a meaning.

use crate::text::declaration::Declarations;
use crate::text::place::{TextPosition, Word};

/// The text of all files, put together.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// The declarations of the section `IMPLEMENTATION`.
    pub(crate) declarations: Declarations,
    /// The name of the CPU.
    pub(crate) cpu: Option<Word>,
    /// The objects of the CPU.
    pub(crate) objects: Vec<Object>,
    /// The kinds of those that are another implementation's and are left unused.
    pub(crate) unused: Vec<Word>,
}

/// An object: `TASK blink { … };`
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// `TASK` and the like.
    pub(crate) kind: Word,
    /// The name of the object.
    pub(crate) name: Word,
    /// The attributes of the object.
    pub(crate) block: Block,
    /// Which of several CPU sections it stands in, from 1.
    pub(crate) section: u16,
}

/// The content of a pair of `{` and `}`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    /// The attributes, in their order.
    pub(crate) attributes: Vec<Attribute>,
    /// `true` if a part of it could not be read, so that what seems missing may be there.
    pub(crate) is_damaged: bool,
}

impl Block {
    /// The first attribute of this name.
    pub(crate) fn first(&self, word: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name.text == word)
    }

    /// The first attribute of this name, to be changed.
    pub(crate) fn first_mut(&mut self, word: &str) -> Option<&mut Attribute> {
        self.attributes.iter_mut().find(|attribute| attribute.name.text == word)
    }

    /// The first attribute of this name, which is no part of the block any more.
    pub(crate) fn take(&mut self, word: &str) -> Option<Attribute> {
        let index = self.attributes.iter().position(|attribute| attribute.name.text == word)?;
        Some(self.attributes.remove(index))
    }

    /// Gives an attribute a number in place of the value that it has; one that is not there is
    /// said by `at`.
    pub(crate) fn set_number(&mut self, word: &str, number: u64, at: &Word) {
        let value = Value::Integer { negative: false, magnitude: number };
        match self.first_mut(word) {
            // Its token stays: what is said of the number is said where it comes from.
            Some(attribute) => attribute.value = value,
            None => self.add(word, value, at.text.clone(), at.place),
        }
    }

    /// Adds an attribute as if the text had it.
    pub(crate) fn add(&mut self, word: &str, value: Value, token: String, place: TextPosition) {
        let name = Word { text: word.to_owned(), place };
        self.attributes.push(Attribute { name, value, place, token, block: None });
    }
}

impl Attribute {
    /// Its value where that is a whole number that is not negative.
    pub(crate) fn number(&self) -> Option<u64> {
        self.value.number()
    }
}

/// `NAME = value { … };`
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    /// The word before `=`.
    pub(crate) name: Word,
    /// The value behind `=`.
    pub(crate) value: Value,
    /// Position of the value.
    pub(crate) place: TextPosition,
    /// The value's token; a string in its quotation marks.
    pub(crate) token: String,
    /// The block behind the value.
    pub(crate) block: Option<Block>,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A name, or one of several words.
    Word,
    /// `TRUE` or `FALSE`.
    Truth(bool),
    /// A whole number with its sign.
    Integer {
        /// `true` if it has a `-`.
        negative: bool,
        /// The number without its sign.
        magnitude: u64,
    },
    /// A number with a fraction or an exponent.
    Float,
    /// A string in quotation marks.
    Text,
    /// `AUTO`
    Auto,
    /// Something that begins like a number and is none.
    NoNumber,
    /// Something that was told already.
    Wrong,
}

impl Value {
    /// It as a whole number that is not negative.
    pub(crate) const fn number(&self) -> Option<u64> {
        match self {
            Self::Integer { negative: false, magnitude } => Some(*magnitude),
            _ => None,
        }
    }

    /// Returns the noun for it in a sentence.
    pub(crate) const fn noun(&self) -> &'static str {
        match self {
            Self::Word => "a name",
            Self::Truth(_) => "a truth value",
            Self::Integer { .. } => "a number",
            Self::Float => "a number with a fraction",
            Self::Text => "a string",
            Self::Auto => "`AUTO`",
            Self::NoNumber | Self::Wrong => "this",
        }
    }
}
