//! The data slots: a program's own variables, as they lie in the region.
//!
//! After loading, a program's writable pages are mapped onto a slot. From then on the program's
//! variables *are* in the exchange, and anybody can read them without its help. There are two
//! slots, so that the next build can be staged beside the running one.
//!
//! The program is C and writes with plain stores of the size of each variable. Everyone else uses
//! atomic accesses of the same size and alignment, so a single variable is never torn. Several
//! variables of one cycle need a [`snapshot`](crate::View::read_data), which looks at the tasks'
//! scan sequences as a sequence lock does.
//!
//! | function | bytes | access |
//! |----------|-------|--------|
//! | `read_value`, `write_value` | 1, 2, 4, 8 at a multiple of themselves | one |
//! | the same | 1, 2, 4, 8 elsewhere, as in packed structures | byte by byte |
//! | `read` | any | bytes up to a multiple of 8, then words, then bytes |
//!
// UNSAFETY: places in the slot are chosen by offset; each access is checked against the slot's size
// before it becomes a reference to an atomic.
#![expect(unsafe_code, reason = "variables in memory shared with another process")]

mod snapshot;

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::primitive::words::{WORD_BYTES, mask_of};
use crate::region::Section;

pub use snapshot::{DATA_READ_TRIES, DataRange, DataReading};

/// One of the two data slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The first of the two.
    A,
    /// The second of the two.
    B,
}

impl Slot {
    /// The slot in which the next build is staged.
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// A place is not in the data slot, or a value has not 1, 2, 4 or 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfData {
    /// Offset in bytes from the start of the slot.
    pub offset: u32,
    /// The bytes asked for.
    pub bytes: usize,
    /// The bytes of the slot.
    pub data_bytes: usize,
}

impl fmt::Display for OutOfData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, bytes, data_bytes } = self;
        write!(f, "{bytes} bytes at {offset} are no value in a data slot of {data_bytes} bytes")
    }
}

impl core::error::Error for OutOfData {}

/// A data slot that is read.
#[derive(Clone, Copy, Debug)]
pub struct DataSlot<'map> {
    base: NonNull<u8>,
    section: Section,
    mapped: PhantomData<&'map AtomicU64>,
}

// SAFETY: a slot is reached through atomics only.
unsafe impl Send for DataSlot<'_> {}
// SAFETY: as above.
unsafe impl Sync for DataSlot<'_> {}

impl<'map> DataSlot<'map> {
    /// The slot at `base`.
    ///
    /// # Safety
    /// `base` is aligned to 8 bytes and mapped for the bytes of `section` during `'map`; nothing
    /// but atomic accesses and the program that is mapped onto it reach it while it is.
    pub(crate) unsafe fn new(base: NonNull<u8>, section: Section) -> Self {
        Self { base, section, mapped: PhantomData }
    }

    /// Returns the position of the slot in the exchange's file, to map a program onto it.
    pub fn section(&self) -> Section {
        self.section
    }

    /// Bytes of the slot.
    pub fn bytes(&self) -> usize {
        self.section.bytes
    }

    /// Refuses places that are not wholly in the slot.
    #[inline]
    fn check(&self, offset: u32, bytes: usize) -> Result<usize, OutOfData> {
        let start = offset as usize;
        match start.checked_add(bytes) {
            Some(end) if end <= self.section.bytes => Ok(start),
            _ => Err(OutOfData { offset, bytes, data_bytes: self.section.bytes }),
        }
    }

    #[inline]
    fn check_value(&self, offset: u32, bytes: usize) -> Result<usize, OutOfData> {
        match bytes {
            1 | 2 | 4 | 8 => self.check(offset, bytes),
            _ => Err(OutOfData { offset, bytes, data_bytes: self.section.bytes }),
        }
    }

