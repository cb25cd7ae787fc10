//! Many variables of one cycle, read while the program runs.
//!
//! Each task makes its scan sequence odd while it may write to the data and even when it is through
//! ([`Recorder::begin_scan`](crate::Recorder::begin_scan)). A reading that saw no odd sequence, and
//! the same ones before and after, is of one instant between two cycles: it is the sequence lock of
//! [`primitive::sequence`](crate::primitive::sequence) over data whose writer is the program.

use core::sync::atomic::{
    Ordering::{Acquire, Relaxed},
    fence,
};

use crate::control::Active;
use crate::data::OutOfData;
use crate::region::View;

/// Tries of [`View::read_data`] before it takes bytes of several cycles.
pub const DATA_READ_TRIES: usize = 10_000;

/// Bytes in a data slot that shall be read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataRange {
    /// Bytes from the start of the slot.
    pub offset: u32,
    /// The number of bytes.
    pub bytes: u32,
}

/// The quality of a reading of several variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataReading {
    /// The slot and the build that the bytes are of.
    pub active: Active,
    /// `true` if all bytes are of one instant between two cycles. If not, each variable is still
    /// whole, but they may be of different cycles.
    pub consistent: bool,
    /// Cycles that the tasks had completed together: rises with each cycle of each of them.
    pub cycles: u64,
}

impl View<'_> {
    /// The sum of the tasks' scan sequences, `None` while one of them runs. Each only rises, so an
    /// equal sum says that all are equal.
    fn scan_stamp(&self, order: core::sync::atomic::Ordering) -> Option<u64> {
        let mut sum: u64 = 0;
        for task in self.tasks() {
            let scan = task.scan.load(order);
            if !scan.is_multiple_of(2) {
                return None;
            }
            sum = sum.wrapping_add(scan);
        }
        Some(sum)
    }

    /// Copies `ranges` of the active data slot into `bytes`, one after the other, if no task writes
    /// meanwhile.
    ///
    /// Returns `Ok(None)` when one does: try again later, or take the bytes as they are.
    ///
    /// # Errors
    /// [`OutOfData`] when a range is not in the slot, or `bytes` does not hold them all.
    pub fn try_read_data(
        &self,
        ranges: &[DataRange],
        bytes: &mut [u8],
    ) -> Result<Option<DataReading>, OutOfData> {
        let Some(before) = self.scan_stamp(Acquire) else {
            return Ok(None);
        };
        let active = self.active();
        self.copy_data(active, ranges, bytes)?;
        fence(Acquire);
        let unchanged = self.scan_stamp(Relaxed) == Some(before) && self.active() == active;
        Ok(unchanged.then_some(DataReading { active, consistent: true, cycles: before / 2 }))
    }

    /// Copies `ranges` of the active data slot into `bytes`, one after the other. Looks up to
    /// `tries` times for an instant in which no task writes ([`DATA_READ_TRIES`] is some
    /// milliseconds); then takes the bytes as they come, and says so.
    ///
    /// # Errors
    /// [`OutOfData`] when a range is not in the slot, or `bytes` does not hold them all.
    pub fn read_data(
        &self,
        ranges: &[DataRange],
        bytes: &mut [u8],
        tries: usize,
    ) -> Result<DataReading, OutOfData> {
        for _ in 0..tries {
            if let Some(reading) = self.try_read_data(ranges, bytes)? {
                return Ok(reading);
            }
            core::hint::spin_loop();
        }
        let active = self.active();
        self.copy_data(active, ranges, bytes)?;
        Ok(DataReading { active, consistent: false, cycles: 0 })
    }

    fn copy_data(
        &self,
        active: Active,
        ranges: &[DataRange],
        bytes: &mut [u8],
    ) -> Result<(), OutOfData> {
        let mut rest = bytes;
        for range in ranges {
            let DataRange { offset, bytes } = *range;
            let refused = |data_bytes| OutOfData { offset, bytes: bytes as usize, data_bytes };
            let slot = self.data(active.slot).ok_or_else(|| refused(0))?;
            let room = rest.len();
            let (target, after) =
                rest.split_at_mut_checked(bytes as usize).ok_or_else(|| refused(room))?;
            slot.read(offset, target)?;
            rest = after;
        }
        Ok(())
    }
}
