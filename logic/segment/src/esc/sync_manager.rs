//! SyncManagers: who may touch which part of the RAM when.
//!
//! Registers of one (ETG.1000.4, 6.7): start u16, length u16, control, status, activate, PDI
//! control.
//!
//! | control | meaning | | status | meaning |
//! |---|---|---|---|---|
//! | bits 0–1 | 0 buffered, 2 mailbox | | bit 0 | written completely, not yet read |
//! | bits 2–3 | 0 the MainDevice reads, 1 it writes | | bit 1 | read completely, not yet written |
//! | bit 6 | a complete write feeds the watchdog | | bit 3 | mailbox full |
//! | | | | bits 4–5 | buffer written last, 3 none |
//! | | | | bit 7 | a write is in progress |
//!
//! ```text
//! mailbox   empty ── last byte written ──► full ── last byte read ──► empty
//!           write to full, read of empty: refused, not counted
//! buffered  always open in its direction; the other direction is refused
//! ```
//!
//! A buffered one has one buffer here instead of three: a frame passes at one instant, so the
//! device's application never sees half of one, which is all that the other two are for.

/// The most SyncManagers that a controller may have (ETG.1000.4, 6.7.1).
pub(crate) const SYNC_MANAGERS_MAX: usize = 16;

const STATUS_WRITTEN: u8 = 0x01;
const STATUS_READ: u8 = 0x02;
const STATUS_FULL: u8 = 0x08;
const STATUS_BUFFERS: u8 = 0x30;
const STATUS_WRITING: u8 = 0x80;

/// An access, by its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The MainDevice reads the buffer.
    Read,
    /// The MainDevice writes the buffer.
    Write,
}

/// The effect of an allowed access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completed {
    /// Nothing is complete so far.
    Nothing,
    /// The last byte was written.
    Written,
    /// The last byte was read.
    Read,
}

/// One SyncManager with the state of its buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SyncManager {
    /// First address of its part of the RAM.
    pub(crate) start: u16,
    /// Bytes; without any it guards nothing.
    pub(crate) length: u16,
    /// Value of the control register.
    pub(crate) control: u8,
    /// Value of the status register.
    pub(crate) status: u8,
    /// Activate register: bit 0 on, bit 1 repeat request.
    pub(crate) activate: u8,
    /// A mailbox access has begun at its first byte.
    opened: bool,
}

impl SyncManager {
    /// Takes over what a MainDevice wrote. Switching it off, or changing it while off, empties it.
    pub(crate) fn configure(&mut self, start: u16, length: u16, control: u8, activate: u8) {
        let same = (start, length, control) == (self.start, self.length, self.control);
        let on = activate & 1 != 0;
        if !on || !self.is_on() || !same {
            self.status = if on && control & 3 == 0 { STATUS_BUFFERS } else { 0 };
            self.opened = false;
        }
        (self.start, self.length, self.control, self.activate) = (start, length, control, activate);
    }

    /// Returns `true` if it guards its part of the RAM.
    pub(crate) fn is_on(&self) -> bool {
        self.activate & 1 != 0 && self.length > 0
    }

    /// Returns `true` if it is a mailbox.
    pub(crate) fn is_mailbox(&self) -> bool {
        self.control & 3 == 2
    }

    /// Returns `true` if the MainDevice writes and the device reads.
    pub(crate) fn is_written_by_main_device(&self) -> bool {
        self.control & 0x0C == 0x04
    }

    /// Returns `true` if a complete write feeds the watchdog.
    pub(crate) fn feeds_watchdog(&self) -> bool {
        self.control & 0x40 != 0
    }

    /// Returns `true` if the mailbox holds something.
    pub(crate) fn is_full(&self) -> bool {
        self.status & STATUS_FULL != 0
    }

    /// First address after it.
    pub(crate) fn end(&self) -> usize {
        usize::from(self.start) + usize::from(self.length)
    }

    /// Returns `true` if the addresses from `start` up to `end` touch it.
    pub(crate) fn guards(&self, start: usize, end: usize) -> bool {
        self.is_on() && start < self.end() && usize::from(self.start) < end
    }

    /// Returns `true` if the MainDevice may do this with the addresses from `start` on.
    pub(crate) fn allows(&self, action: Action, start: usize) -> bool {
        let right_way = self.is_written_by_main_device() == (action == Action::Write);
        if !right_way || !self.is_mailbox() {
            return right_way;
        }
        let begins = start <= usize::from(self.start) || self.opened;
        begins && self.is_full() == (action == Action::Read)
    }

