//! Why there is no measurement.

use quietcore_process::exchange::ExchangeError;

use super::job::BadJob;
use super::runner::GuestError;

/// There is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The guest did not run to its end.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// There is no exchange.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The job can't be encoded.
    #[error(transparent)]
    Job(#[from] BadJob),
    /// What the guest left is no measurement.
    #[error("what the guest measured can't be used: {0}")]
    Unreadable(String),
}
