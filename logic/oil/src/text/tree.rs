//! What an OIL text says, before anybody asks what it means.

use crate::text::declaration::Declarations;
use crate::text::place::{Place, Word};

/// A whole text.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// What `IMPLEMENTATION` declares.
    pub(crate) declarations: Declarations,
    /// The name of the CPU.
    pub(crate) cpu: Option<Word>,
    /// The objects of the CPU.
    pub(crate) objects: Vec<Object>,
}

/// An object: `TASK blink { … };`
#[derive(Debug)]
pub(crate) struct Object {
    /// `TASK` and the like.
    pub(crate) kind: Word,
    /// Its name.
    pub(crate) name: Word,
    /// What it says of itself.
    pub(crate) block: Block,
}

/// What stands between `{` and `}`.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The attributes, in their order.
    pub(crate) attributes: Vec<Attribute>,
    /// Whether something in it could not be read, so that what seems missing may be there.
    pub(crate) is_damaged: bool,
}

/// `NAME = value { … };`
#[derive(Debug)]
pub(crate) struct Attribute {
    /// Its name.
    pub(crate) name: Word,
    /// Its value.
    pub(crate) value: Value,
    /// Where the value stands.
    pub(crate) place: Place,
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
    /// A whole number.
    Integer {
        /// Whether it has a `-`.
        negative: bool,
        /// Its size.
        magnitude: u64,
    },
    /// A number with a fraction or an exponent.
    Float,
    /// A string.
    Text,
    /// `AUTO`
    Auto,
    /// Something that was told already.
    Wrong,
}

impl Value {
    /// What it is called in a sentence.
    pub(crate) const fn noun(&self) -> &'static str {
        match self {
            Self::Word => "a name",
            Self::Truth(_) => "a truth value",
            Self::Integer { .. } => "a number",
            Self::Float => "a number with a fraction",
            Self::Text => "a string",
            Self::Auto => "`AUTO`",
            Self::Wrong => "this",
        }
    }
}
