//! Messages of the contract made of values, and values of messages.
//!
//! A client's message may lack a part that the contract asks for; it is refused as the same request
//! is on the command line.

pub mod answer;
mod change;
mod cpu;
mod host;
mod partition;
mod program;
mod site;
mod variable;

pub use change::{change, restart};
pub use variable::value;
