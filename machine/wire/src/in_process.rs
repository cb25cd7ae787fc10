//! A simulated segment in the same process: no socket, no privilege, no system call but waiting.
//!
//! ```text
//! send ─► copy ─► Segment::process ─► Answers ─► receive
//! ```
//!
//! The segment's work is done inside `send`, by the caller. What a real wire does meanwhile,
//! waiting included, is kept: a late frame arrives late, and a lost one costs the whole time-out.

use quietcore_clock::{Clock, Monotonic};
use quietcore_segment::Segment;
use quietcore_units::Nanos;

use crate::answers::Answers;
use crate::wire::{FRAME_BYTES_MAX, Wire, WireError};

/// A wire to a segment in the same process.
pub struct SegmentWire<C = Monotonic> {
    segment: Segment,
    clock: C,
    answers: Answers,
    /// When the last frame was sent.
    sent_at: Nanos,
    /// Memory in which a frame is answered in place.
    work: [u8; FRAME_BYTES_MAX],
}

impl SegmentWire {
    /// A wire to `segment` on the machine's clock.
    pub fn new(segment: Segment) -> Self {
        Self::with_clock(segment, Monotonic)
    }
}

impl<C: Clock> SegmentWire<C> {
    /// A wire to `segment` on the given clock.
    pub fn with_clock(segment: Segment, clock: C) -> Self {
        Self {
            segment,
            clock,
            answers: Answers::default(),
            sent_at: Nanos::ZERO,
            work: [0; FRAME_BYTES_MAX],
        }
    }

    /// The segment behind the wire.
    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    /// The segment behind the wire, to make it fail.
    pub fn segment_mut(&mut self) -> &mut Segment {
        &mut self.segment
    }

    /// Returns the clock that answers are timed by.
    pub fn clock(&self) -> &C {
        &self.clock
    }

    /// Copies the next frame that is due into `buffer`; drops those that are too long for it.
    fn take(&mut self, now: Nanos, buffer: &mut [u8]) -> Option<usize> {
        loop {
            let taken = self.answers.take(now, |frame| {
                buffer.get_mut(..frame.len())?.copy_from_slice(frame);
                Some(frame.len())
            });
            if let Some(bytes) = taken? {
                return Some(bytes);
            }
        }
    }

    /// The instant at which the next frame comes back by itself.
    pub fn next_due(&self) -> Option<Nanos> {
        self.answers.next_due()
    }

    /// Frames that did not come back.
    pub fn lost(&self) -> u64 {
        self.answers.lost()
    }
}

impl<C: Clock> Wire for SegmentWire<C> {
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        let Some(work) = self.work.get_mut(..frame.len()) else {
            return Err(WireError::TooLong { bytes: frame.len(), limit: FRAME_BYTES_MAX });
        };
        work.copy_from_slice(frame);
        let now = self.clock.now();
        let delivery = self.segment.process(work, now);
        self.answers.accept(work, delivery, now);
        self.sent_at = now;
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        // What was due when the last frame went out is due now: most answers cost no look at the
        // clock.
        if let Some(bytes) = self.take(self.sent_at, buffer) {
            return Ok(Some(bytes));
        }
        loop {
            let now = self.clock.now();
            if let Some(bytes) = self.take(now, buffer) {
                return Ok(Some(bytes));
            }
            if now >= until {
                return Ok(None);
            }
            let due = self.answers.next_due().unwrap_or(until);
            self.clock.sleep_until(due.min(until));
        }
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_clock::FakeClock;
    use quietcore_segment::Options;

    fn wire() -> SegmentWire<FakeClock> {
        let clock = FakeClock::new(Nanos::ZERO, Nanos::new(20), []);
        SegmentWire::with_clock(Segment::new(vec![], Options::default()), clock)
    }

    #[test]
    fn a_frame_that_does_not_come_back_costs_the_time_out() {
        let mut wire = wire();
        wire.send(&[0; 60]).unwrap();
        let mut buffer = [0; FRAME_BYTES_MAX];
        assert_eq!(wire.receive(&mut buffer, Nanos::from_micros(100)), Ok(None));
        assert!(wire.now() >= Nanos::from_micros(100));
        assert_eq!(wire.lost(), 1);
    }

    #[test]
    fn a_late_frame_is_waited_for_until_the_end_of_the_time_out() {
        let mut wire = wire();
        wire.answers.accept(
            &[7; 60],
            quietcore_segment::Delivery::Late(Nanos::from_micros(50)),
            Nanos::ZERO,
        );
        let mut buffer = [0; FRAME_BYTES_MAX];
        assert_eq!(wire.receive(&mut buffer, Nanos::from_micros(40)), Ok(None));
        assert_eq!(wire.receive(&mut buffer, Nanos::from_micros(60)), Ok(Some(60)));
        assert_eq!(buffer[..60], [7; 60]);
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused() {
        let refused = wire().send(&[0; FRAME_BYTES_MAX + 1]);
        assert_eq!(refused, Err(WireError::TooLong { bytes: 1515, limit: 1514 }));
    }

    #[test]
    fn a_frame_longer_than_the_buffer_is_dropped() {
        let mut wire = wire();
        wire.answers.accept(&[1; 60], quietcore_segment::Delivery::Deliver, Nanos::ZERO);
        assert_eq!(wire.receive(&mut [0; 59], Nanos::from_micros(1)), Ok(None));
        assert_eq!(wire.receive(&mut [0; 60], Nanos::from_micros(2)), Ok(None));
    }
}
