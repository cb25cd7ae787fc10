//! Memory that a host shares as devices on the guest's PCI bus, where it can't put it at an address
//! of its choice: QEMU's `ivshmem`.
//!
//! A guest finds such memory where firmware has placed the device, and maps it to the addresses of
//! [`places`](crate::places), so that all else of it is the same under each host. The devices are
//! known by their number:
//!
//! | number | device | memory |
//! |---:|---|---|
//! | 0 | `ivshmem-doorbell` | the control memory: see below |
//! | 1 | `ivshmem-plain` | the exchange |
//! | 2 … | `ivshmem-plain` | the channels, in the order of the job |
//!
//! Beside them there is one [network device](VIRTIO_NET) at [`NETWORK`], where the job has a
//! fieldbus.
//!
//! The control memory, each part at an offset:
//!
//! | offset | content | the guest has it at |
//! |---|---|---|
//! | [`RECORDS`] | the pages of the host page and the crash record | `0x6000` |
//! | [`INTRODUCTION`] | the [`Introduction`]: how host and guest begin | where it likes |
//! | [`END`] | the end of a guest that no port is heard of | where it likes |
//! | [`BOARD`] | the page of a clock board, in the guest of a probe | [`BOARD_PLACE`] |
//! | [`POST_OFFSET`] | the post | [`places::POST`](crate::places::POST) |
//! | as the introduction says | the code of the programs in slot A and slot B | [`places::PROGRAM_CODE`](crate::places::PROGRAM_CODE) |
//!
//! The first vector of the doorbell is the host's call for
//! [`ATTENTION`](crate::vector::ATTENTION); in a guest with a clock board it is the board's
//! interrupt.

use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// Vendor and device number of `ivshmem` (QEMU, `docs/specs/ivshmem-spec.rst`), as the first word
/// of the configuration space has them.
pub const IVSHMEM: u32 = 0x1110_1AF4;

/// The base address register of the device's memory.
pub const MEMORY_REGISTER: u8 = 2;

/// Vendor and device number of a network device of version 1 of virtio or later (virtio 1.2,
/// 4.1.2.1), as above.
pub const VIRTIO_NET: u32 = 0x1041_1AF4;

/// The device of the bus that is the network's: one before those of shared memory.
pub const NETWORK: u8 = 3;

/// Number of the device with the control memory.
pub const CONTROL: usize = 0;
/// Number of the device with the exchange.
pub const EXCHANGE: usize = 1;
/// Number of the device with the first channel.
pub const FIRST_CHANNEL: usize = 2;

/// The first device of the bus that is one of these: those before are the machine's.
const FIRST_DEVICE: usize = 4;
/// The device behind the last one: the machine has its own there.
const DEVICES_END: usize = 31;
const FUNCTIONS: usize = 8;

const _: () = assert!((NETWORK as usize) < FIRST_DEVICE);

/// Limit of these devices.
pub const DEVICES_MAX: usize = (DEVICES_END - FIRST_DEVICE) * FUNCTIONS;

/// Memory of a device begins at a multiple of this in a memory file, so that the guest maps it in
/// large pages; the parts of the control memory, too.
pub const ALIGNMENT: u64 = 2 << 20;

/// Offset of the two pages with the host page and the records, which the guest has at
/// [`RECORDS_PLACE`].
pub const RECORDS: u64 = 0;
/// The address of those pages in the guest.
pub const RECORDS_PLACE: u64 = 0x6000;
/// Size of those pages, in bytes.
pub const RECORDS_BYTES: u64 = 0x2000;
/// Offset of the introduction.
pub const INTRODUCTION: u64 = 0x2000;
/// Offset of the word with the status of a guest that has ended, plus one, where no port is heard.
pub const END: u64 = 0x2800;
/// Offset of the page of a clock board.
pub const BOARD: u64 = 0x3000;
/// The address of that page in the guest, which has programs only where it has no board.
pub const BOARD_PLACE: u64 = 0xB000;
/// Offset of the post.
pub const POST_OFFSET: u64 = ALIGNMENT;

/// "devices", and the version of this layout.
const MAGIC: u64 = u64::from_le_bytes(*b"devices\x01");

/// Rounds in which the two compare their counters.
pub const ROUNDS: u64 = 32;

/// Words of the introduction.
pub const INTRODUCTION_WORDS: usize = 9;

const KIND: usize = 0;
const CODE: [usize; 2] = [1, 2];
const ASKED: usize = 3;
const ANSWERED: usize = 4;
const BEFORE: usize = 5;
const AFTER: usize = 6;
const MEASURED: usize = 7;
const READY: usize = 8;

