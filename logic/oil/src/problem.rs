//! Problems of an OIL text, each at its position, all at once.

use std::collections::BTreeMap;
use std::fmt;

use quietcore_wording::FilePosition;
pub use quietcore_wording::PROBLEMS_MAX;
use serde::Serialize;

use crate::configuration::Definition;
use crate::text::place::{TextPosition, Word};
use crate::unused::Unused;

/// Characters of a token that a problem shows.
const TOKEN_SHOWN_MAX: usize = 40;

/// One thing that is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The position of the token.
    #[serde(flatten)]
    pub position: FilePosition,
    /// The token that was found there; empty at the end of a file.
    pub token: String,
    /// The problem and its remedy: lower case, without a final stop.
    pub message: String,
}

/// Something that is allowed and may still surprise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The position of the token.
    #[serde(flatten)]
    pub position: FilePosition,
    /// The token that the remark is about.
    pub token: String,
    /// The remark as a sentence: lower case, without a final stop.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_at(f, &self.position, &self.token, &self.message)
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_at(f, &self.position, &self.token, &self.message)
    }
}

fn write_at(
    f: &mut fmt::Formatter<'_>,
    position: &FilePosition,
    token: &str,
    message: &str,
) -> fmt::Result {
    if token.is_empty() {
        write!(f, "{position}: end of the file: {message}")
    } else {
        write!(f, "{position}: `{token}`: {message}")
    }
}

/// Everything that is wrong with an OIL text.
pub type Problems = quietcore_wording::Problems<Problem>;

/// A token at a place, with what is to be said of it.
#[derive(Debug)]
struct LocatedMessage {
    place: TextPosition,
    token: String,
    message: String,
}

/// Gathers what is wrong and what is remarkable, up to a bound.
#[derive(Debug)]
pub(crate) struct Collector {
    files: Vec<String>,
    problems: Vec<LocatedMessage>,
    left_out: usize,
    remarks: Vec<LocatedMessage>,
    strict: bool,
    unused: Unused,
    replaced: BTreeMap<TextPosition, String>,
}

impl Collector {
    /// A collector that takes what departs from the language as wrong, or as remarkable.
    pub(crate) fn new(strict: bool) -> Self {
        Self {
            files: Vec::new(),
            problems: Vec::new(),
            left_out: 0,
            remarks: Vec::new(),
            strict,
            unused: Unused::default(),
            replaced: BTreeMap::new(),
        }
    }

    /// Returns whether departures from the language are refused.
    pub(crate) const fn is_strict(&self) -> bool {
        self.strict
    }

    /// The token at `place` departs from the language, and what it means is clear: `refused` is
    /// said of it where asked to be strict, else `understood`.
    pub(crate) fn depart(
        &mut self,
        place: TextPosition,
        token: &str,
        refused: &str,
        understood: &str,
    ) {
        if self.strict {
            self.refuse(place, token, refused);
        } else {
            self.remark(place, token, understood);
        }
    }

    /// Notes something of another implementation, an attribute of a kind of object or, without
    /// `kind`, an object itself. All of it is told in one remark.
    pub(crate) fn leave_unused(&mut self, kind: Option<&str>, word: &Word) {
        self.unused.add(kind, word);
    }

    /// Names the implementation that the unused attributes belong to.
    pub(crate) fn name_implementation(&mut self, name: &'static str) {
        self.unused.name_implementation(name);
    }

    /// The tree has another word in the place of this one; problems show the one of the text.
    pub(crate) fn replace(&mut self, place: TextPosition, written: String) {
        self.replaced.insert(place, written);
    }

    /// Adds a file; its number is what places name it by.
    pub(crate) fn add_file(&mut self, name: &str) -> u16 {
        let number = u16::try_from(self.files.len()).expect("the number of includes is bounded");
        self.files.push(name.to_owned());
        number
    }

    /// The token at `place` is wrong. An empty token is the end of the file.
    pub(crate) fn refuse(&mut self, place: TextPosition, token: &str, message: impl Into<String>) {
        self.refuse_with(place, token, || message.into());
    }

    /// As [`Self::refuse`], for a message that takes time to find.
    pub(crate) fn refuse_with(
        &mut self,
        place: TextPosition,
        token: &str,
        message: impl FnOnce() -> String,
    ) {
        if self.problems.len() >= PROBLEMS_MAX {
            self.left_out += 1;
            return;
        }
        let token = self.shown(place, token);
        self.problems.push(LocatedMessage { place, token, message: message() });
    }

    /// A word is wrong.
    pub(crate) fn refuse_word(&mut self, word: &Word, message: impl Into<String>) {
        self.refuse(word.place, &word.text, message);
    }

    /// The token at `place` is allowed and may still surprise.
    pub(crate) fn remark(&mut self, place: TextPosition, token: &str, message: impl Into<String>) {
        if self.remarks.len() < PROBLEMS_MAX {
            let token = self.shown(place, token);
            self.remarks.push(LocatedMessage { place, token, message: message.into() });
        }
    }

    /// Returns `true` if no problem was found so far.
    pub(crate) const fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// Counts the problems so far, listed or not.
    pub(crate) const fn count(&self) -> usize {
        self.problems.len() + self.left_out
    }

    /// A place as texts name it: `file:line`, or `line N` where both are in the same file.
    pub(crate) fn name(&self, place: TextPosition, seen_from: TextPosition) -> String {
        if place.file == seen_from.file {
            format!("line {}", place.line)
        } else {
            format!("{}:{}", self.files[usize::from(place.file)], place.line)
        }
    }

    /// Returns the position of a name, for those who read the configuration.
    pub(crate) fn definition(&self, name: &str, place: TextPosition) -> Definition {
        Definition { name: name.to_owned(), position: self.position(place) }
    }

    /// The token at `place` as the text has it, made fit to show.
    fn shown(&self, place: TextPosition, token: &str) -> String {
        shown(self.replaced.get(&place).map_or(token, String::as_str))
    }

    /// Returns a position with the name of its file.
    fn position(&self, place: TextPosition) -> FilePosition {
        let TextPosition { file, line, column } = place;
        FilePosition { file: self.files[usize::from(file)].clone(), line, column }
    }

    /// The remarks, or the problems if there is one.
    pub(crate) fn finish(mut self) -> Result<Vec<Remark>, Problems> {
        if self.problems.is_empty() {
            if let Some((word, message)) = self.unused.told() {
                let token = self.shown(word.place, &word.text);
                self.remarks.push(LocatedMessage { place: word.place, token, message });
            }
            self.remarks.sort_by_key(|found| found.place);
            let remarks = std::mem::take(&mut self.remarks);
            let remarks = remarks.into_iter().map(|found| Remark {
                position: self.position(found.place),
                token: found.token,
                message: found.message,
            });
            return Ok(remarks.collect());
        }
        // Stable: what was found first at a place is shown first.
        self.problems.sort_by_key(|found| found.place);
        let problems = std::mem::take(&mut self.problems);
        let problems = problems.into_iter().map(|found| Problem {
            position: self.position(found.place),
            token: found.token,
            message: found.message,
        });
        Err(Problems::new(problems.collect(), self.left_out))
    }
}

/// A token as a problem shows it: on one line, and not too long.
fn shown(token: &str) -> String {
    let visible = |character: char| if character.is_control() { '\u{fffd}' } else { character };
    let mut characters = token.chars().map(visible);
    let start: String = characters.by_ref().take(TOKEN_SHOWN_MAX).collect();
    if characters.next().is_some() { format!("{start}…") } else { start }
}
