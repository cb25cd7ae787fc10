//! The cycle: all process data out and in, with a bound on the waiting.
//!
//! ```text
//! frame 0: | FRMW time | BRD AL status | LRW process data | one datagram of the supervision |
//! frame 1: | LRW process data |  …
//! ```
//!
//! The frames are built once. A cycle copies the outputs into them, hands all of them over, and
//! takes them back until all are there or the time is over. One that does not come back is counted;
//! one of an earlier cycle is recognised by its index and dropped.
//!
//! Between send and receive there is no allocation, no lock, no log; the only waiting is
//! [`Wire::receive`], which ends at the given instant. The inputs of a SubDevice that did not
//! answer stay as they were: what it did not write comes back as it was sent, and sent are the old
//! inputs.
//!
//! This is not `ethercrab`'s own cycle: that asks each SubDevice for its state in each cycle, waits
//! for one frame before it sends the next, and arms a timer a frame. The bring-up is `ethercrab`'s.

mod layout;

use alloc::vec;
use alloc::vec::Vec;

use quietcore_units::Nanos;
use quietcore_wire::{FRAME_BYTES_MAX, Wire, WireError};

use crate::frame::register;
use crate::frame::{Command, DATA_BYTES_MAX, FrameBuffer, Mark, Request, index_of};
use crate::subdevice::SubDevice;

use layout::{Chunk, chunks};

/// Frames of no question that are looked at in one cycle at most.
const STRAY_FRAMES_MAX: u16 = 64;

/// Times from here on, 292 years, are none. So no sum with one overflows, whatever a clock says.
const DC_TIME_END_NS: u64 = 1 << 63;

/// The outcome of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CycleOutcome {
    /// The working counters of all process data, summed up.
    pub working_counter: u16,
    /// The sum if every SubDevice takes part.
    pub expected: u16,
    /// The time of the reference clock when the frame passed it; `None` without one or without an
    /// answer from it.
    pub dc_time: Option<Nanos>,
    /// Number of SubDevices that the frame passed.
    pub present: u16,
    /// The AL states of all of them, combined by OR: 8 if all are in OP, without the error bit
    /// 0x10.
    pub al_states: u8,
    /// Frames that did not come back in time, or were not taken.
    pub lost_frames: u16,
    /// Frames that came and belonged to no question of this cycle.
    pub stray_frames: u16,
    /// The last refusal of the wire.
    pub refusal: Option<WireError>,
}

impl CycleOutcome {
    /// Returns `true` if not all process data came back; inputs are then partly those of an earlier
    /// cycle.
    pub fn lost(&self) -> bool {
        self.lost_frames > 0
    }

    /// Returns `true` if all data came back with the expected working counter.
    pub fn is_complete(&self) -> bool {
        !self.lost() && self.working_counter == self.expected
    }
}

/// A part of a frame: where its data begin, and what they are.
#[derive(Debug)]
enum FramePart {
    Time { place: usize },
    States { place: usize },
    Process { place: usize, chunk: Chunk },
}

/// One frame of the cycle.
struct CyclicFrame {
    buffer: FrameBuffer,
    /// End of the part that is the same in each cycle.
    mark: Mark,
    parts: Vec<FramePart>,
    /// The index that it was sent with, while its answer is awaited.
    awaited: Option<u8>,
}

/// The one datagram of a cycle that is not cyclic.
struct Passenger {
    request: Option<Request>,
    data: [u8; DATA_BYTES_MAX],
    /// The frame and place that it travels in.
    seat: Option<(usize, usize)>,
    answer: Answer,
}

/// The fate of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    None,
    Lost,
    Came { working_counter: u16 },
}

/// The forecast of the reference clock in the next cycle.
///
/// It goes out in the datagram that the clock answers, because the others write to themselves what
/// they find there. Should the clock be gone they find this instead of zero, and nobody is misled.
/// One nanosecond is added, so that a clock as regular as clockwork differs from it; when a clock
/// says the same by chance, its time is missing for one cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Forecast {
    last_ns: u64,
    /// Time from one cycle to the next, by the reference clock.
    step_ns: u64,
}

