//! A channel in an ordinary program of the host: one that reads it, or that is an end of it.
//!
//! ```text
//! entries of a site's channel    0 group │ 1 … members │ then queues      or queues alone
//! ```

use std::fs::File;

use quietcore_exchange::TornRead;
use quietcore_exchange::channel::{
    Channel, ChannelView, Entry, GroupReader, GroupWriter, Message, ReceiveError, Received,
    Receiver, SendError, Sender,
};
use quietcore_units::Nanos;

use super::{ChannelMemory, ChannelMemoryError, ChannelMonitor};

/// Why an operation on a channel of a program of the host was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostEndError {
    /// The entry is none of that kind, or the program is not that end of the channel.
    #[error("the channel has no such signal in this direction")]
    NoSignal,
    /// The sender overtook at every try.
    #[error("the sender overtook the reading at every try; read again")]
    Torn,
    /// The message was not sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The message was not received.
    #[error(transparent)]
    Receive(#[from] ReceiveError),
}

impl From<TornRead> for HostEndError {
    fn from(_: TornRead) -> Self {
        Self::Torn
    }
}

/// Keeps the memory mapped as long as readers and writers of it live.
#[derive(Debug)]
#[expect(dead_code, reason = "held only so that the memory stays mapped")]
enum Mapping {
    ForReading(ChannelMonitor),
    Whole(ChannelMemory),
}

/// A channel that this program reads or is an end of.
#[derive(Debug)]
pub struct HostEnd {
    incoming: Option<GroupReader<'static>>,
    outgoing: Option<GroupWriter<'static>>,
    /// Queues that are sent into, by entry.
    senders: Vec<(u32, Sender<'static>)>,
    /// Queues that messages are taken from, by entry.
    receivers: Vec<(u32, Receiver<'static>)>,
    /// Dropped last: everything above lies in it.
    _mapping: Mapping,
}

impl HostEnd {
    /// Maps a channel for reading its values only.
    ///
    /// # Errors
    /// When the file isn't sealed, can't be mapped, or holds no channel of this build.
    pub fn read(file: File) -> Result<Self, ChannelMemoryError> {
        let monitor = ChannelMonitor::open(file)?;
        // Both live in this value, and nothing of the view is given out.
        let incoming = monitor.view.group_reader(0);
        let mapping = Mapping::ForReading(monitor);
        Ok(Self::of(incoming, mapping))
    }

    /// Maps a channel whose sending end this program is.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn send_on(file: File) -> Result<Self, ChannelMemoryError> {
        let memory = ChannelMemory::open(file)?;
        let channel = memory.channel;
        let mut end = Self::of(None, Mapping::Whole(memory));
        end.outgoing = channel.group_writer(0);
        end.senders = queues(&channel, Channel::sender);
        Ok(end)
    }

    /// Maps a channel whose receiving end this program is.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn receive_on(file: File) -> Result<Self, ChannelMemoryError> {
        let memory = ChannelMemory::open(file)?;
        let channel = memory.channel;
        let mut end = Self::of(channel.group_reader(0), Mapping::Whole(memory));
        end.receivers = queues(&channel, Channel::receiver);
        Ok(end)
    }

    fn of(incoming: Option<GroupReader<'static>>, mapping: Mapping) -> Self {
        let mut end = Self {
            incoming,
            outgoing: None,
            senders: Vec::new(),
            receivers: Vec::new(),
            _mapping: mapping,
        };
        // The values that hold before the first reading; a torn one leaves zeros until then.
        if let Some(group) = &mut end.incoming {
            let mut first = group.clone();
            if first.receive().is_ok() {
                end.incoming = Some(first.unseen());
            }
        }
        end
    }

    /// Takes the newest values, all of one sending, and clears the update bit.
    ///
    /// # Errors
    /// [`HostEndError::Torn`] keeps the values before; [`HostEndError::NoSignal`] where the channel
    /// has no values, or this program sends them.
    pub fn receive(&mut self) -> Result<Received, HostEndError> {
        let group = self.incoming.as_mut().ok_or(HostEndError::NoSignal)?;
        Ok(group.receive()?)
    }

    /// Returns the value behind an entry, in the low bytes, as it was received last.
    ///
    /// # Errors
    /// [`HostEndError::NoSignal`].
    pub fn value(&self, entry: u32) -> Result<u64, HostEndError> {
        let member = member_of(entry)?;
        self.incoming.as_ref().and_then(|group| group.get(member)).ok_or(HostEndError::NoSignal)
    }

    /// Sets the value behind an entry, in the low bytes; it is sent with the next [`send`].
    ///
    /// [`send`]: Self::send
    ///
    /// # Errors
    /// [`HostEndError::NoSignal`].
    pub fn set(&mut self, entry: u32, value: u64) -> Result<(), HostEndError> {
        let member = member_of(entry)?;
        self.outgoing.as_mut().ok_or(HostEndError::NoSignal)?.set(member, value);
        Ok(())
    }

