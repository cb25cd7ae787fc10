//! The probes: each measures one thing from inside a partition.
