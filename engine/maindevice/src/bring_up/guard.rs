//! Keeps emergencies away from `ethercrab`.
//!
//! `ethercrab` 0.7.1 panics when the message that it reads from a mailbox is a CoE emergency
//! instead of the answer (an assertion in `mailbox/coe/mod.rs`). A device may send one at any time,
//! so this stands between the wire and `ethercrab`: it recognises a mailbox that is read while an
//! answer is awaited, keeps what is no answer, and has the mailbox read again until the answer is
//! there.
//!
//! ```text
//! ethercrab ── FPWR request ──► guard ──► wire        answer awaited from this SubDevice
//!           ── FPRD mailbox ──►       ──►
//!           ◄─────────────────  guard ◄── answer      passed on
//!                               guard ◄── emergency   kept; the same FPRD goes out again
//! ```

use alloc::vec::Vec;

use quietcore_units::Nanos;

use crate::frame::{Command, datagrams};
use crate::mailbox::{Emergency, emergency_in, is_answer};

/// Registers end and memory begins here.
const MEMORY: u16 = 0x1000;
/// Time until a mailbox is read again.
const PAUSE: Nanos = Nanos::from_micros(200);
/// Time for which it is read again and again.
const PATIENCE: Nanos = Nanos::from_millis(500);
/// Emergencies that are kept.
const EMERGENCIES_MAX: usize = 64;

/// A mailbox from which an answer is awaited.
#[derive(Debug)]
struct Awaited {
    station: u16,
    /// The frame that reads it, once something else than the answer came.
    question: Vec<u8>,
    again_at: Option<Nanos>,
    until: Option<Nanos>,
}

/// The fate of a received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// `ethercrab` shall have it.
    Pass,
    /// It is kept; its question will be asked again.
    Keep,
}

/// The guard, with what it kept.
#[derive(Debug, Default)]
pub(super) struct Guard {
    awaited: Option<Awaited>,
    emergencies: Vec<(u16, Emergency)>,
    /// The number of the last message by station; a repeated one would be taken for a repetition.
    counters: Vec<(u16, u8)>,
}

impl Guard {
    /// Looks at a frame that goes out.
    pub(super) fn sent(&mut self, frame: &[u8]) {
        for datagram in datagrams(frame).filter(|datagram| datagram.register >= MEMORY) {
            if datagram.command == Command::Fpwr as u8 {
                let station = datagram.device;
                self.awaited =
                    Some(Awaited { station, question: Vec::new(), again_at: None, until: None });
                if let Some(kind) = datagram.data.get(5) {
                    self.counters.retain(|(other, _)| *other != station);
                    self.counters.push((station, kind >> 4 & 0b111));
                }
            } else if let Some(awaited) = &mut self.awaited
                && datagram.command == Command::Fprd as u8
                && datagram.device == awaited.station
                && awaited.question.is_empty()
            {
                awaited.question = frame.to_vec();
            }
        }
    }

    /// Looks at a frame that came in.
    pub(super) fn received(&mut self, frame: &[u8], now: Nanos) -> Verdict {
        let Some(datagram) = datagrams(frame).next() else { return Verdict::Pass };
        if datagram.command != Command::Fprd as u8 || datagram.register < MEMORY {
            return Verdict::Pass;
        }
        let filled = datagram.working_counter > 0;
        if let Some(emergency) = emergency_in(datagram.data).filter(|_| filled)
            && self.emergencies.len() < EMERGENCIES_MAX
        {
            self.emergencies.push((datagram.device, emergency));
        }
        let Some(awaited) = self.awaited.as_mut().filter(|one| one.station == datagram.device)
        else {
            return Verdict::Pass;
        };
        let until = *awaited.until.get_or_insert(now + PATIENCE);
        // Before anything was kept, an empty mailbox is what `ethercrab` asked about.
        let answer = if filled { is_answer(datagram.data) } else { awaited.again_at.is_none() };
        if answer || now >= until {
            self.awaited = None;
            return Verdict::Pass;
        }
        awaited.again_at = Some(now + PAUSE);
        Verdict::Keep
    }

    /// The question that is to be asked again now, if there is one.
    pub(super) fn again(&mut self, now: Nanos) -> Option<&[u8]> {
        let awaited = self.awaited.as_mut()?;
        let due = awaited.again_at?;
        if now < due {
            return None;
        }
        // Should the frame get lost, it is sent again.
        awaited.again_at = Some(now + PAUSE * 10);
        Some(&awaited.question)
    }

