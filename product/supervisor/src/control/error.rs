//! How a request is refused: what is wrong, where, and what would help.

use std::fmt;

use quietcore_wording::{list, nearest};
use serde::{Deserialize, Serialize};

/// What kind of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The request is none, or not of this protocol.
    BadRequest,
    /// There is no such partition.
    NoPartition,
    /// There is no such variable.
    NoVariable,
    /// The value doesn't fit the variable.
    BadValue,
    /// The variable can't be written.
    NotWritable,
    /// Somebody else is at it, or there are too many clients.
    Busy,
    /// The partition can't do it in its present state.
    NotNow,
    /// The program could not be built.
    Build,
    /// The program was taken back after the swap.
    TakenBack,
    /// Something on our side failed.
    Failed,
}

/// A refusal: what is wrong, where, and what would help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlError {
    /// What kind.
    pub kind: ErrorKind,
    /// What is wrong.
    pub what: String,
    /// Where: partition, variable or key; empty where there is no place.
    #[serde(rename = "where", default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// What would help; empty where nothing is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

impl ControlError {
    /// A refusal.
    pub fn new(
        kind: ErrorKind,
        place: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { kind, what: what.into(), place: place.into(), remedy: remedy.into() }
    }

    /// There is no partition `name` among `known`.
    pub fn no_partition<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let remedy = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", quoted(&known)),
        };
        Self::new(ErrorKind::NoPartition, format!("`{name}`"), "no such partition", remedy)
    }
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.what)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for ControlError {}

/// Names in backticks, apart by commas.
pub fn quoted(names: &[impl AsRef<str>]) -> String {
    if names.is_empty() { "none".to_owned() } else { list(names) }
}