    /// Notes an allowed access and tells what it completed.
    pub(crate) fn note(&mut self, action: Action, start: usize, end: usize) -> Completed {
        self.opened |= start <= usize::from(self.start);
        if end < self.end() {
            return Completed::Nothing;
        }
        self.opened = false;
        match action {
            Action::Write => {
                self.written();
                Completed::Written
            }
            Action::Read => {
                self.status = (self.status & !(STATUS_WRITTEN | STATUS_FULL)) | STATUS_READ;
                Completed::Read
            }
        }
    }

    /// The buffer was written completely, by whichever side writes it.
    pub(crate) fn written(&mut self) {
        self.status &= !(STATUS_READ | STATUS_WRITING);
        self.status |= STATUS_WRITTEN;
        if self.is_mailbox() {
            self.status |= STATUS_FULL;
        } else {
            let next = match (self.status & STATUS_BUFFERS) >> 4 {
                0 => 1,
                1 => 2,
                _ => 0,
            };
            self.status = (self.status & !STATUS_BUFFERS) | (next << 4);
        }
    }

    /// The device has read its buffer completely.
    pub(crate) fn taken(&mut self) {
        self.status = (self.status & !(STATUS_WRITTEN | STATUS_FULL)) | STATUS_READ;
    }

    /// The device begins to write the next mailbox; older controllers do not show it.
    pub(crate) fn begin_writing(&mut self, shown: bool) {
        self.status &= !STATUS_READ;
        if shown {
            self.status |= STATUS_WRITING;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mailbox(control: u8) -> SyncManager {
        let mut manager = SyncManager::default();
        manager.configure(0x1000, 16, control, 1);
        manager
    }

    #[test]
    fn a_full_mailbox_refuses_a_second_write_until_it_is_taken() {
        let mut manager = mailbox(0x26);
        assert!(manager.allows(Action::Write, 0x1000));
        assert_eq!(manager.note(Action::Write, 0x1000, 0x1010), Completed::Written);
        assert_eq!(manager.status, 0x09);
        assert!(!manager.allows(Action::Write, 0x1000));
        manager.taken();
        assert_eq!(manager.status, 0x02);
        assert!(manager.allows(Action::Write, 0x1000));
    }

    #[test]
    fn an_empty_mailbox_cannot_be_read_and_a_full_one_once() {
        let mut manager = mailbox(0x22);
        assert!(!manager.allows(Action::Read, 0x1000));
        manager.written();
        assert!(manager.allows(Action::Read, 0x1000));
        assert_eq!(manager.note(Action::Read, 0x1000, 0x1010), Completed::Read);
        assert!(!manager.allows(Action::Read, 0x1000));
    }

    #[test]
    fn a_mailbox_may_be_accessed_in_parts_from_its_first_byte_to_its_last() {
        let mut manager = mailbox(0x26);
        assert!(!manager.allows(Action::Write, 0x1008), "not from the middle");
        assert_eq!(manager.note(Action::Write, 0x1000, 0x1008), Completed::Nothing);
        assert!(!manager.is_full());
        assert!(manager.allows(Action::Write, 0x1008));
        assert_eq!(manager.note(Action::Write, 0x1008, 0x1010), Completed::Written);
        assert!(manager.is_full());
    }

    #[test]
    fn a_buffered_one_is_open_in_its_direction_only() {
        let outputs = mailbox(0x24);
        assert!(outputs.allows(Action::Write, 0x1004));
        assert!(!outputs.allows(Action::Read, 0x1004));
        let inputs = mailbox(0x20);
        assert!(inputs.allows(Action::Read, 0x1004));
        assert!(!inputs.allows(Action::Write, 0x1004));
    }

    #[test]
    fn switching_it_off_empties_it() {
        let mut manager = mailbox(0x26);
        manager.note(Action::Write, 0x1000, 0x1010);
        manager.configure(0x1000, 16, 0x26, 0);
        assert!(!manager.is_on());
        assert!(!manager.is_full());
        manager.configure(0x1000, 16, 0x26, 1);
        assert!(manager.allows(Action::Write, 0x1000));
    }

    #[test]
    fn the_buffer_number_goes_round() {
        let mut manager = mailbox(0x24);
        let shown: Vec<u8> = (0..4)
            .map(|_| {
                manager.written();
                (manager.status >> 4) & 3
            })
            .collect();
        assert_eq!(shown, [0, 1, 2, 0]);
    }
}
