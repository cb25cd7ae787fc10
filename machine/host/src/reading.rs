//! A value read from the machine, with the three ways in which that can end kept apart.
//!
//! "Not there" is an answer of the machine, "not readable" is a gap in our knowledge, and "read and
//! empty" is a value. Mixing them up is how a check passes on a machine that it could not see.

use serde::{Deserialize, Serialize};

/// The outcome of reading one fact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading<T> {
    /// This is what stands there; an empty text or list is a value as well.
    Read(T),
    /// The kernel offers no such thing: the file, device or processor leaf does not exist.
    #[default]
    Absent,
    /// It exists and could not be read or understood, for this reason.
    Unreadable(String),
}

impl<T> Reading<T> {
    /// The value, if there is one.
    pub const fn get(&self) -> Option<&T> {
        match self {
            Self::Read(value) => Some(value),
            Self::Absent | Self::Unreadable(_) => None,
        }
    }

    /// Returns `true` if the machine has no such thing.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Why it could not be read, if that is so.
    pub fn unreadable(&self) -> Option<&str> {
        match self {
            Self::Unreadable(reason) => Some(reason),
            Self::Read(_) | Self::Absent => None,
        }
    }

    /// Changes the value and leaves the other outcomes as they are.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Read(value) => Reading::Read(change(value)),
            Self::Absent => Reading::Absent,
            Self::Unreadable(reason) => Reading::Unreadable(reason),
        }
    }

    /// Reads something further from the value.
    pub fn and_then<U>(self, further: impl FnOnce(T) -> Reading<U>) -> Reading<U> {
        match self {
            Self::Read(value) => further(value),
            Self::Absent => Reading::Absent,
            Self::Unreadable(reason) => Reading::Unreadable(reason),
        }
    }

    /// This reading, or the other where the machine has no such thing.
    #[must_use]
    pub fn or_if_absent(self, other: impl FnOnce() -> Self) -> Self {
        if self.is_absent() { other() } else { self }
    }

    /// The outcome in a few words: the value as `show` writes it, `not there` or `not readable: …`.
    pub fn describe(&self, show: impl FnOnce(&T) -> String) -> String {
        match self {
            Self::Read(value) => show(value),
            Self::Absent => "not there".to_owned(),
            Self::Unreadable(reason) => format!("not readable: {reason}"),
        }
    }
}

impl Reading<String> {
    /// The text, or `None` without one.
    pub fn text(&self) -> Option<&str> {
        self.get().map(String::as_str)
    }
}

impl<T> From<Result<T, String>> for Reading<T> {
    fn from(result: Result<T, String>) -> Self {
        match result {
            Ok(value) => Self::Read(value),
            Err(reason) => Self::Unreadable(reason),
        }
    }
}

/// An operating system's error without the number that the standard library appends.
pub fn error_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_outcomes_are_three_different_texts_and_survive_serialization() {
        let readings = [
            Reading::Read(String::new()),
            Reading::Absent,
            Reading::Unreadable("permission denied".to_owned()),
        ];
        let written: Vec<_> =
            readings.iter().map(|reading| serde_json::to_string(reading).unwrap()).collect();
        assert_eq!(
            written,
            [r#"{"read":""}"#, r#""absent""#, r#"{"unreadable":"permission denied"}"#]
        );
        for (text, reading) in written.iter().zip(&readings) {
            assert_eq!(&serde_json::from_str::<Reading<String>>(text).unwrap(), reading);
        }
        assert_eq!(readings[0].describe(|text| format!("`{text}`")), "``");
        assert_eq!(readings[1].describe(String::clone), "not there");
    }
}
