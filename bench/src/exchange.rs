//! The exchange beside its peers: recording, signals, queues and traces.

pub(crate) mod queue;
pub(crate) mod record;
pub(crate) mod signal;
pub(crate) mod trace;
