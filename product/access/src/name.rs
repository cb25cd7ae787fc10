//! Names of people and programs that have credentials.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest name, in bytes. With its role and kind of credential it has to fit the 64 characters
/// that a site keeps of whoever asks.
pub const NAME_BYTES_MAX: usize = 40;

/// The checked name of whoever has a credential: letters, digits, `-`, `_` and `.` of ASCII, with a
/// letter or digit first. It can stand in a certificate, a log and a path as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// The error of a text that can't be a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is no name; use up to {NAME_BYTES_MAX} letters, digits, `-`, `_` and `.`, with a letter \
     or digit first",
    shown(.0)
)]
pub struct NameError(String);

/// Returns the beginning of a text without anything that a terminal obeys.
fn shown(text: &str) -> String {
    text.chars().take(NAME_BYTES_MAX).flat_map(char::escape_default).collect()
}

/// Returns `true` if the text can be the name of a person, a site or a partition.
pub(crate) fn is_name(text: &str, bytes_max: usize) -> bool {
    let allowed = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    text.len() <= bytes_max
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(allowed)
}

impl Name {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        if is_name(&text, NAME_BYTES_MAX) { Ok(Self(text)) } else { Err(NameError(text)) }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::try_from(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_or_break_a_line_are_refused() {
        for good in ["anna", "scada-7", "A.b_c", &"x".repeat(NAME_BYTES_MAX)] {
            assert!(good.parse::<Name>().is_ok(), "{good}");
        }
        let long = "x".repeat(NAME_BYTES_MAX + 1);
        for bad in
            ["", "../anna", ".anna", "-anna", "anna\nroot", "an na", "anna\0", "änna", "🙂", &long]
        {
            let refused = bad.parse::<Name>().unwrap_err().to_string();
            assert!(refused.is_ascii() && !refused.contains(char::is_control), "{refused}");
        }
    }
}
