//! The clock board: an interrupt at the begin of each period, and how long ago that was.
//!
//! The board of kong2021 counts 10 ns from the interrupt in a register of 32 bits. Memory does not
//! count, and a read that leaves the guest is no measurement; so the board's page, which the guest
//! can only read, holds what a register's value follows from: the time stamp counter at the instant
//! at which the interrupt was raised. The guest's driver reads its counter and subtracts, and no
//! read leaves the guest.
//!
//! | word | what |
//! |---|---|
//! | 0 | a magic number with the version |
//! | 1 | odd while the next two are written |
//! | 2 | interrupts raised since the board was switched on |
//! | 3 | the guest's time stamp counter when the last one was raised |
//!
//! A guest whose host hears no port gives its orders in a word of the same page, behind those:
//! [`OrderWord`].
//!
//! | port | written, 32 bits | read, 32 bits |
//! |---|---|---|
//! | [`PERIOD`](port::PERIOD) | the period, [`PERIOD_MIN`] to [`PERIOD_MAX`] in units of 10 ns | the period in force |
//! | [`CONTROL`](port::CONTROL) | [`ON`](control::ON) or 0 | that, and [`REFUSED`](control::REFUSED) where the last write was refused |

use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

/// "board", and the version of the layout.
const MAGIC: u64 = u64::from_le_bytes(*b"board\x00\x00\x01");
/// Words of the page that are used.
pub const WORDS: usize = 4;
/// The size of the page, in bytes.
pub const PAGE_BYTES: u64 = 4096;
/// Tries of a reader to get words of one interrupt; the board writes some words in each period.
const READ_TRIES: usize = 1000;

/// Fraction bits of the register's factor.
const FRACTION: u32 = 48;

/// Counts of the register a second: one is 10 ns.
pub const TICKS_PER_SECOND: u64 = 100_000_000;
/// A unit of the register and of the period, in ns.
pub const UNIT_NS: u64 = 1_000_000_000 / TICKS_PER_SECOND;
/// The shortest period, in units of 10 ns: 10 µs.
pub const PERIOD_MIN: u32 = 1_000;
/// The longest: 1000 ms.
pub const PERIOD_MAX: u32 = 100_000_000;

/// The vector of the board's interrupt.
pub const VECTOR: u8 = 0x30;

/// The ports of the board's control registers.
pub mod port {
    /// The period, in units of 10 ns.
    pub const PERIOD: u16 = 0x520;
    /// Switches the board on and off; its bits are in [`control`](super::control).
    pub const CONTROL: u16 = 0x524;
}

/// Bits of the control register.
pub mod control {
    /// The board is on: the first interrupt comes a period after.
    pub const ON: u32 = 1;
    /// The last write to one of the registers was refused, and changed nothing.
    pub const REFUSED: u32 = 2;
}

/// An interrupt that was raised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Raised {
    /// Its number since the board was switched on, from 1; 0 where there was none yet.
    pub number: u64,
    /// The guest's time stamp counter at that instant.
    pub counter: u64,
}

/// The page, as both sides have it.
#[derive(Clone, Copy, Debug)]
pub struct BoardPage<'a> {
    words: &'a [AtomicU64; WORDS],
}

impl<'a> BoardPage<'a> {
    /// The page of which these are the first words.
    pub fn new(words: &'a [AtomicU64; WORDS]) -> Self {
        Self { words }
    }

    /// Makes it a board's that raised nothing yet. For the host, before the guest starts.
    pub fn begin(&self) {
        for word in &self.words[1..] {
            word.store(0, Relaxed);
        }
        self.words[0].store(MAGIC, Release);
    }

    /// Returns `true` if the page carries the magic number and version of this layout.
    pub fn is_one(&self) -> bool {
        self.words[0].load(Acquire) == MAGIC
    }

    /// Says that an interrupt is being raised. For the one thread of the host that raises them.
    pub fn note(&self, raised: Raised) {
        let sequence = self.words[1].load(Relaxed) | 1;
        self.words[1].store(sequence, Relaxed);
        fence(Release);
        self.words[2].store(raised.number, Relaxed);
        self.words[3].store(raised.counter, Relaxed);
        self.words[1].store(sequence.wrapping_add(1), Release);
    }

    /// The last interrupt; `None` where its writer was at it at every try.
    #[inline]
    pub fn last(&self) -> Option<Raised> {
        for _ in 0..READ_TRIES {
            let before = self.words[1].load(Acquire);
            let number = self.words[2].load(Relaxed);
            let counter = self.words[3].load(Relaxed);
            fence(Acquire);
            if before.is_multiple_of(2) && self.words[1].load(Relaxed) == before {
                return Some(Raised { number, counter });
            }
        }
        None
    }
}

/// The word of the page by which a guest gives its orders to a host that hears no port: the period
/// in its lower half, [`control`] in its upper one; zero until the first order.
#[derive(Clone, Copy, Debug)]
pub struct OrderWord<'a>(&'a AtomicU64);

impl<'a> OrderWord<'a> {
    /// The number of the word in the page.
    pub const INDEX: usize = WORDS;

