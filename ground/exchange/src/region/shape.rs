//! The shape of an exchange: the sizes of its parts, as the host decides them.
//!
//! The shape is written into the header once, by whoever makes the exchange. Everyone who attaches
//! reads it once and computes the same layout from it, so no offset is ever taken from shared
//! memory.

use core::fmt;

/// The most tasks a partition can have.
pub const TASK_LIMIT: u32 = 256;
/// The most bytes of the inputs, and of the outputs, of a process image: 1 MiB.
pub const IMAGE_BYTES_MAX: u32 = 1 << 20;
/// The most bytes of one data slot: 256 MiB.
pub const DATA_BYTES_MAX: u32 = 256 << 20;
/// A data slot is made of pages, because a program's variables are mapped onto it.
pub const PAGE_BYTES: u32 = 4096;
/// The most bytes of retained variables: 16 MiB.
pub const RETAIN_BYTES_MAX: u32 = 16 << 20;
/// The most places of the command ring.
pub const COMMAND_SLOTS_MAX: u32 = 1 << 16;
/// The most places of the event ring of one writer.
pub const EVENT_SLOTS_MAX: u32 = 1 << 16;
/// The most bytes of the trace ring of one task: 256 MiB.
pub const TRACE_BYTES_MAX: u32 = 256 << 20;

/// Sizes of the parts of an exchange. A part with zero bytes or slots is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Tasks, 1 to [`TASK_LIMIT`].
    pub task_count: u32,
    /// Bytes of the inputs of the process image, at most [`IMAGE_BYTES_MAX`].
    pub input_bytes: u32,
    /// Bytes of the outputs of the process image, at most [`IMAGE_BYTES_MAX`].
    pub output_bytes: u32,
    /// Bytes of each of the two data slots: whole pages, at most [`DATA_BYTES_MAX`].
    pub data_bytes: u32,
    /// Bytes of retained variables, at most [`RETAIN_BYTES_MAX`].
    pub retain_bytes: u32,
    /// Places of the command ring: a power of two from
    /// [`COMMANDS_PER_CYCLE`](crate::COMMANDS_PER_CYCLE) to [`COMMAND_SLOTS_MAX`], or none.
    pub command_slots: u32,
    /// Places of each event ring: a power of two up to [`EVENT_SLOTS_MAX`], or none. There is a
    /// ring for each task, and one for the partition itself.
    pub event_slots: u32,
    /// Bytes of the trace ring of each task, at most [`TRACE_BYTES_MAX`].
    pub trace_bytes: u32,
}

impl Shape {
    /// Statistics of `task_count` tasks and nothing else, as a probe needs it.
    pub const fn of_tasks(task_count: u32) -> Self {
        Self {
            task_count,
            input_bytes: 0,
            output_bytes: 0,
            data_bytes: 0,
            retain_bytes: 0,
            command_slots: 0,
            event_slots: 0,
            trace_bytes: 0,
        }
    }

    /// Refuses what is out of range.
    pub(super) fn check(&self) -> Result<(), ShapeError> {
        let within = |part, is: u32, most: u32| {
            if is <= most { Ok(()) } else { Err(ShapeError::TooMuch { part, is, most }) }
        };
        if self.task_count == 0 {
            return Err(ShapeError::NoTask);
        }
        within("tasks", self.task_count, TASK_LIMIT)?;
        within("bytes of inputs", self.input_bytes, IMAGE_BYTES_MAX)?;
        within("bytes of outputs", self.output_bytes, IMAGE_BYTES_MAX)?;
        within("bytes of data", self.data_bytes, DATA_BYTES_MAX)?;
        within("bytes of retained variables", self.retain_bytes, RETAIN_BYTES_MAX)?;
        within("places for commands", self.command_slots, COMMAND_SLOTS_MAX)?;
        within("places for events", self.event_slots, EVENT_SLOTS_MAX)?;
        within("bytes of the trace ring", self.trace_bytes, TRACE_BYTES_MAX)?;
        if !self.data_bytes.is_multiple_of(PAGE_BYTES) {
            return Err(ShapeError::PartOfPage { is: self.data_bytes });
        }
        for (part, slots) in
            [("places for commands", self.command_slots), ("places for events", self.event_slots)]
        {
            if slots != 0 && !slots.is_power_of_two() {
                return Err(ShapeError::NoPowerOfTwo { part, is: slots });
            }
        }
        let least = crate::commands::COMMANDS_PER_CYCLE as u32;
        if self.command_slots != 0 && self.command_slots < least {
            return Err(ShapeError::TooFewCommands { is: self.command_slots, least });
        }
        Ok(())
    }
}

/// Why there is no exchange of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// There is no task.
    NoTask,
    /// A part is larger than is possible.
    TooMuch {
        /// The part by its name in messages.
        part: &'static str,
        /// The size or number that was asked for.
        is: u32,
        /// The largest one allowed.
        most: u32,
    },
    /// The data slots end within a page.
    PartOfPage {
        /// The bytes that were asked for.
        is: u32,
    },
    /// The number of places of a ring is no power of two.
    NoPowerOfTwo {
        /// The part by its name in messages.
        part: &'static str,
        /// The number that was asked for.
        is: u32,
    },
    /// The command ring does not hold the largest group.
    TooFewCommands {
        /// The places that were asked for.
        is: u32,
        /// The smallest number allowed.
        least: u32,
    },
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTask => write!(f, "the exchange has 0 tasks; 1 to {TASK_LIMIT} are possible"),
            Self::TooMuch { part, is, most } => {
                write!(f, "the exchange has {is} {part}; {most} are possible")
            }
            Self::PartOfPage { is } => write!(
                f,
                "the exchange has data slots of {is} bytes; use a multiple of {PAGE_BYTES}"
            ),
            Self::NoPowerOfTwo { part, is } => {
                write!(f, "the exchange has {is} {part}; use a power of two")
            }
            Self::TooFewCommands { is, least } => {
                write!(f, "the exchange has {is} places for commands; use {least} at least")
            }
        }
    }
}

impl core::error::Error for ShapeError {}