impl Forecast {
    fn sent_ns(self) -> u64 {
        self.last_ns.wrapping_add(self.step_ns).wrapping_add(1)
    }

    /// A cycle passes without an answer.
    fn pass(&mut self) {
        self.last_ns = self.last_ns.wrapping_add(self.step_ns);
    }

    /// Takes what came back; returns the time if it was the reference clock that put it there.
    fn take(&mut self, found_ns: u64) -> Option<Nanos> {
        let sent_ns = self.sent_ns();
        if found_ns == sent_ns {
            self.pass();
            return None;
        }
        if self.last_ns != 0 {
            self.step_ns = found_ns.wrapping_sub(self.last_ns);
        }
        self.last_ns = found_ns;
        Some(Nanos::new(found_ns))
    }
}

/// The cycle's frames, and the process image.
pub(crate) struct Cycle {
    frames: Vec<CyclicFrame>,
    image: Vec<u8>,
    forecast: Forecast,
    passenger: Passenger,
    /// Index of the next frame.
    index: u8,
    expected: u16,
    received: [u8; FRAME_BYTES_MAX],
}

impl Cycle {
    /// Builds the frames for these SubDevices; `reference` is the address of the reference clock.
    pub(crate) fn new(subdevices: &[SubDevice], reference: Option<u16>) -> Self {
        let bytes = |subdevice: &SubDevice| subdevice.inputs.end.max(subdevice.outputs.end);
        let mut builder = Builder { frames: Vec::new(), buffer: FrameBuffer::new(), parts: vec![] };
        if let Some(reference) = reference {
            builder.push(Request::distribute_time(reference), |place| FramePart::Time { place });
        }
        let states = Request::read_all(register::AL_STATUS, 2);
        builder.push(states, |place| FramePart::States { place });
        let chunks = chunks(subdevices);
        let expected = chunks.iter().map(|chunk| chunk.expected).sum();
        for chunk in chunks {
            let address = chunk.image.start as u32;
            let request = Request::logical(chunk.command, address, chunk.image.len() as u16);
            builder.push(request, |place| FramePart::Process { place, chunk });
        }
        builder.finish_frame();
        // The last one is empty: it carries a passenger that fits in no other.
        builder.finish_frame();
        Self {
            frames: builder.frames,
            image: vec![0; subdevices.iter().map(bytes).max().unwrap_or_default()],
            forecast: Forecast::default(),
            passenger: Passenger {
                request: None,
                data: [0; DATA_BYTES_MAX],
                seat: None,
                answer: Answer::None,
            },
            index: 0,
            expected,
            received: [0; FRAME_BYTES_MAX],
        }
    }

    pub(crate) fn image(&self) -> &[u8] {
        &self.image
    }

    pub(crate) fn image_mut(&mut self) -> &mut [u8] {
        &mut self.image
    }

    /// Sends the reference clock's time to all others, or not. Not while that clock is set anew:
    /// the others would follow it.
    pub(crate) fn distribute_time(&mut self, on: bool) {
        let command = if on { Command::Frmw } else { Command::Nop };
        for frame in &mut self.frames {
            for part in &frame.parts {
                if let FramePart::Time { place } = part {
                    frame.buffer.set_command(*place, command);
                }
            }
        }
    }

    /// Lets a datagram travel with the next cycle; `fill` writes its data. LWR carries what the
    /// image holds at its place when it leaves, or it would take outputs back to older ones.
    pub(crate) fn take_along(&mut self, request: Request, fill: impl FnOnce(&mut [u8])) {
        let bytes = usize::from(request.bytes).min(DATA_BYTES_MAX);
        let data = &mut self.passenger.data[..bytes];
        data.fill(0);
        fill(data);
        self.passenger.request = Some(Request { bytes: bytes as u16, ..request });
        self.passenger.answer = Answer::None;
    }

