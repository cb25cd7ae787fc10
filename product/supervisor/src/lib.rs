//! Keeps a site running.

pub mod retained;
