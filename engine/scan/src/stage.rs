//! A build of the program as the cycle needs it: places and sizes, no names.
//!
//! The host resolves every name before the partition sees it. A [`Stage`] is what is left: which
//! bytes of the program's data are connected to the fieldbus, retained, or watched as a trigger,
//! and what has to be copied from the build before it. [`Stage::check`] refuses what would reach
//! beyond the data, so the cycle itself need not doubt it.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use quietcore_exchange::{Assignment, FORCE_LIMIT, Target};
use serde::{Deserialize, Serialize};

use crate::mapping::Mapping;

/// The most connections to the fieldbus, each way.
pub const MAPPING_LIMIT: usize = 4096;
/// The most pieces of state that are carried over or retained.
pub const PIECE_LIMIT: usize = 65_536;

/// A built program in one of the two data slots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Number of the build in this partition's life, from 1.
    pub generation: u32,
    /// Its data slot, 0 or 1.
    pub slot: u8,
    /// Size of its data in bytes.
    pub data_bytes: u32,
    /// `true` if a fault soon after the swap brings the build before back, and the swap waits for
    /// the end of the jobs that are under way; `false` for a restart.
    pub on_probation: bool,
    /// Connections from the fieldbus into the program.
    pub inputs: Vec<Mapping>,
    /// Connections from the program to the fieldbus.
    pub outputs: Vec<Mapping>,
    /// Numbers of outputs with their values in fault, for
    /// [`FaultReaction::Substitute`](quietcore_units::FaultReaction). Outputs that are not named
    /// become zero.
    pub substitutes: Vec<(u32, f64)>,
    /// For each task the variable that triggers it, where it has one.
    pub triggers: Vec<Option<Trigger>>,
    /// Stretches that survive a restart, in the order in which they are kept.
    pub retained: Vec<DataRange>,
    /// Stretches that are copied from the build before, at the swap.
    pub carried: Vec<Carried>,
    /// Places of forced variables in the build before and in this one. Forces whose place is not
    /// among them end with the swap, and come back where it is taken back.
    pub forces: Vec<Moved>,
    /// Forces of the process before, which hold from the first cycle on where this is the first
    /// build of its process.
    pub held: Vec<Force>,
}

/// A stretch of the program's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRange {
    /// Offset of its first byte in the data.
    pub offset: u32,
    /// Length of the stretch in bytes.
    pub bytes: u32,
}

/// A stretch that is copied from the old data to the new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Offset of its first byte in the old data.
    pub from: u32,
    /// Offset of its first byte in the new data.
    pub to: u32,
    /// Length of the stretch in bytes.
    pub bytes: u32,
}

/// The place of one variable in two builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Offset in the old data, in bytes.
    pub from: u32,
    /// Offset in the new data, in bytes.
    pub to: u32,
}

/// A variable that is held at a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Force {
    /// Offset in the data, in bytes.
    pub offset: u32,
    /// Its size, or that of the word that holds its bits: 1, 2, 4 or 8.
    pub bytes: u8,
    /// Mask of the bits that are meant; all for a whole variable.
    pub mask: u64,
    /// Value, shifted to these bits.
    pub value: u64,
}

impl Force {
    pub(crate) const fn assignment(self) -> Assignment {
        let Self { offset, bytes, mask, value } = self;
        Assignment { target: Target { offset, bytes, mask }, value }
    }
}

impl From<Assignment> for Force {
    fn from(assignment: Assignment) -> Self {
        let Assignment { target: Target { offset, bytes, mask }, value } = assignment;
        Self { offset, bytes, mask, value }
    }
}

/// A variable whose truth starts a task: any byte but zero is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// Offset in the data, in bytes.
    pub offset: u32,
    /// Size in bytes, 1 to 8.
    pub bytes: u8,
}

/// The reason why a stage can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageError(String);

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the staged program does not fit this partition: {}", self.0)
    }
}

impl core::error::Error for StageError {}

/// The reason why a build can't be put into its slot now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFree {
    /// The slot of this number holds the build that runs.
    InUse(u8),
    /// The slot holds the build to which the one that runs may go back.
    Kept,
}

impl fmt::Display for NotFree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(slot) => write!(f, "it is meant for slot {slot}, but that is in use"),
            Self::Kept => {
                f.write_str("the running build is on probation, and the one before is kept")
            }
        }
    }
}

impl core::error::Error for NotFree {}

/// The sizes that a stage must fit.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes of a data slot.
    pub data: usize,
    /// Bytes of the fieldbus's inputs.
    pub inputs: usize,
    /// Bytes of the fieldbus's outputs.
    pub outputs: usize,
    /// Bytes of the retain area.
    pub retain: usize,
    /// Number of tasks in the partition.
    pub tasks: usize,
}

impl Stage {
    /// Checks that nothing is in this stage's slot that runs or may run again. `active` is the
    /// number of the slot whose build runs; `is_kept` says whether that is on probation.
    ///
    /// # Errors
    /// [`NotFree`].
    pub fn check_free(&self, active: u8, is_kept: bool) -> Result<(), NotFree> {
        if self.slot != 1 - (active & 1) {
            return Err(NotFree::InUse(self.slot));
        }
        if is_kept { Err(NotFree::Kept) } else { Ok(()) }
    }

