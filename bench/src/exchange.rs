//! The exchange beside its peers: recording, signals and queues.

pub(crate) mod queue;
pub(crate) mod record;
pub(crate) mod signal;
