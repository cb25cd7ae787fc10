//! The channels of a partition, as its program sees them by number.
//!
//! The other partition writes the same memory and is not trusted: a channel whose table is not the
//! one that the host made is refused, and sizes are those of the job.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use quietcore_exchange::channel::{Channel, Entry};
use quietcore_exchange::com::{ComGroup, ComSignal, ComTable, Direction, OnTimeout, Shelter};
use quietcore_units::Nanos;

use crate::job::ChannelEntry;

/// Makes sure that a channel carries what the job says.
///
/// # Errors
/// Where it does not, in words.
pub fn compare(channel: &Channel<'_>, entries: &[ChannelEntry]) -> Result<(), String> {
    let expected = entries.iter().copied().map(Entry::from);
    let found = (0..channel.entry_count()).filter_map(|index| channel.entry(index));
    if found.eq(expected) {
        return Ok(());
    }
    Err("it does not carry what this partition was told; another program may have written to it; \
         bring the site down and up again"
        .to_string())
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
    /// When one of them can't be, or there are too many; in words.
    pub fn add(
        &mut self,
        channel: &Channel<'static>,
        sends: bool,
        entries: &[ChannelEntry],
        signals: &[u32],
    ) -> Result<(), String> {
        let direction = if sends { Direction::Send } else { Direction::Receive };
        let no_number = || "the partition has more signals than there are numbers".to_string();
        let group = u16::try_from(self.groups.len()).map_err(|_| no_number())?;
        for (index, entry) in entries.iter().enumerate() {
            if let Entry::Group { .. } = Entry::from(*entry) {
                let made = ComGroup::new(channel, index, direction, OnTimeout::Keep);
                self.groups.push(made.ok_or("a group of it can't be reached")?);
            }
        }
        for index in signals {
            let index = *index as usize;
            let entry = entries.get(index).ok_or("a signal of it stands nowhere")?;
            let made = ComSignal::new(channel, index, direction, OnTimeout::Keep, group);
            self.signals.push(made.ok_or("a signal of it can't be reached")?);
            self.bytes.push(match Entry::from(*entry) {
                Entry::Signal { bytes, .. } | Entry::Member { bytes, .. } => Some(bytes),
                Entry::Group { .. } | Entry::Queue { .. } => None,
            });
        }
        if self.signals.len() > usize::from(u16::MAX) { Err(no_number()) } else { Ok(()) }
    }

    /// The table of all of them, which lives for ever. First timeouts count from `started`.
    ///
    /// # Errors
    /// When the other side has changed a channel meanwhile; in words.
    pub fn into_table(self, shelter: Shelter, started: Nanos) -> Result<ComTable<'static>, String> {
        let Self { signals, groups, bytes } = self;
        let table = ComTable::new(signals.leak(), groups.leak(), started).with_shelter(shelter);
        let is_as_told = (0..).zip(&bytes).all(|(id, bytes)| table.value_bytes(id) == *bytes);
        if is_as_told {
            Ok(table)
        } else {
            Err("a channel changed while it was mapped".to_string())
        }
    }
}
