//! The channels of a running site: their memory, and how programs of the host get it.

use std::fs::File;
use std::io;
use std::sync::Arc;

use quietcore_assembly::channels;
use quietcore_exchange::channel::Entry;
use quietcore_process::channel::{ChannelMemory, ChannelMemoryError};
use quietcore_site::{Channel, SignalKind, Site as SiteFile};
use quietcore_units::Nanos;

use crate::control::{ChannelOpened, ChannelSignal, ChannelUse, ControlError, Refusal};
use crate::site::Answered;

/// The channels of a site with their memory, in the order of its file. The memory outlives the
/// processes at both ends, so that a value stays when its sender is started again.
#[derive(Debug)]
pub struct SiteChannels {
    channels: Vec<(ChannelOpened, Arc<ChannelMemory>)>,
}

impl SiteChannels {
    /// Makes the memory of all channels of a site.
    ///
    /// # Errors
    /// Name of the channel that can't be had, and why.
    pub(crate) fn of(site: &SiteFile) -> Result<Self, (String, ChannelMemoryError)> {
        let made = |channel: &Channel| {
            let entries: Vec<Entry> =
                channels::entries(channel).into_iter().map(Entry::from).collect();
            let memory = ChannelMemory::create(&entries).map(Arc::new);
            let memory = memory.map_err(|source| (channel.name.clone(), source))?;
            Ok((described(site.name(), channel), memory))
        };
        Ok(Self { channels: site.channels().iter().map(made).collect::<Result<_, _>>()? })
    }

    /// Returns the memory of a channel.
    pub fn memory(&self, name: &str) -> Option<Arc<ChannelMemory>> {
        let known = self.channels.iter().find(|(known, _)| known.channel == name);
        known.map(|(_, memory)| Arc::clone(memory))
    }

    /// Returns the memory of each channel.
    pub(crate) fn memories(&self) -> Vec<Arc<ChannelMemory>> {
        self.channels.iter().map(|(_, memory)| Arc::clone(memory)).collect()
    }

    /// Puts the description of a channel right where a partition has overwritten it; returns
    /// whether one had.
    pub(crate) fn mend(&self, name: &str) -> bool {
        self.memory(name).is_some_and(|memory| memory.mend())
    }

    /// Opens a channel for a program of the host. Whoever only reads gets a file that can't be
    /// written. The end of the channel is locked with the file that is handed over, and nowhere
    /// else: nothing has to be told or given back when its holder ends.
    ///
    /// # Errors
    /// [`ControlError`] when there is no such channel, no program of the host is an end of it, or
    /// another one is.
    pub(crate) fn open(&self, name: &str, usage: ChannelUse) -> Result<Answered, ControlError> {
        let known = self.channels.iter().find(|(known, _)| known.channel == name);
        let (opened, memory) = known.ok_or_else(|| {
            ControlError::no_channel(name, self.channels.iter().map(|(it, _)| it.channel.as_str()))
        })?;
        let failed = |error: io::Error| Refusal::Failed { what: error.to_string() }.at(name);
        let file: File = match (usage, &opened.from, &opened.to) {
            (ChannelUse::Read, ..) => memory.read_only_file().map_err(failed)?,
            (ChannelUse::End, Some(from), Some(to)) => {
                return Err(Refusal::NotAnEnd { from: from.clone(), to: to.clone() }.at(name));
            }
            (ChannelUse::End, ..) => {
                let claimed = memory.claimed_file().map_err(failed)?;
                claimed.ok_or_else(|| Refusal::EndTaken.at(name))?
            }
        };
        Ok(Answered { answer: opened.clone().into(), file: Some(file) })
    }
}

fn described(site: &str, channel: &Channel) -> ChannelOpened {
    let signals = channel.signals.iter().zip(channels::places(channel));
    let signals = signals.map(|(signal, entry)| ChannelSignal {
        name: signal.name.clone(),
        value_type: signal.value_type,
        entry,
        queue: match signal.kind {
            SignalKind::Latest { .. } => None,
            SignalKind::Queue { depth } => Some(depth.next_power_of_two()),
        },
        timeout_ns: signal.timeout.map(Nanos::get),
    });
    ChannelOpened {
        site: site.to_owned(),
        channel: channel.name.clone(),
        from: channel.from.partition().map(str::to_owned),
        to: channel.to.partition().map(str::to_owned),
        signals: signals.collect(),
    }
}
