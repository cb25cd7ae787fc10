//! The channels of a partition, as its program sees them by number.
//!
//! The other partition writes the same memory and is not trusted: a channel whose table is not the
//! one that the host made is refused, and sizes are those of the job.

use alloc::vec::Vec;
use core::fmt;

use quietcore_exchange::channel::{Channel, Entry, WaitClock};
use quietcore_exchange::com::{ComGroup, ComSignal, ComTable, Direction, OnTimeout, Shelter};
use quietcore_units::Nanos;

use crate::job::ChannelEntry;

/// The reason why a program can't have its channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelError {
    /// The channel carries something other than the job says.
    Foreign,
    /// A group of the job is none of the channel.
    Group,
    /// A signal of the job is none of its entries.
    Signal,
    /// A signal of the job is none of the channel.
    Unreachable,
    /// There are more signals than numbers for them.
    TooMany,
    /// The other side has changed a channel since it was compared.
    Changed,
}

impl fmt::Display for ChannelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Foreign => {
                "it does not carry what this partition was told; another program may have written \
                 to it; bring the site down and up again"
            }
            Self::Group => "a group of it can't be reached",
            Self::Signal => "a signal of it stands nowhere",
            Self::Unreachable => "a signal of it can't be reached",
            Self::TooMany => "the partition has more signals than there are numbers",
            Self::Changed => "a channel changed while it was mapped",
        })
    }
}

impl core::error::Error for ChannelError {}

/// Makes sure that a channel carries what the job says.
///
/// # Errors
/// [`ChannelError::Foreign`].
pub fn compare(channel: &Channel<'_>, entries: &[ChannelEntry]) -> Result<(), ChannelError> {
    let expected = entries.iter().copied().map(Entry::from);
    let found = (0..channel.entry_count()).filter_map(|index| channel.entry(index));
    if found.eq(expected) { Ok(()) } else { Err(ChannelError::Foreign) }
}

/// The numbered signals and groups of the channels so far.
#[derive(Debug, Default)]
pub struct Numbered {
    signals: Vec<ComSignal<'static>>,
    groups: Vec<ComGroup<'static>>,
    /// Bytes of each signal's value; none where it is a queue.
    bytes: Vec<Option<u8>>,
}

impl Numbered {
    /// Adds the signals of a channel, by the entries behind them.
    ///
    /// # Errors
    /// [`ChannelError`] when one of them can't be, or there are too many.
    pub fn add(
        &mut self,
        channel: &Channel<'static>,
        sends: bool,
        entries: &[ChannelEntry],
        signals: &[u32],
    ) -> Result<(), ChannelError> {
        let direction = if sends { Direction::Send } else { Direction::Receive };
        let group = u16::try_from(self.groups.len()).map_err(|_| ChannelError::TooMany)?;
        for (index, entry) in entries.iter().enumerate() {
            if let Entry::Group { .. } = Entry::from(*entry) {
                let made = ComGroup::new(channel, index, direction, OnTimeout::Keep);
                self.groups.push(made.ok_or(ChannelError::Group)?);
            }
        }
        for index in signals {
            let index = *index as usize;
            let entry = entries.get(index).ok_or(ChannelError::Signal)?;
            let made = ComSignal::new(channel, index, direction, OnTimeout::Keep, group);
            self.signals.push(made.ok_or(ChannelError::Unreachable)?);
            self.bytes.push(match Entry::from(*entry) {
                Entry::Signal { bytes, .. } | Entry::Member { bytes, .. } => Some(bytes),
                Entry::Group { .. } | Entry::Queue { .. } => None,
            });
        }
        let are_numbered = self.signals.len() <= usize::from(u16::MAX);
        if are_numbered { Ok(()) } else { Err(ChannelError::TooMany) }
    }

    /// The table of all of them, which lives for ever. First timeouts count from `started`; the
    /// program may wait for values by `wait_clock`, if there is one.
    ///
    /// # Errors
    /// [`ChannelError::Changed`].
    pub fn into_table(
        self,
        shelter: Shelter,
        wait_clock: Option<WaitClock>,
        started: Nanos,
    ) -> Result<ComTable<'static>, ChannelError> {
        let Self { signals, groups, bytes } = self;
        let table = ComTable::new(signals.leak(), groups.leak(), started).with_shelter(shelter);
        let table = table.with_wait_clock(wait_clock);
        let is_as_told = (0..).zip(&bytes).all(|(id, bytes)| table.value_bytes(id) == *bytes);
        if is_as_told { Ok(table) } else { Err(ChannelError::Changed) }
    }
}
