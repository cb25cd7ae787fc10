//! The common parts of the JSON formats: maps of buckets and of threads that are read as written,
//! so that a doubled entry is an error and not the last one of two.

pub(super) mod frame;
mod time;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, Visitor};

use super::column::Column;
use super::error::Problems;
use super::lines::parse;
use super::{CELLS_MAX, COLUMNS_MAX};

/// The buckets of a thread: `{"5": 120, "6": 3}`. The order of JSON's entries has no meaning, so
/// any order is taken.
#[derive(Debug, Default)]
pub(super) struct Buckets(pub(super) Vec<(u64, u64)>);

/// The threads of a file: `{"0": {…}, "1": {…}}`, sorted.
#[derive(Debug)]
pub(super) struct Threads<T>(pub(super) Vec<(u64, T)>);

impl<'de> Deserialize<'de> for Buckets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        numbered(deserializer, "buckets with their counts", CELLS_MAX).map(Self)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Threads<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        numbered(deserializer, "threads by their number", COLUMNS_MAX).map(Self)
    }
}

/// Reads the entries of a map whose keys are numbers, ascending.
fn numbered<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
    what: &'static str,
    most: usize,
) -> Result<Vec<(u64, T)>, D::Error> {
    entries(deserializer, what, most, parse)
}

/// Reads the entries of a map whose keys become numbers by `read`, ascending.
pub(super) fn entries<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
    what: &'static str,
    most: usize,
    read: impl Fn(&str) -> Result<u64, &'static str>,
) -> Result<Vec<(u64, T)>, D::Error> {
    struct Entries<T, R>(&'static str, usize, R, PhantomData<T>);

    impl<'de, T, R> Visitor<'de> for Entries<T, R>
    where
        T: Deserialize<'de>,
        R: Fn(&str) -> Result<u64, &'static str>,
    {
        type Value = Vec<(u64, T)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries: Vec<(u64, T)> = Vec::new();
            while let Some(key) = map.next_key::<String>()? {
                let number = (self.2)(&key).map_err(|wrong| {
                    let key: String = key.chars().take(40).collect();
                    A::Error::custom(format_args!("`{key}` {wrong}; expected {}", self.0))
                })?;
                if entries.len() >= self.1 {
                    return Err(A::Error::custom(format_args!("more than {} entries", self.1)));
                }
                entries.push((number, map.next_value()?));
            }
            entries.sort_by_key(|(number, _)| *number);
            match entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                Some(pair) => Err(A::Error::custom(format_args!(
                    "`{}` is there twice; each has one entry",
                    pair[0].0
                ))),
                None => Ok(entries),
            }
        }
    }

    deserializer.deserialize_map(Entries(what, most, read, PhantomData))
}

impl Buckets {
    /// Returns the buckets as a column.
    pub(super) fn column(&self) -> Result<Column, String> {
        let mut column = Column::default();
        for (bucket, count) in &self.0 {
            column.add(*bucket, *count)?;
        }
        Ok(column)
    }
}

/// Returns the text in which the mean of a thread that never ran, zero by zero, is a number.
pub(super) fn without_nan(text: &str) -> Cow<'_, str> {
    const MEANS: [&str; 2] = ["\"avg\": -nan", "\"avg\": nan"];
    MEANS.iter().fold(Cow::Borrowed(text), |text, mean| {
        if text.contains(mean) { Cow::Owned(text.replace(mean, "\"avg\": 0")) } else { text }
    })
}

/// Returns line and column of the entry `"NUMBER": {` of a section; of the section, or 1:1, where
/// it isn't found.
pub(super) fn place_of(text: &str, section: &str, number: u64) -> (usize, usize) {
    let from = text.find(&format!("\"{section}\"")).unwrap_or(0);
    let key = format!("\"{number}\"");
    let is_entry = |at: &usize| {
        let rest = text[at + key.len()..].trim_start();
        rest.strip_prefix(':').is_some_and(|rest| rest.trim_start().starts_with('{'))
    };
    let at =
        text[from..].match_indices(&key).map(|(at, _)| from + at).find(is_entry).unwrap_or(from);
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Reads a whole text; adds the problem that `serde_json` found.
pub(super) fn document<T: DeserializeOwned>(
    text: &str,
    expected: &str,
    problems: &mut Problems,
) -> Option<T> {
    let error = match serde_json::from_str(text) {
        Ok(document) => return Some(document),
        Err(error) => error,
    };
    let text = error.to_string();
    // The place is given apart; what is wrong comes before it.
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    let what =
        if error.is_eof() { format!("{what}; the file was cut off") } else { what.to_owned() };
    let what: String = what.chars().flat_map(char::escape_debug).collect();
    let place = (error.line().max(1), error.column().max(1));
    problems.at(place, format!("{what}; expected {expected}"));
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_by_its_section_and_number() {
        let text = "{\n \"cpu\": {\n  \"0\": {\"histogram\": {\"1\": 5}},\n  \"1\" : { }\n}}";
        assert_eq!(place_of(text, "cpu", 0), (3, 3));
        assert_eq!(place_of(text, "cpu", 1), (4, 3));
        assert_eq!(place_of(text, "cpu", 2), (2, 2));
        assert_eq!(place_of(text, "thread", 2), (1, 1));
    }

    #[test]
    fn buckets_may_come_in_any_order_and_only_once() {
        let buckets: Buckets = serde_json::from_str(r#"{"10": 1, "9": 2}"#).unwrap();
        assert_eq!(buckets.0, [(9, 2), (10, 1)]);
        for (wrong, says) in [
            (r#"{"9": 1, "9": 2}"#, "there twice"),
            (r#"{"x": 1}"#, "is not a number"),
            (r#"{"-1": 1}"#, "is negative"),
            (r#"{"1": -1}"#, "invalid value: integer `-1`"),
            (r#"{"1": 1.5}"#, "floating point"),
            (r#"{"1": 18446744073709551616}"#, "floating point"),
            (r"[1]", "buckets with their counts"),
        ] {
            let error = serde_json::from_str::<Buckets>(wrong).unwrap_err().to_string();
            assert!(error.contains(says), "{wrong}: {error}");
        }
    }
}
