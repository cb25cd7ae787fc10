//! The control socket, both ends of it, and the lines between them.

pub mod channel;
pub mod client;
pub(crate) mod peer;
pub mod server;