    /// The number of the last message to a SubDevice's mailbox.
    pub(super) fn counter(&self, station: u16) -> Option<u8> {
        self.counters.iter().find(|(other, _)| *other == station).map(|(_, counter)| *counter)
    }

    /// The emergencies that were seen, with the address of who sent them.
    pub(super) fn take_emergencies(&mut self) -> Vec<(u16, Emergency)> {
        core::mem::take(&mut self.emergencies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{FrameBuffer, Request};

    const STATION: u16 = 0x1001;

    fn frame(request: Request, data: &[u8], working_counter: u16) -> Vec<u8> {
        let mut buffer = FrameBuffer::new();
        let place = buffer.push(request).unwrap();
        buffer.data_mut(place, data.len()).copy_from_slice(data);
        let end = place + usize::from(request.bytes);
        let mut frame = buffer.finish(3).to_vec();
        frame[end..end + 2].copy_from_slice(&working_counter.to_le_bytes());
        frame
    }

    fn read(data: &[u8], working_counter: u16) -> Vec<u8> {
        frame(Request::read(STATION, 0x1080, 32), data, working_counter)
    }

    fn coe(service: u8) -> [u8; 16] {
        [10, 0, 0, 0, 0, 0x23, 0, service << 4, 0x10, 0x82, 1, 1, 2, 3, 4, 5]
    }

    /// A guard that saw a request go out, and the question for its answer.
    fn guard() -> Guard {
        let mut guard = Guard::default();
        let request = [10, 0, 0, 0, 0, 0x53, 0, 0x20, 0x40, 0x18, 0x10, 1];
        guard.sent(&frame(Request::write(STATION, 0x1000, 32), &request, 0));
        guard.sent(&read(&[], 0));
        guard
    }

    #[test]
    fn an_emergency_is_kept_and_the_question_asked_again_until_the_answer_comes() {
        let (mut guard, at) = (guard(), Nanos::from_micros);
        assert_eq!(guard.counter(STATION), Some(5));
        assert_eq!(guard.received(&read(&coe(1), 1), at(10)), Verdict::Keep);
        assert_eq!(guard.again(at(100)), None);
        assert_eq!(guard.again(at(210)).unwrap(), read(&[], 0));
        assert_eq!(guard.received(&read(&[], 0), at(220)), Verdict::Keep);
        assert!(guard.again(at(420)).is_some());
        assert_eq!(guard.received(&read(&coe(3), 1), at(430)), Verdict::Pass);
        assert_eq!(guard.again(at(10_000)), None);
        let emergencies = guard.take_emergencies();
        assert_eq!(emergencies.len(), 1);
        assert_eq!((emergencies[0].0, emergencies[0].1.code), (STATION, 0x8210));
    }

    #[test]
    fn an_answer_and_other_datagrams_pass() {
        let mut guard = guard();
        let status = frame(Request::read(STATION, 0x080D, 1), &[8], 1);
        assert_eq!(guard.received(&status, Nanos::ZERO), Verdict::Pass);
        assert_eq!(guard.received(&[0; 60], Nanos::ZERO), Verdict::Pass);
        assert_eq!(guard.received(&read(&coe(3), 1), Nanos::ZERO), Verdict::Pass);
        assert!(guard.take_emergencies().is_empty());
    }

    #[test]
    fn without_a_request_an_emergency_is_noted_and_passes() {
        let mut guard = Guard::default();
        guard.sent(&read(&[], 0));
        assert_eq!(guard.received(&read(&coe(1), 1), Nanos::ZERO), Verdict::Pass);
        assert_eq!(guard.take_emergencies().len(), 1);
    }

    #[test]
    fn an_answer_that_never_comes_is_not_waited_for_for_ever() {
        let mut guard = guard();
        assert_eq!(guard.received(&read(&coe(1), 1), Nanos::ZERO), Verdict::Keep);
        assert_eq!(guard.received(&read(&[], 0), Nanos::from_millis(499)), Verdict::Keep);
        assert_eq!(guard.received(&read(&[], 0), Nanos::from_millis(501)), Verdict::Pass);
        assert_eq!(guard.again(Nanos::from_secs(9)), None);
    }
}