    /// Checks that all places lie within `room`.
    ///
    /// # Errors
    /// [`StageError`] with the first place that does not.
    pub fn check(&self, room: &Room) -> Result<(), StageError> {
        let data = self.data_bytes as usize;
        need(self.slot < 2, "its slot", self.slot)?;
        need(data <= room.data, "its data", self.data_bytes)?;
        need(self.inputs.len() <= MAPPING_LIMIT, "its inputs", self.inputs.len())?;
        need(self.outputs.len() <= MAPPING_LIMIT, "its outputs", self.outputs.len())?;
        need(self.retained.len() <= PIECE_LIMIT, "its retained pieces", self.retained.len())?;
        need(self.carried.len() <= PIECE_LIMIT, "its carried pieces", self.carried.len())?;
        need(self.triggers.len() <= room.tasks, "its triggers", self.triggers.len())?;
        for (index, mapping) in self.inputs.iter().enumerate() {
            need(mapping.fits(room.inputs, data), "input", index)?;
        }
        for (index, mapping) in self.outputs.iter().enumerate() {
            need(mapping.fits(room.outputs, data), "output", index)?;
        }
        for (output, value) in &self.substitutes {
            let known = (*output as usize) < self.outputs.len() && value.is_finite();
            need(known, "the substitute of output", output)?;
        }
        for trigger in self.triggers.iter().flatten() {
            let good = (1..=8).contains(&trigger.bytes);
            need(good, "the size of the trigger at", trigger.offset)?;
            need(
                lies_within(trigger.offset, u32::from(trigger.bytes), data),
                "trigger at",
                trigger.offset,
            )?;
        }
        for piece in &self.retained {
            need(lies_within(piece.offset, piece.bytes, data), "retained piece at", piece.offset)?;
        }
        need(self.retained_bytes() <= room.retain, "what it retains", self.retained_bytes())?;
        for carried in &self.carried {
            need(lies_within(carried.to, carried.bytes, data), "carried piece at", carried.to)?;
            need(
                lies_within(carried.from, carried.bytes, room.data),
                "carried piece from",
                carried.from,
            )?;
        }
        need(self.held.len() <= FORCE_LIMIT, "the number of forces", self.held.len())?;
        for force in &self.held {
            need(matches!(force.bytes, 1 | 2 | 4 | 8), "the size of the force at", force.offset)?;
            need(lies_within(force.offset, force.bytes.into(), data), "force at", force.offset)?;
        }
        Ok(())
    }

    /// Returns the place in this build of a force on `from` in the build before; `None` where it
    /// has none.
    pub(crate) fn place_of_force(&self, from: u32) -> Option<u32> {
        self.forces.iter().find(|moved| moved.from == from).map(|moved| moved.to)
    }

    /// Returns the place of a force on `to` when the build before runs again: the one that it came
    /// from, or the variable whose value was carried there.
    pub(crate) fn former_place_of_force(&self, to: u32) -> Option<u32> {
        let came = self.forces.iter().find(|moved| moved.to == to).map(|moved| moved.from);
        came.or_else(|| {
            let holds = |piece: &&Carried| (piece.to..piece.to + piece.bytes).contains(&to);
            self.carried.iter().find(holds).map(|piece| piece.from + (to - piece.to))
        })
    }

    /// Returns the bytes of everything that is retained.
    pub fn retained_bytes(&self) -> usize {
        self.retained.iter().map(|piece| piece.bytes as usize).sum()
    }
}

fn need(holds: bool, what: &str, which: impl fmt::Display) -> Result<(), StageError> {
    if holds { Ok(()) } else { Err(StageError(alloc::format!("{what} {which} has no room"))) }
}

fn lies_within(offset: u32, bytes: u32, size: usize) -> bool {
    u64::from(offset) + u64::from(bytes) <= size as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { data: 4096, inputs: 8, outputs: 8, retain: 16, tasks: 2 };

    fn stage() -> Stage {
        Stage { generation: 1, data_bytes: 64, ..Stage::default() }
    }

    fn refusal(stage: &Stage) -> String {
        stage.check(&ROOM).unwrap_err().0
    }

    #[test]
    fn what_lies_within_is_accepted() {
        let full = Stage {
            retained: [DataRange { offset: 48, bytes: 16 }].into(),
            carried: [Carried { from: 4080, to: 48, bytes: 16 }].into(),
            triggers: [None, Some(Trigger { offset: 63, bytes: 1 })].into(),
            ..stage()
        };
        assert_eq!(full.check(&ROOM), Ok(()));
    }

    #[test]
    fn what_reaches_beyond_is_refused_and_named() {
        let beyond = DataRange { offset: u32::MAX, bytes: u32::MAX };
        assert!(refusal(&Stage { slot: 2, ..stage() }).contains("slot 2"));
        assert!(refusal(&Stage { data_bytes: 5000, ..stage() }).contains("data 5000"));
        assert!(refusal(&Stage { retained: [beyond].into(), ..stage() }).contains("retained"));
        let large = [DataRange { offset: 0, bytes: 17 }].into();
        assert!(refusal(&Stage { retained: large, ..stage() }).contains("retains 17"));
        let trigger = Some(Trigger { offset: 62, bytes: 4 });
        assert!(
            refusal(&Stage { triggers: [trigger].into(), ..stage() }).contains("trigger at 62")
        );
        let carried = [Carried { from: 4090, to: 0, bytes: 16 }].into();
        assert!(refusal(&Stage { carried, ..stage() }).contains("from 4090"));
        let held = |bytes| [Force { offset: 60, bytes, mask: 1, value: 1 }].into();
        assert!(refusal(&Stage { held: held(8), ..stage() }).contains("force at 60"));
        assert!(refusal(&Stage { held: held(3), ..stage() }).contains("size of the force"));
        let substitutes = [(0, 1.0)].into();
        assert!(refusal(&Stage { substitutes, ..stage() }).contains("substitute of output 0"));
    }
}