    /// The place of an atomic.
    ///
    /// # Safety
    /// `start` and the bytes of `T` are in the slot, `start` is a multiple of its alignment, and
    /// `T` is an atomic integer.
    #[inline]
    unsafe fn atomic<T>(&self, start: usize) -> &'map T {
        // SAFETY: inside the slot, as the caller promises.
        let place = unsafe { self.base.add(start) };
        // SAFETY: mapped for `'map`, aligned, and all bit patterns are valid for an atomic integer.
        unsafe { place.cast::<T>().as_ref() }
    }

    #[inline]
    fn byte(&self, start: usize) -> &'map AtomicU8 {
        assert!(start < self.section.bytes, "places in the slot were checked");
        // SAFETY: inside, as asserted; a byte has no alignment.
        unsafe { self.atomic(start) }
    }

    /// Reads a value of 1, 2, 4 or 8 bytes into the low bits of the result.
    ///
    /// # Errors
    /// [`OutOfData`] when it has another size or is not wholly in the slot.
    #[inline]
    pub fn read_value(&self, offset: u32, bytes: u8) -> Result<u64, OutOfData> {
        let bytes = usize::from(bytes);
        let start = self.check_value(offset, bytes)?;
        if !is_aligned(start, bytes) {
            let mut value = [0; WORD_BYTES];
            for (index, byte) in value[..bytes].iter_mut().enumerate() {
                *byte = self.byte(start + index).load(Relaxed);
            }
            return Ok(u64::from_le_bytes(value));
        }
        Ok(match bytes {
            1 => u64::from(self.byte(start).load(Relaxed)),
            // SAFETY: in the slot and aligned, as checked.
            2 => u64::from(unsafe { self.atomic::<AtomicU16>(start) }.load(Relaxed)),
            // SAFETY: as above.
            4 => u64::from(unsafe { self.atomic::<AtomicU32>(start) }.load(Relaxed)),
            // SAFETY: as above.
            _ => unsafe { self.atomic::<AtomicU64>(start) }.load(Relaxed),
        })
    }

    /// Copies bytes out of the slot. A variable of up to 8 bytes at a multiple of its size is not
    /// torn; several may be of different cycles.
    ///
    /// # Errors
    /// [`OutOfData`] when they are not wholly in the slot.
    pub fn read(&self, offset: u32, bytes: &mut [u8]) -> Result<(), OutOfData> {
        let mut start = self.check(offset, bytes.len())?;
        if matches!(bytes.len(), 1 | 2 | 4 | 8) {
            let value = self.read_value(offset, bytes.len() as u8)?.to_le_bytes();
            let length = bytes.len();
            bytes.copy_from_slice(&value[..length]);
            return Ok(());
        }
        let lead = start.next_multiple_of(WORD_BYTES) - start;
        let (first, rest) = bytes.split_at_mut(lead.min(bytes.len()));
        start = self.read_bytes(start, first);
        let (words, last) = rest.as_chunks_mut::<WORD_BYTES>();
        for word in words {
            // SAFETY: in the slot, since the whole range is; aligned after the leading bytes.
            let value = unsafe { self.atomic::<AtomicU64>(start) }.load(Relaxed);
            *word = value.to_le_bytes();
            start += WORD_BYTES;
        }
        self.read_bytes(start, last);
        Ok(())
    }

    fn read_bytes(&self, start: usize, bytes: &mut [u8]) -> usize {
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = self.byte(start + index).load(Relaxed);
        }
        start + bytes.len()
    }
}

/// Returns `true` if `start` is a multiple of `bytes`, a power of two: by a mask, since a division
/// takes longer than the access.
#[inline]
fn is_aligned(start: usize, bytes: usize) -> bool {
    debug_assert!(bytes.is_power_of_two(), "{bytes} bytes are no size of a value");
    start & (bytes - 1) == 0
}

/// A data slot that is written: by the partition, between two steps of its program.
#[derive(Clone, Copy, Debug)]
pub struct WritableData<'map> {
    slot: DataSlot<'map>,
}

