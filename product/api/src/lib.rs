//! The gRPC contract of `quietcored`, and how it maps onto the product's own values.
//!
//! ```text
//! proto/quietcore/v1/*.proto ── build script ──► v1: messages, clients, servers
//!                                                 ▲
//! quietcore_control, host, program, site ── convert, refusal
//! ```
//!
//! The files in `proto/` are the contract; nothing here adds to it. A running site understands the
//! vocabulary of control ([`quietcore_control`]), so each message about one is the same value in
//! another notation: [`convert`] has no decisions.
//!
//! | module | content |
//! |--------|---------|
//! | [`v1`] | what the build script makes of `proto/quietcore/v1` |
//! | [`convert`] | messages of values, and values of messages |
//! | [`refusal`] | refusals as gRPC statuses, and back |
//!
//! Within `quietcore.v1` messages, fields, values and calls may be added. None is removed,
//! renumbered or given another meaning.

#![forbid(unsafe_code)]

mod contract;
pub mod convert;
pub mod refusal;

pub use contract::{FILE_DESCRIPTOR_SET, v1};
