//! A reader of a trace, with a position of its own.

use quietcore_units::Nanos;

use crate::primitive::broadcast::BroadcastReader;
use crate::primitive::sequence::try_read;
use crate::sync::{AtomicU64, Relaxed};
use crate::trace::{
    BLOCK_WORDS, CONFIGURATION_WORDS, FIRST_SAMPLE, SAMPLE_HEADER_WORDS, TRACE_VARIABLES_MAX,
    TraceConfiguration,
};

/// The next thing that a reader of a trace finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceStep {
    /// No new sample so far.
    Nothing,
    /// Another configuration is in force; what follows belongs to it.
    Configured,
    /// A sample; its values are in the buffer.
    Sample {
        /// The cycle after which it was taken.
        cycle: u64,
        /// When it was taken, on the monotonic clock.
        time: Nanos,
    },
}

/// Reads the samples of a task's trace.
#[derive(Clone, Debug)]
pub struct TraceReader<'map> {
    accepted: &'map [AtomicU64],
    ring_words: &'map [AtomicU64],
    /// The sequence of the configuration that is followed; odd where there is none yet.
    sequence: u64,
    configuration: TraceConfiguration,
    ring: Option<BroadcastReader<'map>>,
    lost_before: u64,
}

impl<'map> TraceReader<'map> {
    /// Reads a trace; `None` when `words` don't hold one.
    pub fn new(words: &'map [AtomicU64]) -> Option<Self> {
        let (blocks, ring_words) = words.split_at_checked(CONFIGURATION_WORDS)?;
        let accepted = &blocks[BLOCK_WORDS..];
        let configuration = TraceConfiguration::OFF;
        Some(Self { accepted, ring_words, sequence: 1, configuration, ring: None, lost_before: 0 })
    }

    /// The configuration that the samples belong to.
    pub fn configuration(&self) -> &TraceConfiguration {
        &self.configuration
    }

    /// Samples that were overwritten before they were read.
    pub fn lost(&self) -> u64 {
        self.lost_before + self.ring.as_ref().map_or(0, BroadcastReader::lost)
    }

    /// The next sample, its values in `values`, in the order of the configuration. The first step
    /// tells the configuration in force.
    pub fn step(&mut self, values: &mut [u64; TRACE_VARIABLES_MAX]) -> TraceStep {
        if self.accepted[0].load(Relaxed) != self.sequence {
            return self.follow();
        }
        let Some(ring) = &mut self.ring else {
            return TraceStep::Nothing;
        };
        let mut words = [0; SAMPLE_HEADER_WORDS + TRACE_VARIABLES_MAX];
        let Ok(Some(_)) = ring.read(&mut words) else {
            return TraceStep::Nothing;
        };
        // `read` has fenced: had any word been one of a later configuration, its sequence would be
        // seen here.
        if self.accepted[0].load(Relaxed) != self.sequence {
            return self.follow();
        }
        let [cycle, time, read @ ..] = words;
        values.copy_from_slice(&read);
        TraceStep::Sample { cycle, time: Nanos::new(time) }
    }

    fn follow(&mut self) -> TraceStep {
        let Some((sequence, first, configuration)) = try_read(&self.accepted[0], || {
            (
                self.accepted[0].load(Relaxed),
                self.accepted[FIRST_SAMPLE].load(Relaxed),
                TraceConfiguration::load(self.accepted),
            )
        }) else {
            return TraceStep::Nothing;
        };
        self.lost_before = self.lost();
        self.sequence = sequence;
        self.configuration = configuration;
        self.ring = (!configuration.places().is_empty())
            .then(|| BroadcastReader::oldest(self.ring_words, configuration.record_words()))
            .flatten();
        if let Some(ring) = &mut self.ring {
            ring.skip_to(first);
        }
        TraceStep::Configured
    }
}
