//! The partition's own state: the data slot of its program, its fieldbus, and its pause.
//!
//! | word | meaning |
//! |-----:|---------|
//! | 0 | generation × 2 + slot (A 0, B 1); zero before a program is loaded |
//! | 1 | the fieldbus: SubDevices that answer, AL states, working counter, its expected value |
//! | 2 | the fieldbus: frames that were lost so far |
//! | 3 | generation of the program in fault; zero while there is none |
//! | 4 | 1 while the tasks have paused, else zero |
//! | 5 | how often a call was cut off inside of a library of the process |
//! | 6 | the last of these times after which all locks of its libraries were found free |
//! | 7 | zero |
//!
//! Slot and generation share a word, so that no reader ever pairs the one with the other's.

use crate::data::Slot;
use crate::sync::{Acquire, AtomicU64, Release};

pub(crate) const CONTROL_WORDS: usize = 8;

/// The data slot that the program runs in, and the build that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Active {
    /// The slot that the program runs in.
    pub slot: Slot,
    /// The number of the build: 1 for the first that was loaded, one more with each deployment.
    /// Zero before one is loaded. Offsets into the data belong to one generation.
    pub generation: u32,
}

#[inline]
pub(crate) fn read_active(words: &[AtomicU64]) -> Active {
    let word = words.first().map_or(0, |word| word.load(Acquire));
    let slot = if word & 1 == 0 { Slot::A } else { Slot::B };
    // What a hostile partition writes beyond 33 bits is cut off.
    Active { slot, generation: (word >> 1) as u32 }
}

pub(crate) fn write_active(words: &[AtomicU64], active: Active) {
    let slot = u64::from(active.slot == Slot::B);
    if let Some(word) = words.first() {
        // Whoever sees the new slot sees what was written to it before.
        word.store(u64::from(active.generation) << 1 | slot, Release);
    }
}

#[inline]
pub(crate) fn write_fault(words: &[AtomicU64], generation: u32) {
    if let Some(word) = words.get(3) {
        word.store(u64::from(generation), Release);
    }
}

pub(crate) fn read_fault(words: &[AtomicU64]) -> Option<u32> {
    let word = words.get(3).map_or(0, |word| word.load(Acquire));
    // What a hostile partition writes beyond 32 bits is cut off.
    Some(word as u32).filter(|generation| *generation != 0)
}

pub(crate) fn write_paused(words: &[AtomicU64], is_paused: bool) {
    if let Some(word) = words.get(4) {
        word.store(u64::from(is_paused), Release);
    }
}

pub(crate) fn read_paused(words: &[AtomicU64]) -> bool {
    words.get(4).is_some_and(|word| word.load(Acquire) != 0)
}

/// Says that a lock may be held, as the `number`th such trouble; numbers begin at 1. Tasks on
/// several CPUs may do this at once, in any order.
pub(crate) fn write_trouble(words: &[AtomicU64], number: u64) {
    if let Some(word) = words.get(5) {
        word.fetch_max(number, Release);
    }
}

pub(crate) fn read_troubles(words: &[AtomicU64]) -> u64 {
    words.get(5).map_or(0, |word| word.load(Acquire))
}

/// Says that all locks were found free after the `number`th trouble. For one thread.
pub(crate) fn write_free(words: &[AtomicU64], number: u64) {
    if let Some(word) = words.get(6) {
        word.store(number, Release);
    }
}

/// Returns whether there was a trouble after which the locks were not found free.
pub(crate) fn read_held(words: &[AtomicU64]) -> bool {
    // This one first: where it is the older of the two, too much counts as held.
    let free = words.get(6).map_or(0, |word| word.load(Acquire));
    read_troubles(words) > free
}

/// The state of a fieldbus in the last cycle, and its losses so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldbusStatus {
    /// SubDevices that the frame passed.
    pub subdevices: u16,
    /// Their AL states, combined by OR: 8 where all are in OP, with 0x10 where one has an error.
    pub al_states: u8,
    /// The working counters of all process data, summed up.
    pub working_counter: u16,
    /// The sum if every SubDevice takes part; zero if there is no fieldbus.
    pub expected: u16,
    /// Frames that did not come back in time, since the partition's process has started.
    pub lost_frames: u64,
}

#[inline]
pub(crate) fn write_fieldbus(words: &[AtomicU64], status: FieldbusStatus) {
    if let Some(word) = words.get(1) {
        let packed = u64::from(status.subdevices)
            | u64::from(status.al_states) << 16
            | u64::from(status.working_counter) << 32
            | u64::from(status.expected) << 48;
        word.store(packed, Release);
    }
    if let Some(word) = words.get(2) {
        word.store(status.lost_frames, Release);
    }
}

pub(crate) fn read_fieldbus(words: &[AtomicU64]) -> FieldbusStatus {
    let word = words.get(1).map_or(0, |word| word.load(Acquire));
    FieldbusStatus {
        subdevices: word as u16,
        al_states: (word >> 16) as u8,
        working_counter: (word >> 32) as u16,
        expected: (word >> 48) as u16,
        lost_frames: words.get(2).map_or(0, |word| word.load(Acquire)),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_fieldbus_is_read_as_it_was_written() {
        let words = [0; 3].map(AtomicU64::new);
        let status = FieldbusStatus {
            subdevices: 200,
            al_states: 0x18,
            working_counter: 0xfffe,
            expected: 0xffff,
            lost_frames: u64::MAX - 1,
        };
        write_fieldbus(&words, status);
        assert_eq!(read_fieldbus(&words), status);
        assert_eq!(read_fieldbus(&[]), FieldbusStatus::default());
    }

    #[test]
    fn locks_are_free_when_the_last_trouble_is_over() {
        let words = [0; CONTROL_WORDS].map(AtomicU64::new);
        write_trouble(&words, 1);
        write_trouble(&words, 2);
        write_free(&words, 1);
        assert!(read_held(&words), "there was another one meanwhile");
        write_free(&words, 2);
        assert!(!read_held(&words) && !read_held(&[]));
        assert_eq!((read_troubles(&words), read_troubles(&[])), (2, 0));
    }

    /// Goal: of two tasks that are cut off at once, no order of their words leaves them held.
    #[test]
    fn troubles_that_are_told_in_another_order_are_over_as_well() {
        let words = [0; CONTROL_WORDS].map(AtomicU64::new);
        write_trouble(&words, 2);
        write_trouble(&words, 1);
        assert!(read_held(&words));
        write_free(&words, 2);
        assert!(!read_held(&words));
        write_free(&words, 3);
        write_trouble(&words, 3);
        assert!(!read_held(&words), "it was examined before it was told");
        assert_eq!(read_troubles(&words), 3);
    }
}