    /// Takes the word of that number for orders.
    pub fn new(word: &'a AtomicU64) -> Self {
        Self(word)
    }

    /// Sets the period, in units of 10 ns, of a board that is off. For the guest.
    pub fn set_period(&self, units: u32) {
        self.0.store(u64::from(units), Release);
    }

    /// Switches the board on or off. For the guest.
    pub fn switch(&self, on: bool) {
        let period = self.0.load(Relaxed) as u32;
        let control = if on { control::ON } else { 0 };
        self.0.store(u64::from(period) | u64::from(control) << 32, Release);
    }

    /// Returns the values of the registers of period and control; `None` before the first order.
    /// For the host, which trusts neither.
    pub fn orders(&self) -> Option<(u32, u32)> {
        let word = self.0.load(Acquire);
        (word != 0).then_some((word as u32, (word >> 32) as u32))
    }
}

/// Converts counts of the time stamp counter to counts of the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Counts of the register for one of the counter, times 2^48.
    factor: u64,
}

impl Register {
    /// For a counter that counts so often in a second, which is 1 MHz or more.
    pub const fn new(counter_hz: u64) -> Self {
        let counter_hz = if counter_hz == 0 { 1 } else { counter_hz };
        Self { factor: ((TICKS_PER_SECOND as u128 * (1 << FRACTION)) / counter_hz as u128) as u64 }
    }

    /// The register's value at a value of the counter: how long ago the interrupt was raised, in
    /// units of 10 ns. It begins anew after 42.9 s, as 32 bits do.
    #[inline]
    pub const fn value(self, raised: Raised, counter: u64) -> u32 {
        let passed = counter.saturating_sub(raised.counter);
        ((passed as u128 * self.factor as u128) >> FRACTION) as u32
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use proptest::prelude::*;

    use super::*;

    fn words() -> [AtomicU64; WORDS] {
        [const { AtomicU64::new(u64::MAX) }; WORDS]
    }

    #[test]
    fn a_board_is_one_from_its_begin_on() {
        let words = words();
        let page = BoardPage::new(&words);
        assert!(!page.is_one());
        page.begin();
        assert!(page.is_one());
        assert_eq!(page.last(), Some(Raised::default()));
        let raised = Raised { number: 1, counter: 77 };
        page.note(raised);
        assert_eq!(page.last(), Some(raised));
    }

    #[test]
    fn a_writer_that_died_in_the_middle_is_no_interrupt_until_the_next_one() {
        let words = words();
        let page = BoardPage::new(&words);
        page.begin();
        words[1].store(7, Relaxed);
        assert_eq!(page.last(), None);
        page.note(Raised { number: 2, counter: 9 });
        assert_eq!(page.last(), Some(Raised { number: 2, counter: 9 }));
    }

    #[test]
    fn words_of_two_interrupts_are_never_read_as_one() {
        let (words, ended) = (words(), AtomicBool::new(false));
        let page = BoardPage::new(&words);
        page.begin();
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=100_000 {
                    page.note(Raised { number, counter: number * 3 });
                }
                ended.store(true, Release);
            });
            while !ended.load(Acquire) {
                if let Some(raised) = page.last() {
                    assert_eq!(raised.counter, raised.number * 3);
                }
            }
        });
    }

    #[test]
    fn orders_are_read_as_they_were_given() {
        let word = AtomicU64::new(0);
        let orders = OrderWord::new(&word);
        assert_eq!(orders.orders(), None);
        orders.set_period(PERIOD_MAX);
        assert_eq!(orders.orders(), Some((PERIOD_MAX, 0)));
        orders.switch(true);
        assert_eq!(orders.orders(), Some((PERIOD_MAX, control::ON)));
        orders.switch(false);
        assert_eq!(orders.orders(), Some((PERIOD_MAX, 0)));
    }

    #[test]
    fn the_register_counts_ten_nanoseconds() {
        let raised = Raised { number: 1, counter: 1_000 };
        for counter_hz in [1_000_000_000, 2_499_999_000, 5_000_000_000] {
            let register = Register::new(counter_hz);
            assert_eq!(register.value(raised, 1_000), 0);
            let a_second = i64::from(register.value(raised, 1_000 + counter_hz));
            assert!((a_second - 100_000_000).abs() <= 1, "{counter_hz}: {a_second}");
        }
        // A counter that was not the guest's own would lie before the interrupt.
        assert_eq!(Register::new(1_000_000_000).value(raised, 999), 0);
    }

    proptest! {
        #[test]
        fn the_register_never_goes_back_within_its_range(
            counter_hz in 1_000_000_u64..=1_000_000_000_000,
            passed in 0_u64..1 << 31,
        ) {
            let (register, raised) = (Register::new(counter_hz), Raised { number: 1, counter: 5 });
            let one = register.value(raised, 5 + passed);
            let next = register.value(raised, 6 + passed);
            // A counter below 100 MHz makes the register take steps; its wrap is the only way back.
            prop_assert!(next >= one || one > u32::MAX - 101);
        }
    }
}
