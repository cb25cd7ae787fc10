//! The shape of a channel: the entries that it carries, as the host decides, and their positions.

use core::fmt;

use crate::channel::deadline::Timeouts;
use crate::channel::group::GROUP_MEMBERS_MAX;
use crate::channel::message::{MESSAGE_HEADER_WORDS, QUEUE_MESSAGE_BYTES_MAX, QUEUE_SLOTS_MAX};
use crate::channel::signal::SIGNAL_WORDS;
use crate::primitive::words::{WORD_BYTES, mask_of, words_for};
use crate::primitive::{latest, queue};
use crate::region::PAGE_BYTES;

/// The most entries of a channel, members of groups included.
pub const ENTRY_LIMIT: usize = 1024;
/// The most bytes of a channel: 64 MiB.
pub const CHANNEL_BYTES_MAX: usize = 64 << 20;

/// Words of an entry: one cache line.
pub(super) const ENTRY_WORDS: usize = 8;
/// Cells start on cache lines, so that two writers never share one.
const LINE_BYTES: usize = 64;
const LINE_WORDS: usize = LINE_BYTES / WORD_BYTES;

/// Something that a channel carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A value of its own.
    Signal {
        /// 1, 2, 4 or 8 bytes.
        bytes: u8,
        /// Its value before the first was sent, in the low bytes.
        initial: u64,
        /// When its receiver misses it.
        timeouts: Timeouts,
    },
    /// Signals that change together: the entries that follow, all of them [`Entry::Member`].
    Group {
        /// Their number, 1 to [`GROUP_MEMBERS_MAX`].
        members: u16,
        /// When their receiver misses them.
        timeouts: Timeouts,
    },
    /// A signal of the group before it.
    Member {
        /// 1, 2, 4 or 8 bytes.
        bytes: u8,
        /// Its value before the first was sent, in the low bytes.
        initial: u64,
    },
    /// Messages, each of which counts.
    Queue {
        /// The most bytes of a message, 1 to [`QUEUE_MESSAGE_BYTES_MAX`].
        message_bytes: u16,
        /// The messages that it holds: a power of two up to [`QUEUE_SLOTS_MAX`].
        slots: u32,
    },
}

/// Why there is no channel of these entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelShapeError {
    /// No entry, or more than [`ENTRY_LIMIT`].
    EntryCount {
        /// Entries that were asked for.
        is: usize,
    },
    /// A value has not 1, 2, 4 or 8 bytes.
    ValueBytes {
        /// Index of the entry, from 0.
        entry: usize,
        /// Bytes that were asked for.
        is: u8,
    },
    /// An initial value does not fit into the bytes of its value.
    Initial {
        /// Index of the entry, from 0.
        entry: usize,
    },
    /// A group has no members or too many.
    MemberCount {
        /// Index of the entry, from 0.
        entry: usize,
        /// Members that were asked for.
        is: u16,
    },
    /// A member stands outside a group, or something else inside one.
    Grouping {
        /// Index of the entry, from 0.
        entry: usize,
    },
    /// A queue's messages or its number of places are out of range.
    Queue {
        /// Index of the entry, from 0.
        entry: usize,
    },
    /// The entry is of no known kind.
    Kind {
        /// Index of the entry, from 0.
        entry: usize,
    },
    /// The channel is larger than [`CHANNEL_BYTES_MAX`].
    TooLarge {
        /// The entry at which it became so.
        entry: usize,
    },
}

impl fmt::Display for ChannelShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EntryCount { is } => {
                write!(f, "the channel has {is} entries; 1 to {ENTRY_LIMIT} are possible")
            }
            Self::ValueBytes { entry, is } => {
                write!(f, "entry {entry} of the channel has {is} bytes; use 1, 2, 4 or 8")
            }
            Self::Initial { entry } => write!(
                f,
                "the initial value of entry {entry} of the channel does not fit into its bytes"
            ),
            Self::MemberCount { entry, is } => write!(
                f,
                "group {entry} of the channel has {is} members; 1 to {GROUP_MEMBERS_MAX} are \
                 possible"
            ),
            Self::Grouping { entry } => {
                write!(f, "entry {entry} of the channel is on the wrong side of a group's border")
            }
            Self::Queue { entry } => write!(
                f,
                "queue {entry} of the channel is out of range; use messages of 1 to \
                 {QUEUE_MESSAGE_BYTES_MAX} bytes and a power of two up to {QUEUE_SLOTS_MAX}"
            ),
            Self::Kind { entry } => write!(f, "entry {entry} of the channel is of no known kind"),
            Self::TooLarge { entry } => write!(
                f,
                "the channel exceeds {CHANNEL_BYTES_MAX} bytes at entry {entry}; make its queues \
                 shorter"
            ),
        }
    }
}

impl core::error::Error for ChannelShapeError {}

