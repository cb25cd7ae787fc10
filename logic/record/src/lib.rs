//! What a probe run yields, and what follows from it.

pub mod class;
