//! The daemon as a service of systemd: its units, and the sockets that systemd hands over.

mod activation;
mod unit;

pub use activation::{Activation, ActivationError};
pub use unit::Unit;
