//! Reservations: partitions in containers, and what is changed of the machine for them.

pub(crate) mod container;
pub(crate) mod controls;
