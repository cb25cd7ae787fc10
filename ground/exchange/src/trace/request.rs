//! The host's side of a trace: what shall be traced, and what the task says to that.

use core::fmt;

use crate::commands::WhyRejected;
use crate::primitive::sequence::{SequenceWriter, try_read};
use crate::sync::{AtomicU64, Relaxed};
use crate::trace::{
    ANSWERED, BLOCK_WORDS, CONFIGURATION_WORDS, REFUSED, TRACE_VARIABLES_MAX, TraceConfiguration,
};

/// Why a trace was not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceRequestError {
    /// More than [`TRACE_VARIABLES_MAX`] variables.
    TooMany {
        /// The variables that were asked for.
        count: usize,
    },
    /// A sample after each zeroth cycle.
    EveryZero,
}

impl fmt::Display for TraceRequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { count } => {
                write!(f, "{count} variables are too many; use {TRACE_VARIABLES_MAX} at most")
            }
            Self::EveryZero => f.write_str("a trace samples each first cycle at most; use 1"),
        }
    }
}

impl core::error::Error for TraceRequestError {}

/// Asks a task for a trace. There must be one for each task, not more.
#[derive(Debug)]
pub struct TraceRequester<'map> {
    sequence: SequenceWriter<'map>,
    request: &'map [AtomicU64],
    accepted: &'map [AtomicU64],
}

impl<'map> TraceRequester<'map> {
    /// Takes over the request of a trace; `None` when `words` don't hold one.
    pub fn resume(words: &'map [AtomicU64]) -> Option<Self> {
        let (request, accepted) = words.get(..CONFIGURATION_WORDS)?.split_at(BLOCK_WORDS);
        Some(Self { sequence: SequenceWriter::resume(&request[0]), request, accepted })
    }

    /// Asks for a trace in place of the one before; [`TraceConfiguration::OFF`] ends it.
    pub fn ask(&mut self, configuration: &TraceConfiguration) {
        self.sequence.begin();
        configuration.store(self.request);
        self.sequence.end();
    }

    /// Returns the task's answer to the last request; `None` until the task has seen it.
    pub fn answer(&self) -> Option<Result<(), WhyRejected>> {
        let (answered, refused) = try_read(&self.accepted[0], || {
            (self.accepted[ANSWERED].load(Relaxed), self.accepted[REFUSED].load(Relaxed))
        })?;
        (answered == self.sequence.ended()).then(|| match refused {
            0 => Ok(()),
            code => Err(WhyRejected::from_code(code as u16)),
        })
    }
}
