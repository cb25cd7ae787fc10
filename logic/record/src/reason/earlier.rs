//! Reasons of earlier versions, which kept sentences and no more.
//!
//! Records of schema `quietcore.record/1` have a sentence where there is a code now. Two kinds of
//! them decide what a reader is shown, and are told by how they begin; nothing else is read out of
//! a sentence.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The beginning of every sentence about time that is not real.
const NOT_REAL: &str = "timing not valid: ";
/// The beginning, and a later part, of the sentence about an injected delay that was seen.
const INJECTED: &str = "a delay of ";
const SEEN: &str = " and was seen there as ";

/// A sentence of an earlier version, which is a plain string in files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Stated(String);

impl Stated {
    /// Returns the cause where the sentence is about time that is not real.
    pub fn time_not_real(&self) -> Option<&str> {
        self.0.strip_prefix(NOT_REAL)
    }

    /// Returns `true` where the sentence is about an injected delay that was seen.
    pub fn is_seen_injection(&self) -> bool {
        self.0.starts_with(INJECTED) && self.0.contains(SEEN)
    }
}

impl<T: Into<String>> From<T> for Stated {
    fn from(sentence: T) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for Stated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
