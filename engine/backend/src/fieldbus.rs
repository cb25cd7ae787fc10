//! The fieldbus of a partition: what its process is told of it.

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// A fieldbus that a partition drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldbusJob {
    /// Time between two frames.
    pub cycle: Nanos,
}
