//! Answers the frames of a wire with a simulated segment, for a main device somewhere else.

use quietcore_segment::Segment;
use quietcore_units::Nanos;

use crate::answers::Answers;
use crate::wire::{FRAME_BYTES_MAX, Wire, WireError};

/// The longest wait of the server before it looks if it shall stop.
const PATIENCE: Nanos = Nanos::from_millis(50);

/// The counts of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Frames received, answered or not.
    pub received: u64,
    /// Frames that were sent back.
    pub answered: u64,
    /// Answers that the wire did not take.
    pub refused: u64,
}

/// A segment behind a wire.
pub struct Server<W> {
    wire: W,
    segment: Segment,
    answers: Answers,
    served: Served,
}

impl<W: Wire> Server<W> {
    /// Puts `segment` behind `wire`.
    pub fn new(wire: W, segment: Segment) -> Self {
        Self { wire, segment, answers: Answers::default(), served: Served::default() }
    }

    /// Answers frames until `stop` says so; it is asked after each frame and 20 times a second.
    ///
    /// # Errors
    /// When the wire is of no use any more. An answer that the wire doesn't take is counted.
    pub fn serve(&mut self, mut stop: impl FnMut(&Served) -> bool) -> Result<Served, WireError> {
        let mut frame = [0; FRAME_BYTES_MAX];
        while !stop(&self.served) {
            let patience = self.wire.now() + PATIENCE;
            let until = self.answers.next_due().map_or(patience, |due| due.min(patience));
            if let Some(bytes) = self.wire.receive(&mut frame, until)? {
                self.served.received += 1;
                let now = self.wire.now();
                let delivery = self.segment.process(&mut frame[..bytes], now);
                self.answers.accept(&frame[..bytes], delivery, now);
                self.answer(now);
            } else {
                self.answer(self.wire.now());
            }
        }
        Ok(self.served)
    }

    /// The segment behind the wire, to make it fail.
    pub fn segment_mut(&mut self) -> &mut Segment {
        &mut self.segment
    }

    /// Returns the counts so far.
    pub fn served(&self) -> Served {
        self.served
    }

    fn answer(&mut self, now: Nanos) {
        while let Some(sent) = self.answers.take(now, |frame| self.wire.send(frame)) {
            match sent {
                Ok(()) => self.served.answered += 1,
                Err(_) => self.served.refused += 1,
            }
        }
    }
}
