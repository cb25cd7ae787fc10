//! Positions in the files that people write.

use std::fmt;

/// A character of a file, written `site.toml:9:10`. Orders by file, then as the text does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FilePosition {
    /// The name of the file, as it was given to the reader or as written in an `#include`.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
}

impl FilePosition {
    /// Makes a position of a line and a column, both counted from 1. What no file reaches, four
    /// thousand million of either, stays at that.
    pub fn new(file: &str, line: usize, column: usize) -> Self {
        let [line, column] = [line, column].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        Self { file: file.to_owned(), line, column }
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
