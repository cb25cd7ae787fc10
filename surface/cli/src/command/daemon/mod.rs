//! The commands around `quietcored`.

pub(super) mod auth;
pub(super) mod context;
mod entered;