/// Returns a device's number on the bus and the number of its function; `None` if `number` is not
/// below [`DEVICES_MAX`].
pub const fn function_of(number: usize) -> Option<(u8, u8)> {
    if number >= DEVICES_MAX {
        return None;
    }
    Some(((FIRST_DEVICE + number / FUNCTIONS) as u8, (number % FUNCTIONS) as u8))
}

/// The lead of the guest's counter over the host's, as far as it could be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lead {
    /// Counts by which the guest's counter is ahead.
    pub counts: i64,
    /// The time between the two readings of the closest round, in counts: `counts` is wrong by half
    /// of it at most.
    pub width: u64,
}

/// The handshake at a guest's start: both sides compare their counters, then the host writes its
/// page.
///
/// | word | content | who writes |
/// |---:|---|---|
/// | 0 | magic number and version | the host |
/// | 1, 2 | offsets of the code slots in the control memory | the host |
/// | 3 | round that the guest has begun | the guest |
/// | 4 | round that the host has seen | the host |
/// | 5, 6 | the guest's counter before and after the round | the guest |
/// | 7 | round of which words 5 and 6 are | the guest |
/// | 8 | 1 when the host page is there | the host |
#[derive(Clone, Copy, Debug)]
pub struct Introduction<'a> {
    words: &'a [AtomicU64; INTRODUCTION_WORDS],
}

impl<'a> Introduction<'a> {
    /// Takes the words that both sides have.
    pub fn new(words: &'a [AtomicU64; INTRODUCTION_WORDS]) -> Self {
        Self { words }
    }

    /// Begins it, before the guest starts. `code` are the offsets of the code slots.
    pub fn begin(&self, code: [u64; 2]) {
        for word in self.words {
            word.store(0, Relaxed);
        }
        for (word, offset) in CODE.into_iter().zip(code) {
            self.words[word].store(offset, Relaxed);
        }
        self.words[KIND].store(MAGIC, Release);
    }

    /// Returns `true` if the guest has begun to take part: until then nobody needs to look closely.
    pub fn has_begun(&self) -> bool {
        self.words[ASKED].load(Acquire) != 0
    }

    /// Compares the counters from the host's side; `None` where the guest has not taken part until
    /// `goes_on` returned `false`, or has measured what can't be. The guest's words are compared
    /// and subtracted, and never count as anything else.
    pub fn answer(
        &self,
        counter: impl Fn() -> u64,
        mut goes_on: impl FnMut() -> bool,
    ) -> Option<Lead> {
        let mut closest: Option<Lead> = None;
        for round in 1..=ROUNDS {
            while self.words[ASKED].load(Acquire) != round {
                goes_on().then_some(())?;
            }
            let host = counter();
            self.words[ANSWERED].store(round, Release);
            while self.words[MEASURED].load(Acquire) != round {
                goes_on().then_some(())?;
            }
            let before = self.words[BEFORE].load(Relaxed);
            let width = self.words[AFTER].load(Relaxed).wrapping_sub(before);
            // Half of what 64 bits count is no time that a round takes.
            let is_possible = width <= u64::MAX / 2;
            if is_possible && closest.is_none_or(|least| width < least.width) {
                let guest = before.wrapping_add(width / 2);
                closest = Some(Lead { counts: guest.wrapping_sub(host).cast_signed(), width });
            }
        }
        closest
    }

    /// Says that the host page is there.
    pub fn welcome(&self) {
        self.words[READY].store(1, Release);
    }

    /// Returns the offsets of the code slots, if this is an introduction.
    pub fn code(&self) -> Option<[u64; 2]> {
        (self.words[KIND].load(Acquire) == MAGIC)
            .then(|| CODE.map(|it| self.words[it].load(Relaxed)))
    }

    /// Compares the counters from the guest's side, and waits until the host page is there. A host
    /// that does not answer keeps it for ever.
    pub fn ask(&self, counter: impl Fn() -> u64) {
        for round in 1..=ROUNDS {
            let before = counter();
            self.words[ASKED].store(round, Release);
            while self.words[ANSWERED].load(Acquire) != round {
                core::hint::spin_loop();
            }
            let after = counter();
            self.words[BEFORE].store(before, Relaxed);
            self.words[AFTER].store(after, Relaxed);
            self.words[MEASURED].store(round, Release);
        }
        while self.words[READY].load(Acquire) == 0 {
            core::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests;
