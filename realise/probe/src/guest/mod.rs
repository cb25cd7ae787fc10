//! Probes inside of a guest: their jobs, their runner, and their results.
//!
//! | module | what | for |
//! |---|---|---|
//! | [`job`] | the jobs of guests | both sides |
//! | `hypervisor` | the seam behind which a guest is run, ours or another | the host |
//! | `runner` | a guest of ours from its image to its end | the host |
//! | `ethercat`, `irq`, `osek`, `latency` | the probes of these names | the host |
//! | `cover` | the exits and waits that cover a spike | the host |
//!
//! The results come back in the exchange of the guest. That they were measured in a guest, and how
//! often its processor left it meanwhile, are conditions of the figures.

#[cfg(feature = "process")]
pub mod cover;
#[cfg(feature = "process")]
mod devices;
#[cfg(feature = "process")]
mod error;
#[cfg(feature = "process")]
pub mod ethercat;
#[cfg(feature = "process")]
pub mod hypervisor;
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
