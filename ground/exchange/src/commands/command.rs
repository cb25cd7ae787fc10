//! One command: what it says, how it lies in the ring, and when it is refused.
//!
//! | word | bits | meaning |
//! |-----:|------|---------|
//! | 0 | 0 … 7 | kind, see the table in the code |
//! | 0 | 8 … 15 | bytes of the variable: 1, 2, 4 or 8 |
//! | 0 | 16 … 23 | flags: bit 0 set in the last command of a group |
//! | 0 | 32 … 63 | generation that the offset belongs to |
//! | 1 | 0 … 31 | offset in the data, or a task |
//! | 1 | 32 … 63 | ticket of the group |
//! | 2 | | value |
//! | 3 | | mask: the bits of the variable that are meant |

use core::fmt;

use crate::commands::COMMAND_WORDS;
use crate::primitive::words::mask_of;

/// Set in the last command of a group.
pub(super) const FLAG_LAST: u8 = 1;

/// A variable, or some bits of it, in the data of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Bytes from the start of the data slot.
    pub offset: u32,
    /// Bytes of the variable, or of the unit that holds its bit-field: 1, 2, 4 or 8.
    pub bytes: u8,
    /// The bits that are meant; `u64::MAX` for a whole variable.
    pub mask: u64,
}

impl Target {
    /// Targets all bits of a variable.
    pub const fn whole(offset: u32, bytes: u8) -> Self {
        Self { offset, bytes, mask: u64::MAX }
    }
}

/// A variable and the value that it shall have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The bits of the data that are written.
    pub target: Target,
    /// Its value in the low bytes, already shifted to the bits that are meant.
    pub value: u64,
}

/// Something that is asked of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Give a variable a value, once.
    Set(Assignment),
    /// Hold a variable at a value until it is released.
    Force(Assignment),
    /// Ends the force on one variable.
    Unforce(Target),
    /// Ends the forces on all variables.
    UnforceAll,
    /// The build staged in the other data slot is ready: go on with it, as this generation.
    Swap {
        /// The number of the new build, one more than that of the running one.
        generation: u32,
    },
}

/// Limits that the partition holds each command against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the program's data; at most those of a data slot.
    pub data_bytes: u32,
    /// The generation of the running build.
    pub generation: u32,
}

/// Why a group of commands was refused. None of its commands was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyRejected {
    /// No command is of this kind.
    UnknownKind,
    /// A variable has not 1, 2, 4 or 8 bytes.
    BadSize,
    /// A variable does not lie in the data.
    OutOfData,
    /// No bit is meant.
    NoBits,
    /// The offsets are those of another build.
    OtherGeneration,
    /// The group has no end, or its commands have different tickets.
    BrokenGroup,
    /// As many variables are forced as is possible.
    ForcesFull,
    /// There is no build to swap to.
    NothingStaged,
    /// The partition can't do that in its present state.
    NotNow,
    /// A job was under way at the end of each cycle.
    JobUnderWay,
    /// Another number than these; the other side is of another kind or broken.
    Unknown(u16),
}

impl WhyRejected {
    const KNOWN: [Self; 10] = [
        Self::UnknownKind,
        Self::BadSize,
        Self::OutOfData,
        Self::NoBits,
        Self::OtherGeneration,
        Self::BrokenGroup,
        Self::ForcesFull,
        Self::NothingStaged,
        Self::NotNow,
        Self::JobUnderWay,
    ];

    /// The number that stands for the reason, from 1 on.
    pub fn code(self) -> u16 {
        match self {
            Self::Unknown(code) => code,
            known => {
                let place = Self::KNOWN.iter().position(|reason| *reason == known);
                place.map_or(0, |place| place as u16 + 1)
            }
        }
    }

    /// The reason that a number stands for.
    pub fn from_code(code: u16) -> Self {
        let known = usize::from(code).checked_sub(1).and_then(|place| Self::KNOWN.get(place));
        known.copied().unwrap_or(Self::Unknown(code))
    }
}

