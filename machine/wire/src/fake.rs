//! A wire for tests: its peer is a function, its time stands still but for waiting, and it fails
//! where told to.

use std::collections::VecDeque;

use quietcore_units::Nanos;

use crate::wire::{Wire, WireError};

/// A fault that happens to one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The wire refuses to take it.
    Refuse(WireError),
    /// The frame gets lost.
    Lose,
    /// Its answer comes this much later, after those sent meanwhile.
    Late(Nanos),
    /// Its answer comes twice.
    Twice,
}

/// A wire without a machine.
pub struct FakeWire<P> {
    peer: P,
    now: Nanos,
    /// Mishaps by the number of the frame, counted from zero.
    mishaps: Vec<(usize, Mishap)>,
    sent: Vec<Vec<u8>>,
    answers: VecDeque<(Nanos, Vec<u8>)>,
    /// Duration of a round trip.
    round_trip: Nanos,
}

impl<P: FnMut(&mut [u8])> FakeWire<P> {
    /// A wire whose far end is `peer`, which answers a frame in place. A round trip takes 10 µs.
    pub fn new(peer: P) -> Self {
        Self {
            peer,
            now: Nanos::from_secs(1),
            mishaps: Vec::new(),
            sent: Vec::new(),
            answers: VecDeque::new(),
            round_trip: Nanos::from_micros(10),
        }
    }

    /// Makes `mishap` happen to the frame of this number, counted from zero.
    pub fn mishap(&mut self, frame: usize, mishap: Mishap) {
        self.mishaps.push((frame, mishap));
    }

    /// The frames that were sent, in order, refused ones included.
    pub fn sent(&self) -> &[Vec<u8>] {
        &self.sent
    }

    /// Puts a frame on the wire that nobody asked for.
    pub fn inject(&mut self, frame: &[u8]) {
        self.answers.push_back((self.now, frame.to_vec()));
    }

    /// Moves time on by `by`.
    pub fn advance(&mut self, by: Nanos) {
        self.now += by;
    }
}

impl<P: FnMut(&mut [u8])> Wire for FakeWire<P> {
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        let number = self.sent.len();
        self.sent.push(frame.to_vec());
        let mishap = self.mishaps.iter().find(|(at, _)| *at == number).map(|(_, mishap)| *mishap);
        if let Some(Mishap::Refuse(error)) = mishap {
            return Err(error);
        }
        let mut answer = frame.to_vec();
        (self.peer)(&mut answer);
        let due = self.now + self.round_trip;
        match mishap {
            Some(Mishap::Lose) => {}
            Some(Mishap::Late(later)) => self.answers.push_back((due + later, answer)),
            Some(Mishap::Twice) => {
                self.answers.push_back((due, answer.clone()));
                self.answers.push_back((due, answer));
            }
            _ => self.answers.push_back((due, answer)),
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        let next = self.answers.iter().enumerate().min_by_key(|(_, (due, _))| *due);
        let Some((index, due)) = next.map(|(index, (due, _))| (index, *due)) else {
            self.now = self.now.max(until);
            return Ok(None);
        };
        if due > self.now.max(until) {
            self.now = self.now.max(until);
            return Ok(None);
        }
        self.now = self.now.max(due);
        let (_, frame) = self.answers.remove(index).expect("the index was just found");
        buffer[..frame.len()].copy_from_slice(&frame);
        Ok(Some(frame.len()))
    }

    fn now(&self) -> Nanos {
        self.now
    }
}