impl Entry {
    /// Words of its cell; a member's are in its group's.
    pub(super) fn cell_words(&self) -> usize {
        match *self {
            Self::Signal { .. } => latest::cell_words(SIGNAL_WORDS),
            Self::Group { members, .. } => latest::cell_words(1 + usize::from(members)),
            Self::Member { .. } => 0,
            Self::Queue { message_bytes, slots } => {
                queue::queue_words(slots as usize, message_words(message_bytes))
            }
        }
    }

    /// Refuses an entry that is impossible by itself.
    fn check(&self, entry: usize) -> Result<(), ChannelShapeError> {
        match *self {
            Self::Signal { bytes, initial, .. } | Self::Member { bytes, initial } => match bytes {
                1 | 2 | 4 | 8 if initial & !mask_of(usize::from(bytes)) != 0 => {
                    Err(ChannelShapeError::Initial { entry })
                }
                1 | 2 | 4 | 8 => Ok(()),
                is => Err(ChannelShapeError::ValueBytes { entry, is }),
            },
            Self::Group { members, .. } => {
                if (1..=GROUP_MEMBERS_MAX).contains(&usize::from(members)) {
                    Ok(())
                } else {
                    Err(ChannelShapeError::MemberCount { entry, is: members })
                }
            }
            Self::Queue { message_bytes, slots } => {
                let fits = (1..=QUEUE_MESSAGE_BYTES_MAX).contains(&message_bytes);
                if fits && slots.is_power_of_two() && slots <= QUEUE_SLOTS_MAX {
                    Ok(())
                } else {
                    Err(ChannelShapeError::Queue { entry })
                }
            }
        }
    }
}

/// Words of a queue's message and of what fills it up.
///
/// Short messages share a cache line evenly, longer ones begin on one. A message that began in the
/// middle of a line and ended in the next would be written while the one before it is read, and
/// each side would fetch both lines twice.
pub(super) fn message_words(message_bytes: u16) -> usize {
    let words = MESSAGE_HEADER_WORDS + words_for(usize::from(message_bytes));
    if words < LINE_WORDS { words.next_power_of_two() } else { words.next_multiple_of(LINE_WORDS) }
}

/// Walks over entries and says where their cells lie.
#[derive(Debug)]
pub(super) struct Walk {
    index: usize,
    end: usize,
    /// Members still to come in the group that was begun.
    members: u16,
}

impl Walk {
    /// A walk over `count` entries.
    pub(super) fn new(count: usize) -> Result<Self, ChannelShapeError> {
        if count == 0 || count > ENTRY_LIMIT {
            return Err(ChannelShapeError::EntryCount { is: count });
        }
        let table = count * ENTRY_WORDS * WORD_BYTES;
        let end = PAGE_BYTES as usize + table.next_multiple_of(PAGE_BYTES as usize);
        Ok(Self { index: 0, end, members: 0 })
    }

    /// The offset of the cell of the next entry.
    pub(super) fn place(&mut self, entry: &Entry) -> Result<usize, ChannelShapeError> {
        let index = self.index;
        entry.check(index)?;
        let is_member = matches!(entry, Entry::Member { .. });
        if is_member != (self.members > 0) {
            return Err(ChannelShapeError::Grouping { entry: index });
        }
        if is_member {
            self.members -= 1;
        } else if let Entry::Group { members, .. } = entry {
            self.members = *members;
        }
        let offset = self.end;
        self.end += (entry.cell_words() * WORD_BYTES).next_multiple_of(LINE_BYTES);
        if self.end > CHANNEL_BYTES_MAX {
            return Err(ChannelShapeError::TooLarge { entry: index });
        }
        self.index += 1;
        Ok(offset)
    }

    /// Bytes of the channel.
    pub(super) fn finish(self) -> Result<usize, ChannelShapeError> {
        if self.members > 0 {
            return Err(ChannelShapeError::Grouping { entry: self.index });
        }
        Ok(self.end.next_multiple_of(PAGE_BYTES as usize))
    }
}

/// The bytes that a channel of these entries takes: whole pages.
///
/// # Errors
/// [`ChannelShapeError`] when an entry is impossible.
pub fn channel_bytes(entries: &[Entry]) -> Result<usize, ChannelShapeError> {
    let mut walk = Walk::new(entries.len())?;
    for entry in entries {
        walk.place(entry)?;
    }
    walk.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_lies_in_more_cache_lines_than_it_must() {
        for message_bytes in 1..=QUEUE_MESSAGE_BYTES_MAX {
            let words = message_words(message_bytes);
            let needed = MESSAGE_HEADER_WORDS + words_for(usize::from(message_bytes));
            assert!(words >= needed && words < 2 * needed, "{message_bytes} bytes: {words} words");
            for first in (0..8).map(|number| number * words % LINE_WORDS) {
                let lines = (first + needed).div_ceil(LINE_WORDS);
                assert_eq!(lines, needed.div_ceil(LINE_WORDS), "{message_bytes} bytes");
            }
        }
    }
}