impl fmt::Display for WhyRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownKind => "the command is unknown; use programs of one build",
            Self::BadSize => "the variable has not 1, 2, 4 or 8 bytes",
            Self::OutOfData => "the variable is not in the program's data",
            Self::NoBits => "no bit of the variable is meant",
            Self::OtherGeneration => {
                "the program was replaced meanwhile; look the variable up again"
            }
            Self::BrokenGroup => "the commands came without their end",
            Self::ForcesFull => "too many variables are forced already; release one first",
            Self::NothingStaged => "there is no other build to run",
            Self::NotNow => "the partition can't do that now",
            Self::JobUnderWay => "a job of the program was under way at the end of each cycle",
            Self::Unknown(code) => {
                return write!(f, "reason {code}, which this program doesn't know");
            }
        })
    }
}

/// A command as it lies in the ring, taken apart and not believed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    kind: u8,
    pub(super) flags: u8,
    pub(super) ticket: u32,
    generation: u32,
    target: Target,
    value: u64,
}

impl Entry {
    /// A command of build `generation`, as part of group `ticket`.
    pub(super) fn new(command: &Command, generation: u32, ticket: u32, flags: u8) -> Self {
        let none = Target::default();
        let (kind, target, value, generation) = match *command {
            Command::Set(Assignment { target, value }) => (1, target, value, generation),
            Command::Force(Assignment { target, value }) => (2, target, value, generation),
            Command::Unforce(target) => (3, target, 0, generation),
            Command::UnforceAll => (4, none, 0, 0),
            Command::Swap { generation } => (5, none, 0, generation),
        };
        Self { kind, flags, ticket, generation, target, value }
    }

    pub(super) fn to_words(self) -> [u64; COMMAND_WORDS] {
        let Target { offset, bytes, mask } = self.target;
        [
            u64::from(self.kind)
                | u64::from(bytes) << 8
                | u64::from(self.flags) << 16
                | u64::from(self.generation) << 32,
            u64::from(offset) | u64::from(self.ticket) << 32,
            self.value,
            mask,
        ]
    }

    pub(super) fn from_words(words: [u64; COMMAND_WORDS]) -> Self {
        let [first, second, value, mask] = words;
        let [kind, bytes, flags, ..] = first.to_le_bytes();
        Self {
            kind,
            flags,
            ticket: (second >> 32) as u32,
            generation: (first >> 32) as u32,
            target: Target { offset: second as u32, bytes, mask },
            value,
        }
    }

    /// The command, if it can be applied within `limits`.
    pub(super) fn check(&self, limits: &Limits) -> Result<Command, WhyRejected> {
        Ok(match self.kind {
            1 => Command::Set(self.assignment(limits)?),
            2 => Command::Force(self.assignment(limits)?),
            3 => Command::Unforce(self.assignment(limits)?.target),
            4 => Command::UnforceAll,
            5 => Command::Swap { generation: self.generation },
            _ => return Err(WhyRejected::UnknownKind),
        })
    }

    fn assignment(&self, limits: &Limits) -> Result<Assignment, WhyRejected> {
        let target = self.target;
        if !matches!(target.bytes, 1 | 2 | 4 | 8) {
            return Err(WhyRejected::BadSize);
        }
        if self.generation != limits.generation {
            return Err(WhyRejected::OtherGeneration);
        }
        let end = u64::from(target.offset) + u64::from(target.bytes);
        if end > u64::from(limits.data_bytes) {
            return Err(WhyRejected::OutOfData);
        }
        if target.mask & mask_of(usize::from(target.bytes)) == 0 {
            return Err(WhyRejected::NoBits);
        }
        Ok(Assignment { target, value: self.value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { data_bytes: 4096, generation: 3 };

    #[test]
    fn numbers_without_a_command_are_refused() {
        for kind in [0, 6, u8::MAX] {
            let swap = Entry::new(&Command::Swap { generation: 4 }, 3, 1, FLAG_LAST);
            assert_eq!(swap.check(&LIMITS), Ok(Command::Swap { generation: 4 }));
            let unknown = Entry::from_words(Entry { kind, ..swap }.to_words());
            assert_eq!(unknown.check(&LIMITS), Err(WhyRejected::UnknownKind), "{kind}");
        }
    }
}