impl<'map> Deref for WritableData<'map> {
    type Target = DataSlot<'map>;

    fn deref(&self) -> &DataSlot<'map> {
        &self.slot
    }
}

impl<'map> WritableData<'map> {
    pub(crate) fn new(slot: DataSlot<'map>) -> Self {
        Self { slot }
    }

    /// Writes those bits of a value of 1, 2, 4 or 8 bytes that are set in `mask`; all of them with
    /// `u64::MAX`.
    ///
    /// # Errors
    /// [`OutOfData`] when it has another size or is not wholly in the slot.
    #[inline]
    pub fn write_value(
        &self,
        offset: u32,
        bytes: u8,
        mask: u64,
        value: u64,
    ) -> Result<(), OutOfData> {
        let start = self.check_value(offset, usize::from(bytes))?;
        let width = mask_of(usize::from(bytes));
        let value = if mask & width == width {
            value
        } else {
            // The other bits are the program's, which does not run now.
            (self.read_value(offset, bytes)? & !mask) | (value & mask)
        };
        self.store(start, usize::from(bytes), value);
        Ok(())
    }

    #[inline]
    fn store(&self, start: usize, bytes: usize, value: u64) {
        if !is_aligned(start, bytes) {
            self.store_bytes(start, &value.to_le_bytes()[..bytes]);
            return;
        }
        match bytes {
            1 => self.byte(start).store(value as u8, Relaxed),
            // SAFETY: `write_value` checked that it is in the slot; aligned, as checked above.
            2 => unsafe { self.atomic::<AtomicU16>(start) }.store(value as u16, Relaxed),
            // SAFETY: as above.
            4 => unsafe { self.atomic::<AtomicU32>(start) }.store(value as u32, Relaxed),
            // SAFETY: as above.
            _ => unsafe { self.atomic::<AtomicU64>(start) }.store(value, Relaxed),
        }
    }

    fn store_bytes(&self, start: usize, bytes: &[u8]) {
        for (index, byte) in bytes.iter().enumerate() {
            self.byte(start + index).store(*byte, Relaxed);
        }
    }

    /// Copies bytes into the slot.
    ///
    /// # Errors
    /// [`OutOfData`] when they are not wholly in the slot; then none was written.
    pub fn write(&self, offset: u32, bytes: &[u8]) -> Result<(), OutOfData> {
        let mut start = self.check(offset, bytes.len())?;
        if let 1 | 2 | 4 | 8 = bytes.len() {
            self.store(start, bytes.len(), crate::primitive::words::value_of(bytes));
            return Ok(());
        }
        let lead = start.next_multiple_of(WORD_BYTES) - start;
        let (first, rest) = bytes.split_at(lead.min(bytes.len()));
        self.store_bytes(start, first);
        start += first.len();
        let (words, last) = rest.as_chunks::<WORD_BYTES>();
        for word in words {
            self.store(start, WORD_BYTES, u64::from_le_bytes(*word));
            start += WORD_BYTES;
        }
        self.store_bytes(start, last);
        Ok(())
    }

    /// Copies `bytes` bytes from another slot, as when a new build takes over a variable.
    ///
    /// # Errors
    /// [`OutOfData`] when they are not wholly in both slots; then none was written.
    pub fn copy_from(
        &self,
        offset: u32,
        other: &DataSlot<'_>,
        from: u32,
        bytes: u32,
    ) -> Result<(), OutOfData> {
        const PIECE: usize = 256;
        self.check(offset, bytes as usize)?;
        other.check(from, bytes as usize)?;
        let mut buffer = [0; PIECE];
        let mut done = 0;
        while done < bytes {
            let piece = &mut buffer[..PIECE.min((bytes - done) as usize)];
            other.read(from + done, piece)?;
            self.write(offset + done, piece)?;
            done += piece.len() as u32;
        }
        Ok(())
    }
}
