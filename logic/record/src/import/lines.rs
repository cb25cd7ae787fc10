//! Lines, words and numbers of a text, each with its place.

use super::LINE_BYTES_MAX;
use super::error::{Problems, quoted};

/// A line with its number, from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    pub(crate) text: &'a str,
}

/// A word of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    line: Line<'a>,
    offset: usize,
    pub(crate) text: &'a str,
}

/// Returns all lines, numbered from 1.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.lines().enumerate().map(|(index, text)| Line { number: index + 1, text })
}

/// Returns the first line that is too long or holds a NUL, as place and problem.
pub(crate) fn unreadable(text: &str) -> Option<(usize, usize, String)> {
    lines(text).find_map(|line| {
        if line.text.len() > LINE_BYTES_MAX {
            let what = format!(
                "the line has {} bytes, more than {LINE_BYTES_MAX}; no program read here writes \
                 such a line",
                line.text.len()
            );
            return Some((line.number, 1, what));
        }
        let nul = line.text.find('\0')?;
        let what = "a NUL byte; expected text, this is binary data or a damaged file".to_owned();
        Some((line.number, line.column(nul), what))
    })
}

impl<'a> Line<'a> {
    /// Returns the words, separated by white space.
    pub(crate) fn words(self) -> impl Iterator<Item = Word<'a>> {
        self.words_from(0)
    }

    /// Returns the words after a label that the line begins with; `None` where it doesn't.
    pub(crate) fn after(self, label: &str) -> Option<impl Iterator<Item = Word<'a>>> {
        let start = self.text.len() - self.text.trim_start().len();
        let matches = self.text[start..].starts_with(label);
        matches.then(|| self.words_from(start + label.len()))
    }

    fn words_from(self, mut offset: usize) -> impl Iterator<Item = Word<'a>> {
        std::iter::from_fn(move || {
            let rest = &self.text[offset..];
            let start = offset + (rest.len() - rest.trim_start().len());
            let rest = &self.text[start..];
            if rest.is_empty() {
                return None;
            }
            let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
            offset = start + length;
            Some(Word { line: self, offset: start, text: &rest[..length] })
        })
    }

    fn column(self, offset: usize) -> usize {
        self.text[..offset].chars().count() + 1
    }

    /// Returns the place of its first column.
    pub(crate) fn place(self) -> (usize, usize) {
        (self.number, 1)
    }
}

impl Word<'_> {
    /// Returns line and column, from 1.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.line.number, self.line.column(self.offset))
    }

    /// Reads the word as a whole number; adds a problem where it isn't one.
    pub(crate) fn number(&self, meaning: &str, problems: &mut Problems) -> Option<u64> {
        match parse(self.text) {
            Ok(number) => Some(number),
            Err(wrong) => {
                problems.at(
                    self.place(),
                    format!("{meaning} {} {wrong}; expected a whole number", quoted(self.text)),
                );
                None
            }
        }
    }
}

/// Reads a whole number of decimal digits; the error says what it is instead.
pub(crate) fn parse(text: &str) -> Result<u64, &'static str> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits(text) {
        text.parse().map_err(|_| "is beyond 64 bits")
    } else if text.strip_prefix('-').is_some_and(digits) {
        Err("is negative")
    } else {
        Err("is not a number")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_know_their_place_in_characters() {
        let line = Line { number: 3, text: "  µs: 12\t-7 x" };
        let places: Vec<_> = line.words().map(|word| (word.place(), word.text)).collect();
        assert_eq!(places, [((3, 3), "µs:"), ((3, 7), "12"), ((3, 10), "-7"), ((3, 13), "x")]);
        let after: Vec<_> = line.after("µs:").unwrap().map(|word| word.place()).collect();
        assert_eq!(after[0], (3, 7));
        assert!(line.after("ms:").is_none());
    }

    #[test]
    fn numbers_say_what_they_are_instead() {
        assert_eq!(parse("00012"), Ok(12));
        assert_eq!(parse("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(parse("18446744073709551616"), Err("is beyond 64 bits"));
        assert_eq!(parse("-5"), Err("is negative"));
        assert_eq!(parse("1.5"), Err("is not a number"));
        assert_eq!(parse("+5"), Err("is not a number"));
        assert_eq!(parse(""), Err("is not a number"));
    }

    proptest! {
        #[test]
        fn any_line_can_be_split(text in "\\PC{0,60}") {
            let line = Line { number: 1, text: &text };
            let words: Vec<_> = line.words().map(|word| word.text).collect();
            prop_assert_eq!(words, text.split_whitespace().collect::<Vec<_>>());
        }
    }
}
