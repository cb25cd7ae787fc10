//! The functions that a program is run by.

use serde::{Deserialize, Serialize};

/// How the generator packed the model's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Packaging {
    /// Global variables; the functions take nothing or the number of a rate.
    Global,
    /// The model structure, and perhaps inputs and outputs, are passed to each function.
    Reusable,
}

/// What is run at one rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// The functions, in the order of calls.
    pub functions: Vec<String>,
    /// The period in nanoseconds, where the generator left a remark on it.
    pub period_ns: Option<u64>,
}

/// The functions that a program is run by, and what is known of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Name of the model.
    pub model: String,
    /// How its data are packed.
    pub packaging: Packaging,
    /// What is run at each rate; the first is the fastest. Never empty.
    pub rates: Vec<Rate>,
    /// The function that comes first.
    pub initialize: String,
    /// The function that comes last, where there is one.
    pub terminate: Option<String>,
    /// Whether the model keeps an error status.
    pub error_status: bool,
    /// Whether it sends or receives signals through `Com.h`.
    pub com: bool,
}