    /// Returns `true` if a datagram waits for the next cycle, or its answer to be taken.
    pub(crate) fn has_passenger(&self) -> bool {
        self.passenger.request.is_some()
    }

    /// Takes the answer to the datagram that travelled with the last cycle: `None` if there was no
    /// such datagram, `Some(None)` if it was lost.
    pub(crate) fn answer(&mut self) -> Option<Option<(&[u8], u16)>> {
        let answer = core::mem::replace(&mut self.passenger.answer, Answer::None);
        let bytes = usize::from(self.passenger.request?.bytes);
        match answer {
            Answer::None => None,
            Answer::Lost => {
                self.passenger.request = None;
                Some(None)
            }
            Answer::Came { working_counter } => {
                self.passenger.request = None;
                Some(Some((&self.passenger.data[..bytes], working_counter)))
            }
        }
    }

    /// One cycle; ends at `until` at the latest.
    pub(crate) fn run(&mut self, wire: &mut impl Wire, until: Nanos) -> CycleOutcome {
        let mut outcome = CycleOutcome { expected: self.expected, ..CycleOutcome::default() };
        self.send(wire, &mut outcome);
        self.receive(wire, until, &mut outcome);
        if outcome.lost() && outcome.dc_time.is_none() {
            self.forecast.pass();
        }
        outcome
    }

    fn send(&mut self, wire: &mut impl Wire, outcome: &mut CycleOutcome) {
        self.board();
        let Self { frames, image, index, forecast, .. } = self;
        let time = forecast.sent_ns().to_le_bytes();
        for (number, frame) in frames.iter_mut().enumerate() {
            let carries = |seat: (usize, usize)| seat.0 == number;
            if frame.parts.is_empty() && !self.passenger.seat.is_some_and(carries) {
                continue;
            }
            for part in &frame.parts {
                match part {
                    FramePart::Time { place } => {
                        frame.buffer.data_mut(*place, 8).copy_from_slice(&time);
                    }
                    FramePart::States { place } => frame.buffer.data_mut(*place, 2).fill(0),
                    FramePart::Process { place, chunk } => frame
                        .buffer
                        .data_mut(*place, chunk.image.len())
                        .copy_from_slice(&image[chunk.image.clone()]),
                }
            }
            *index = index.wrapping_add(1);
            match wire.send(frame.buffer.finish(*index)) {
                Ok(()) => frame.awaited = Some(*index),
                Err(refusal) => {
                    outcome.lost_frames += 1;
                    outcome.refusal = Some(refusal);
                }
            }
        }
    }

    /// Gives the passenger a seat in the first frame with room for it.
    fn board(&mut self) {
        self.passenger.seat = None;
        for frame in &mut self.frames {
            frame.buffer.cut(frame.mark);
            frame.awaited = None;
        }
        let Some(request) = self.passenger.request else { return };
        self.passenger.answer = Answer::Lost;
        for (number, frame) in self.frames.iter_mut().enumerate() {
            if let Some(place) = frame.buffer.push(request) {
                let bytes = usize::from(request.bytes);
                let start = request.address as usize;
                let data = match request.command {
                    Command::Lwr => &self.image[start..start + bytes],
                    _ => &self.passenger.data[..bytes],
                };
                frame.buffer.data_mut(place, bytes).copy_from_slice(data);
                self.passenger.seat = Some((number, place));
                return;
            }
        }
    }

