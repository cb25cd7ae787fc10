//! Events of a partition, as its site tells them.

use serde::{Deserialize, Serialize};

/// The weight of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A change that is worth knowing.
    Information,
    /// Not as it should be, and the program runs.
    Warning,
    /// The program stopped or lost its fieldbus.
    Fault,
}

/// Something that happened to a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLine {
    /// Its number in the life of the site, from 0; where there is a gap, some are forgotten.
    pub sequence: u64,
    /// When, RFC 3339, UTC.
    pub at: String,
    /// The partition that it happened to.
    pub partition: String,
    /// The cycle in which it happened, where it is known.
    pub cycle: Option<u64>,
    /// The kind of the event, such as `overrun`.
    pub kind: String,
    /// The weight of the event.
    pub severity: Severity,
    /// The event, as a sentence.
    pub text: String,
    /// The client that asked for it, as in `anna in terminal pts/3 (quietcore set)`; `None` where
    /// nobody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}
