//! x
pub mod controller;
