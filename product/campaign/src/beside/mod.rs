//! Disturbances beside the partitions of a run: load workers of the host, and neighbours that have
//! loads of their own.

pub(crate) mod loads;
pub(crate) mod neighbours;
