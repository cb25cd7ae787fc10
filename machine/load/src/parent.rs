//! The side of the parent: checking requests, starting workers, watching and ending them.

pub(crate) mod achieved;
pub(crate) mod check;
mod child;
mod facts;
pub(crate) mod set;
mod stat;
mod worker;
