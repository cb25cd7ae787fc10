//! Frames that wait for the instant of their delivery.
//!
//! A simulated segment answers at once or later. What is later waits here. The store has a fixed
//! number of places, made beforehand, so that nothing is allocated while frames pass; when all are
//! taken a frame is lost and counted, as in a switch.

use quietcore_segment::Delivery;
use quietcore_units::Nanos;

use crate::wire::FRAME_BYTES_MAX;

/// Frames that wait at most.
pub const ANSWERS_MAX: usize = 64;

/// A store of frames on their way back.
#[derive(Debug)]
pub struct Answers {
    /// Instant of delivery and order of arrival by place; `None` for a free one. Apart from the
    /// frames, so that looking for one touches few cache lines.
    dues: [Option<(Nanos, u64)>; ANSWERS_MAX],
    frames: Vec<Frame>,
    /// Number of places that are taken.
    waiting: usize,
    /// Total number of frames stored; keeps the order of those due at the same instant.
    stored: u64,
    lost: u64,
}

#[derive(Clone, Debug)]
struct Frame {
    bytes: usize,
    content: [u8; FRAME_BYTES_MAX],
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            dues: [None; ANSWERS_MAX],
            frames: vec![Frame { bytes: 0, content: [0; FRAME_BYTES_MAX] }; ANSWERS_MAX],
            waiting: 0,
            stored: 0,
            lost: 0,
        }
    }
}

impl Answers {
    /// Stores what becomes of a frame that a segment processed at `now`. A damaged frame is dropped
    /// here, as the check sequence makes every Ethernet controller do.
    pub fn accept(&mut self, frame: &[u8], delivery: Delivery, now: Nanos) {
        match delivery {
            Delivery::Deliver => self.store(frame, now),
            Delivery::Late(later) => self.store(frame, now + later),
            Delivery::Duplicate => {
                self.store(frame, now);
                self.store(frame, now);
            }
            Delivery::Lost | Delivery::Corrupted => self.lost += 1,
        }
    }

    /// The instant at which the next frame is due.
    pub fn next_due(&self) -> Option<Nanos> {
        self.next().map(|(due, _)| due)
    }

    /// Lets `take` have the next frame if it is due at `now`.
    pub fn take<T>(&mut self, now: Nanos, take: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let (due, index) = self.next()?;
        if due > now {
            return None;
        }
        self.dues[index] = None;
        self.waiting -= 1;
        let frame = &self.frames[index];
        Some(take(&frame.content[..frame.bytes]))
    }

    /// Frames that were lost, damaged, or found no place.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn next(&self) -> Option<(Nanos, usize)> {
        self.dues
            .iter()
            .enumerate()
            .filter_map(|(index, due)| due.map(|due| (due, index)))
            // Nothing to be seen behind the last taken place.
            .take(self.waiting)
            .min()
            .map(|((due, _), index)| (due, index))
    }

    fn store(&mut self, frame: &[u8], due: Nanos) {
        let free = self.dues.iter().position(Option::is_none);
        let Some(index) = free.filter(|_| frame.len() <= FRAME_BYTES_MAX) else {
            self.lost += 1;
            return;
        };
        self.frames[index].content[..frame.len()].copy_from_slice(frame);
        self.frames[index].bytes = frame.len();
        self.dues[index] = Some((due, self.stored));
        self.waiting += 1;
        self.stored += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(answers: &mut Answers, now: u64) -> Option<Vec<u8>> {
        answers.take(Nanos::new(now), <[u8]>::to_vec)
    }

    #[test]
    fn a_late_frame_is_overtaken() {
        let mut answers = Answers::default();
        answers.accept(&[1], Delivery::Late(Nanos::new(50)), Nanos::new(0));
        answers.accept(&[2], Delivery::Deliver, Nanos::new(10));
        answers.accept(&[3], Delivery::Duplicate, Nanos::new(10));
        assert_eq!(answers.next_due(), Some(Nanos::new(10)));
        assert_eq!(taken(&mut answers, 9), None);
        for expected in [2, 3, 3] {
            assert_eq!(taken(&mut answers, 10), Some(vec![expected]));
        }
        assert_eq!(taken(&mut answers, 49), None);
        assert_eq!(taken(&mut answers, 50), Some(vec![1]));
        assert_eq!((answers.next_due(), answers.lost()), (None, 0));
    }

    #[test]
    fn what_finds_no_place_is_counted() {
        let mut answers = Answers::default();
        answers.accept(&[0], Delivery::Corrupted, Nanos::ZERO);
        answers.accept(&[0; FRAME_BYTES_MAX + 1], Delivery::Deliver, Nanos::ZERO);
        for _ in 0..=ANSWERS_MAX {
            answers.accept(&[0], Delivery::Deliver, Nanos::ZERO);
        }
        assert_eq!(answers.lost(), 3);
    }
}
