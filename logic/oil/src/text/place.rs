//! Positions in the text.

/// A place in one of the files that were read. Orders as the text does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TextPosition {
    /// The number of the file.
    pub(crate) file: u16,
    /// The line, counted from 1.
    pub(crate) line: u32,
    /// The column in characters, counted from 1.
    pub(crate) column: u32,
}

/// A word of the text with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// The characters of the word.
    pub(crate) text: String,
    /// Position of its first character.
    pub(crate) place: TextPosition,
}

/// A value with the token that says it, or the token nearest to where it is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given<T> {
    /// The value, converted to its type.
    pub(crate) value: T,
    /// The token that gave it.
    pub(crate) word: Word,
}
