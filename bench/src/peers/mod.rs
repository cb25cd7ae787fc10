//! The peers of more than one comparison, and the versions of all.

pub(crate) mod cyclictest;
pub(crate) mod python;
pub(crate) mod script;
pub(crate) mod versions;
