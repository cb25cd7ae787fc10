//! The task's side of a trace: it samples, and looks for requests.

use quietcore_units::Nanos;

use crate::commands::WhyRejected;
use crate::data::DataSlot;
use crate::primitive::broadcast::BroadcastWriter;
use crate::primitive::sequence::{SequenceWriter, try_read};
use crate::sync::{AtomicU64, Relaxed};
use crate::trace::{
    ANSWERED, BLOCK_WORDS, CONFIGURATION_WORDS, FIRST_SAMPLE, REFUSED, TraceConfiguration,
};

/// Samples variables. There must be one for each task, not more.
#[derive(Debug)]
pub struct TraceWriter<'map> {
    request: &'map [AtomicU64],
    accepted: &'map [AtomicU64],
    ring_words: &'map [AtomicU64],
    sequence: SequenceWriter<'map>,
    data_bytes: u32,
    /// The sequence of the request that was answered last.
    seen: u64,
    running: Option<Running<'map>>,
}

#[derive(Debug)]
struct Running<'map> {
    ring: BroadcastWriter<'map>,
    configuration: TraceConfiguration,
    /// Cycles until the next sample.
    wait: u64,
}

impl<'map> TraceWriter<'map> {
    /// Takes over the trace of a task whose data slots have `data_bytes` bytes; `None` when `words`
    /// don't hold one.
    pub fn resume(words: &'map [AtomicU64], data_bytes: u32) -> Option<Self> {
        let (blocks, ring_words) = words.split_at_checked(CONFIGURATION_WORDS)?;
        let (request, accepted) = blocks.split_at(BLOCK_WORDS);
        let mut writer = Self {
            request,
            accepted,
            ring_words,
            sequence: SequenceWriter::resume(&accepted[0]),
            data_bytes,
            // No request has an odd sequence, so one that stands there already will be seen.
            seen: 1,
            running: None,
        };
        writer.publish(0, Err(WhyRejected::NotNow));
        Some(writer)
    }

    /// Returns `true` while samples are being taken.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// To be called after each cycle: takes a sample if one is due. One relaxed load when the trace
    /// is off. `data` is the slot that the program runs in, as build `generation`.
    #[inline]
    pub fn sample(&mut self, cycle: u64, time: Nanos, data: &DataSlot<'_>, generation: u32) {
        self.look(generation);
        self.take(cycle, time, data, generation);
    }

    /// Looks for a request: the first half of [`sample`](Self::sample), where that is done in two
    /// places.
    #[inline]
    pub fn look(&mut self, generation: u32) {
        if self.request[0].load(Relaxed) != self.seen {
            self.look_at_request(generation);
        }
    }

    /// Takes a sample if one is due: the other half.
    #[inline]
    pub fn take(&mut self, cycle: u64, time: Nanos, data: &DataSlot<'_>, generation: u32) {
        let Some(running) = &mut self.running else {
            return;
        };
        if running.wait > 0 {
            running.wait -= 1;
            return;
        }
        running.wait = running.configuration.every - 1;
        if running.configuration.generation != generation {
            self.stop(WhyRejected::OtherGeneration);
            return;
        }
        let places = running.configuration.places();
        let values = places.iter().map(|place| {
            // The places were checked when the request was accepted.
            data.read_value(place.offset, place.bytes).unwrap_or(0)
        });
        running.ring.write([cycle, time.get()].into_iter().chain(values));
    }

    #[cold]
    fn look_at_request(&mut self, generation: u32) {
        // Where the host is still writing, the next cycle looks again.
        let Some((sequence, configuration)) = try_read(&self.request[0], || {
            (self.request[0].load(Relaxed), TraceConfiguration::load(self.request))
        }) else {
            return;
        };
        self.seen = sequence;
        self.running = None;
        let result = self.check(&configuration, generation);
        if result.is_ok()
            && !configuration.places().is_empty()
            && let Some(ring) =
                BroadcastWriter::resume(self.ring_words, configuration.record_words())
        {
            self.running = Some(Running { ring, configuration, wait: 0 });
        }
        self.publish(sequence / 2, result);
    }

    fn check(
        &self,
        configuration: &TraceConfiguration,
        generation: u32,
    ) -> Result<(), WhyRejected> {
        if configuration.places().is_empty() {
            return Ok(());
        }
        if configuration.generation != generation {
            return Err(WhyRejected::OtherGeneration);
        }
        for place in configuration.places() {
            if !matches!(place.bytes, 1 | 2 | 4 | 8) {
                return Err(WhyRejected::BadSize);
            }
            if u64::from(place.offset) + u64::from(place.bytes) > u64::from(self.data_bytes) {
                return Err(WhyRejected::OutOfData);
            }
        }
        Ok(())
    }

    fn stop(&mut self, why: WhyRejected) {
        self.running = None;
        self.publish(self.seen / 2, Err(why));
    }

    fn publish(&mut self, answered: u64, result: Result<(), WhyRejected>) {
        self.sequence.begin();
        let configuration = match &self.running {
            Some(running) => &running.configuration,
            None => &TraceConfiguration::OFF,
        };
        configuration.store(self.accepted);
        let first = self.running.as_ref().map_or(0, |running| running.ring.next_number());
        self.accepted[FIRST_SAMPLE].store(first, Relaxed);
        self.accepted[ANSWERED].store(answered, Relaxed);
        let refused = result.err().map_or(0, WhyRejected::code);
        self.accepted[REFUSED].store(u64::from(refused), Relaxed);
        self.sequence.end();
    }
}
