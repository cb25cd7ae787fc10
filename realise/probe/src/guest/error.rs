//! The reasons why a probe in a guest has no measurement.

use quietcore_process::exchange::ExchangeError;

use super::job::BadJob;
use super::runner::GuestError;

/// The reasons why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The guest did not run to its end.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// The exchange could not be made.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The job can't be encoded.
    #[error(transparent)]
    Job(#[from] BadJob),
    /// The statistics that the guest left can't be used.
    #[error("what the guest measured can't be used: {0}")]
    Unreadable(String),
}
