//! The host's clock, as a guest gets it: what it was at a value of the guest's counter.
//!
//! Both clocks count nanoseconds of one oscillator, and yet they part: the host's monotonic clock
//! is steered after a time server, by up to 500 ppm. So whoever runs a guest tells it the pair
//! again and again, as long as it runs. The pair lies in the host page:
//!
//! | word of the page | what |
//! |---|---|
//! | 1 | odd while the next two are written |
//! | 2 | a value of the counter |
//! | 3 | the host's monotonic clock at that instant, in ns |

use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

use crate::HOST_PAGE;

/// Address of the first of the three words, in the guest's memory.
pub const HOST_TIME: u64 = HOST_PAGE + 8;
/// Words of the record: sequence, counter, and time of the host.
pub const HOST_TIME_WORDS: usize = 3;

/// Tries of a reader to get words of one pair. The host's writer may be held up in the middle; the
/// reader then keeps the pair before, and tries again the next time.
const READ_TRIES: usize = 3;

/// An instant, by both clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The guest's time stamp counter.
    pub counter: u64,
    /// The host's monotonic clock, in ns.
    pub host_ns: u64,
}

/// One reading of the host page: a moment, and the number by which it differs from the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostTimeReading {
    /// Even; another moment has another number.
    pub sequence: u64,
    /// The moment that was read.
    pub moment: Moment,
}

/// The words of the host page, as both sides have them.
#[derive(Clone, Copy, Debug)]
pub struct HostTime<'a> {
    words: [&'a AtomicU64; HOST_TIME_WORDS],
}

impl<'a> HostTime<'a> {
    /// That of these words, which are in a host page.
    pub const fn new(words: [&'a AtomicU64; HOST_TIME_WORDS]) -> Self {
        Self { words }
    }

    /// Says what the time is. For the one thread of the host that does.
    pub fn tell(&self, moment: Moment) {
        let [sequence, counter, host_ns] = self.words;
        let odd = sequence.load(Relaxed) | 1;
        sequence.store(odd, Relaxed);
        fence(Release);
        counter.store(moment.counter, Relaxed);
        host_ns.store(moment.host_ns, Relaxed);
        sequence.store(odd.wrapping_add(1), Release);
    }

    /// The number of the pair that is told now; odd while it is being written. One load.
    #[inline]
    pub fn sequence(&self) -> u64 {
        self.words[0].load(Relaxed)
    }

    /// The pair; `None` where its writer was at it at every try.
    pub fn read(&self) -> Option<HostTimeReading> {
        let [sequence, counter, host_ns] = self.words;
        for _ in 0..READ_TRIES {
            let before = sequence.load(Acquire);
            let moment = Moment { counter: counter.load(Relaxed), host_ns: host_ns.load(Relaxed) };
            fence(Acquire);
            if before.is_multiple_of(2) && sequence.load(Relaxed) == before {
                return Some(HostTimeReading { sequence: before, moment });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;
    use crate::{HostPage, RECORD_BYTES};

    fn words() -> [AtomicU64; HOST_TIME_WORDS] {
        [const { AtomicU64::new(0) }; HOST_TIME_WORDS]
    }

    #[test]
    fn what_was_told_is_read_with_another_number_each_time() {
        let words = words();
        let time = HostTime::new(words.each_ref());
        let moment = Moment { counter: 5, host_ns: 7 };
        time.tell(moment);
        let first = time.read().unwrap();
        assert_eq!((first.moment, first.sequence), (moment, time.sequence()));
        time.tell(moment);
        assert_ne!(time.read().unwrap().sequence, first.sequence);
    }

    #[test]
    fn a_host_that_died_in_the_middle_tells_nothing_until_the_next_one() {
        let words = words();
        let time = HostTime::new(words.each_ref());
        words[0].store(7, Relaxed);
        assert_eq!(time.read(), None);
        time.tell(Moment { counter: 2, host_ns: 9 });
        assert_eq!(time.read().unwrap().moment, Moment { counter: 2, host_ns: 9 });
    }

    #[test]
    fn the_words_are_those_of_the_host_page() {
        let page = HostPage { counter_then: 5, host_then_ns: 7, ..HostPage::of_counter(1 << 30) };
        let bytes: [u8; RECORD_BYTES] = page.to_bytes();
        let first = (HOST_TIME - HOST_PAGE) as usize;
        let words = [0, 1, 2].map(|word| {
            let bytes = bytes[first + 8 * word..].first_chunk().unwrap();
            AtomicU64::new(u64::from_le_bytes(*bytes))
        });
        let told = HostTime::new(words.each_ref()).read().unwrap();
        assert_eq!(
            told,
            HostTimeReading { sequence: 0, moment: Moment { counter: 5, host_ns: 7 } }
        );
    }

    #[test]
    fn words_of_two_pairs_are_never_read_as_one() {
        let (words, ended) = (words(), AtomicBool::new(false));
        let time = HostTime::new(words.each_ref());
        time.tell(Moment { counter: 0, host_ns: !0 });
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..20_000 {
                    time.tell(Moment { counter: number, host_ns: !number });
                }
                ended.store(true, Relaxed);
            });
            while !ended.load(Relaxed) {
                if let Some(HostTimeReading { moment, .. }) = time.read() {
                    assert_eq!(moment.host_ns, !moment.counter);
                }
            }
        });
    }
}
