//! The state that belongs to a signal or group number.

use core::array;

use crate::channel::{Channel, Entry, GROUP_MEMBERS_MAX, Receiver, Sender, Timeouts};
use crate::com::claim::Claim;
use crate::primitive::latest::Latest;
use crate::sync::AtomicU64;

/// The side of a channel that the partition is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It is the writer.
    Send,
    /// It is a reader.
    Receive,
}

/// The value that a receiver gets after a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnTimeout {
    /// The last value that came.
    #[default]
    Keep,
    /// The initial value of the signal.
    Replace,
}

/// The state that belongs to a signal number.
#[derive(Debug)]
pub struct ComSignal<'map> {
    pub(super) kind: SignalKind<'map>,
}

#[derive(Debug)]
pub(super) enum SignalKind<'map> {
    Unused,
    Send {
        cell: Latest<'map>,
        bytes: u8,
        /// Values sent so far; this side's own.
        count: AtomicU64,
    },
    Receive {
        cell: Latest<'map>,
        bytes: u8,
        initial: u64,
        timeouts: Timeouts,
        on_timeout: OnTimeout,
        /// The number of the value that was received last; this side's own.
        seen: AtomicU64,
        /// The value that was received last.
        last: AtomicU64,
    },
    Member {
        group: u16,
        member: u16,
        bytes: u8,
    },
    SendQueue(Claim<Sender<'map>>),
    ReceiveQueue {
        receiver: Claim<Receiver<'map>>,
        /// Messages sent so far, as the sender counts them.
        sent: &'map AtomicU64,
    },
}

impl<'map> ComSignal<'map> {
    /// A number that stands for nothing.
    pub const UNUSED: Self = Self { kind: SignalKind::Unused };

    /// Entry `index` of a channel: a signal, a member or a queue. A member belongs to the group
    /// with number `group`. `None` when the entry is none of these, or has become impossible since
    /// the channel was attached to.
    pub fn new(
        channel: &Channel<'map>,
        index: usize,
        direction: Direction,
        on_timeout: OnTimeout,
        group: u16,
    ) -> Option<Self> {
        let entry = channel.entry(index)?;
        // The table stands in shared memory, and the size decides how much of the program's memory
        // is written.
        if let Entry::Signal { bytes, .. } | Entry::Member { bytes, .. } = entry
            && !matches!(bytes, 1 | 2 | 4 | 8)
        {
            return None;
        }
        let kind = match (entry, direction) {
            (Entry::Signal { bytes, .. }, Direction::Send) => {
                let cell = channel.signal_cell(index)?;
                SignalKind::Send { cell, bytes, count: AtomicU64::new(cell.number()) }
            }
            (Entry::Signal { bytes, initial, timeouts }, Direction::Receive) => {
                SignalKind::Receive {
                    cell: channel.signal_cell(index)?,
                    bytes,
                    initial,
                    timeouts,
                    on_timeout,
                    seen: AtomicU64::new(0),
                    last: AtomicU64::new(initial),
                }
            }
            (Entry::Member { bytes, .. }, _) => {
                let members = (0..index)
                    .rev()
                    .take_while(|before| {
                        matches!(channel.entry(*before), Some(Entry::Member { .. }))
                    })
                    .count();
                SignalKind::Member { group, member: u16::try_from(members).ok()?, bytes }
            }
            (Entry::Queue { .. }, Direction::Send) => {
                SignalKind::SendQueue(Claim::new(channel.sender(index)?))
            }
            (Entry::Queue { .. }, Direction::Receive) => {
                let receiver = channel.receiver(index)?;
                SignalKind::ReceiveQueue { sent: receiver.sent(), receiver: Claim::new(receiver) }
            }
            (Entry::Group { .. }, _) => return None,
        };
        Some(Self { kind })
    }
}

/// The state that belongs to a group number.
#[derive(Debug)]
pub struct ComGroup<'map> {
    pub(super) cell: Latest<'map>,
    pub(super) direction: Direction,
    pub(super) members: usize,
    pub(super) timeouts: Timeouts,
    pub(super) on_timeout: OnTimeout,
    /// Sent so far, or received last; this side's own.
    pub(super) count: AtomicU64,
    /// This side's values, until the group is sent or after it was received.
    pub(super) shadow: [AtomicU64; GROUP_MEMBERS_MAX],
    pub(super) initial: [u64; GROUP_MEMBERS_MAX],
}

impl<'map> ComGroup<'map> {
    /// Entry `index` of a channel; `None` when that is no group, or has become an impossible one
    /// since the channel was attached to.
    pub fn new(
        channel: &Channel<'map>,
        index: usize,
        direction: Direction,
        on_timeout: OnTimeout,
    ) -> Option<Self> {
        let Entry::Group { members, timeouts } = channel.entry(index)? else {
            return None;
        };
        let cell = channel.group_cell(index)?;
        let members = usize::from(members);
        if members > GROUP_MEMBERS_MAX {
            return None;
        }
        let initial: [u64; GROUP_MEMBERS_MAX] = array::from_fn(|member| {
            match (member < members).then(|| channel.entry(index + 1 + member)) {
                Some(Some(Entry::Member { initial, .. })) => initial,
                _ => 0,
            }
        });
        let count = match direction {
            Direction::Send => cell.number(),
            Direction::Receive => 0,
        };
        Some(Self {
            cell,
            direction,
            members,
            timeouts,
            on_timeout,
            count: AtomicU64::new(count),
            shadow: initial.map(AtomicU64::new),
            initial,
        })
    }
}