    /// Sends all values at once, those that were not set as they were before.
    ///
    /// # Errors
    /// [`HostEndError::NoSignal`].
    pub fn send(&mut self, now: Nanos) -> Result<(), HostEndError> {
        self.outgoing.as_mut().ok_or(HostEndError::NoSignal)?.send(now);
        Ok(())
    }

    /// Sends a message into the queue behind an entry.
    ///
    /// # Errors
    /// [`HostEndError::NoSignal`], or [`HostEndError::Send`] where there is no room, which is
    /// counted, or the message is too long.
    pub fn send_message(
        &mut self,
        entry: u32,
        now: Nanos,
        message: &[u8],
    ) -> Result<(), HostEndError> {
        let queue = self.senders.iter_mut().find(|(index, _)| *index == entry);
        let (_, sender) = queue.ok_or(HostEndError::NoSignal)?;
        Ok(sender.send(now, message)?)
    }

    /// Takes the oldest message of the queue behind an entry; `None` when there is none.
    ///
    /// # Errors
    /// [`HostEndError::NoSignal`], or [`HostEndError::Receive`] where the buffer is too small.
    pub fn receive_message(
        &mut self,
        entry: u32,
        buffer: &mut [u8],
    ) -> Result<Option<Message>, HostEndError> {
        let queue = self.receivers.iter_mut().find(|(index, _)| *index == entry);
        let (_, receiver) = queue.ok_or(HostEndError::NoSignal)?;
        Ok(receiver.receive(buffer)?)
    }
}

/// Returns the number of a member in its group; the group is entry 0.
fn member_of(entry: u32) -> Result<u16, HostEndError> {
    let member = entry.checked_sub(1).and_then(|member| u16::try_from(member).ok());
    member.ok_or(HostEndError::NoSignal)
}

/// Lists the queues of a channel, each with its entry.
fn queues<Q>(
    channel: &Channel<'static>,
    open: impl Fn(&Channel<'static>, usize) -> Option<Q>,
) -> Vec<(u32, Q)> {
    let view: ChannelView<'static> = channel.view();
    let is_queue = |index: &usize| matches!(view.entry(*index), Some(Entry::Queue { .. }));
    let all = (0..view.entry_count()).filter(is_queue);
    all.filter_map(|index| Some((u32::try_from(index).ok()?, open(channel, index)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_exchange::channel::Timeouts;

    const ENTRIES: [Entry; 4] = [
        Entry::Group { members: 2, timeouts: Timeouts { first: Nanos::ZERO, next: Nanos::ZERO } },
        Entry::Member { bytes: 8, initial: 7 },
        Entry::Member { bytes: 1, initial: 1 },
        Entry::Queue { message_bytes: 4, slots: 2 },
    ];

    #[test]
    fn what_a_program_of_the_host_sends_arrives_as_one() {
        let channel = ChannelMemory::create(&ENTRIES).unwrap();
        let mut sender = HostEnd::send_on(channel.claimed_file().unwrap().unwrap()).unwrap();
        let mut reader = HostEnd::read(channel.read_only_file().unwrap()).unwrap();
        assert_eq!(reader.value(1), Ok(7), "the initial value");
        sender.set(1, 1000).unwrap();
        assert_eq!(reader.receive().unwrap().count, 0, "nothing is sent yet");
        sender.send(Nanos::new(9)).unwrap();
        let received = reader.receive().unwrap();
        assert_eq!((received.count, received.sent, received.updated), (1, Nanos::new(9), true));
        assert_eq!((reader.value(1), reader.value(2)), (Ok(1000), Ok(1)), "the other is as it was");
        assert!(!reader.receive().unwrap().updated);
        sender.send_message(3, Nanos::new(10), &[1, 2]).unwrap();
        let mut taken = HostEnd::receive_on(channel.file().unwrap()).unwrap();
        let mut buffer = [0; 4];
        assert_eq!(taken.receive_message(3, &mut buffer).unwrap().unwrap().bytes, 2);
        assert_eq!(taken.receive_message(3, &mut buffer), Ok(None));
        assert_eq!(reader.receive_message(3, &mut buffer), Err(HostEndError::NoSignal));
        assert_eq!(reader.set(1, 1), Err(HostEndError::NoSignal), "it only reads");
        assert_eq!(sender.value(1), Err(HostEndError::NoSignal), "it only sends");
    }

    /// Goal: the end belongs to one program, and is free as soon as that is gone.
    /// Method: the claim is taken twice; the first holder has closed its file, and its mapping
    /// alone keeps the claim.
    #[test]
    fn an_end_has_one_holder_until_its_memory_is_unmapped() {
        let channel = ChannelMemory::create(&ENTRIES).unwrap();
        let first = HostEnd::send_on(channel.claimed_file().unwrap().unwrap()).unwrap();
        assert!(channel.claimed_file().unwrap().is_none(), "another has it");
        assert!(HostEnd::read(channel.read_only_file().unwrap()).is_ok(), "anybody reads");
        drop(first);
        let mut second = HostEnd::send_on(channel.claimed_file().unwrap().unwrap()).unwrap();
        second.send(Nanos::new(1)).unwrap();
    }
}