    fn receive(&mut self, wire: &mut impl Wire, until: Nanos, outcome: &mut CycleOutcome) {
        let mut awaited = self.frames.iter().filter(|frame| frame.awaited.is_some()).count();
        // A flood of other frames must not hold the cycle up beyond its end.
        while awaited > 0 && outcome.stray_frames < STRAY_FRAMES_MAX {
            match wire.receive(&mut self.received, until) {
                Ok(Some(bytes)) => match self.take(bytes, outcome) {
                    Some(()) => awaited -= 1,
                    None => outcome.stray_frames += 1,
                },
                Ok(None) => break,
                Err(refusal) => {
                    outcome.refusal = Some(refusal);
                    break;
                }
            }
        }
        outcome.lost_frames += awaited as u16;
    }

    /// Takes a frame that came; `None` if it is none of this cycle.
    fn take(&mut self, bytes: usize, outcome: &mut CycleOutcome) -> Option<()> {
        let answer = &self.received[..bytes];
        let index = index_of(answer)?;
        let number = self.frames.iter().position(|frame| frame.awaited == Some(index))?;
        let frame = &mut self.frames[number];
        // Everything is looked at before anything is taken: a frame counts whole or not at all.
        for part in &frame.parts {
            let (place, bytes) = match part {
                FramePart::Time { place } => (*place, 8),
                FramePart::States { place } => (*place, 2),
                FramePart::Process { place, chunk } => (*place, chunk.image.len()),
            };
            frame.buffer.answer(answer, place, bytes)?;
        }
        frame.awaited = None;
        for part in &frame.parts {
            let image = &mut self.image;
            take_part(part, &frame.buffer, answer, image, &mut self.forecast, outcome);
        }
        if let (Some((_, place)), Some(request)) =
            (self.passenger.seat.filter(|seat| seat.0 == number), self.passenger.request)
        {
            let bytes = usize::from(request.bytes);
            if let Some((data, working_counter)) = frame.buffer.answer(answer, place, bytes) {
                self.passenger.data[..bytes].copy_from_slice(data);
                self.passenger.answer = Answer::Came { working_counter };
            }
        }
        Some(())
    }
}

/// Takes one part of an answer that was found to be right.
fn take_part(
    part: &FramePart,
    sent: &FrameBuffer,
    answer: &[u8],
    image: &mut [u8],
    forecast: &mut Forecast,
    outcome: &mut CycleOutcome,
) {
    match part {
        FramePart::Time { place } => {
            if let Some((data, 1..)) = sent.answer(answer, *place, 8)
                && let Some(time) = data.first_chunk().map(|time| u64::from_le_bytes(*time))
                && time < DC_TIME_END_NS
            {
                outcome.dc_time = forecast.take(time);
            }
        }
        FramePart::States { place } => {
            if let Some((data, present)) = sent.answer(answer, *place, 2) {
                outcome.al_states = data[0];
                outcome.present = present;
            }
        }
        FramePart::Process { place, chunk } => {
            if let Some((data, counter)) = sent.answer(answer, *place, chunk.image.len()) {
                for inputs in &chunk.inputs {
                    let here = inputs.start - chunk.image.start..inputs.end - chunk.image.start;
                    image[inputs.clone()].copy_from_slice(&data[here]);
                }
                outcome.working_counter = outcome.working_counter.saturating_add(counter);
            }
        }
    }
}

/// Puts datagrams into frames.
struct Builder {
    frames: Vec<CyclicFrame>,
    buffer: FrameBuffer,
    parts: Vec<FramePart>,
}

impl Builder {
    fn push(&mut self, request: Request, part: impl FnOnce(usize) -> FramePart) {
        if self.buffer.room() < usize::from(request.bytes) {
            self.finish_frame();
        }
        let place = self.buffer.push(request).expect("an empty frame has room for any datagram");
        self.parts.push(part(place));
    }

    fn finish_frame(&mut self) {
        let buffer = core::mem::replace(&mut self.buffer, FrameBuffer::new());
        let mark = buffer.mark();
        let parts = core::mem::take(&mut self.parts);
        self.frames.push(CyclicFrame { buffer, mark, parts, awaited: None });
    }
}

#[cfg(test)]
mod tests;
