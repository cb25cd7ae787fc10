//! Probes inside of a guest: what it is asked, who runs it, and what comes back.
//!
//! | module | what | for |
//! |---|---|---|
//! | [`job`] | what a guest is asked to measure | both sides |
//! | `runner` | a guest from its image to its end | the host |
//! | `irq`, `osek`, `latency` | the probes of these names | the host |
//! | `cover` | which exit covers a spike | the host |
//!
//! What a guest measured comes back in its exchange. That it was measured in a guest, and how often
//! its processor left it meanwhile, are conditions of the figures.

#[cfg(feature = "process")]
pub mod cover;
#[cfg(feature = "process")]
mod devices;
#[cfg(feature = "process")]
mod error;
#[cfg(feature = "process")]
pub mod irq;
pub mod job;
#[cfg(feature = "process")]
pub mod latency;
#[cfg(feature = "process")]
pub mod osek;
#[cfg(feature = "process")]
pub mod runner;

#[cfg(feature = "process")]
pub use error::ProbeError;
