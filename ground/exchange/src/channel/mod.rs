//! Channels: what partitions tell each other, cycle by cycle.
//!
//! A channel is shared memory of its own, apart from the exchanges of its partitions, so that each
//! partition sees only the channels that it takes part in.
//!
//! ```text
//! 0     ┌─────────────────────────┐
//!       │ Header (one page)       │ magic, version, layout hash, size, number of entries      host
//! 4096  ├─────────────────────────┤
//!       │ Entries, 64 bytes each  │ kind, size, initial value, timeouts                       host
//!       ├─────────────────────────┤
//!       │ Cells, on cache lines   │ in the order of the entries                     its writer
//!       └─────────────────────────┘
//! ```
//!
//! | kind | writer | readers | meaning |
//! |------|--------|---------|---------|
//! | signal | one, wait-free | any number, wait-free | the last value is the best |
//! | group | one, wait-free | any number, wait-free | several signals that change together |
//! | queue | one | one | each message once; what has no room is refused and counted |
//!
//! The terms follow AUTOSAR COM: initial value, update bit, receive timeout, shadow buffer. The
//! update bit is a comparison of numbers at each receiver, so that receivers don't share it.
//!
//! The position of a cell follows from the entries before it; no offset stands in the shared
//! memory.

mod carrier;
mod deadline;
mod group;
mod message;
mod region;
mod shape;
mod signal;
mod table;
mod wait;

pub use carrier::{Carrier, Renewed};
pub use deadline::{Freshness, Timeouts, freshness, is_overdue};
pub use group::{GROUP_MEMBERS_MAX, GroupReader, GroupWriter};
pub use message::{
    Message, QUEUE_MESSAGE_BYTES_MAX, QUEUE_SLOTS_MAX, ReceiveError, Receiver, SendError, Sender,
};
pub use region::{Channel, ChannelError, ChannelView};
pub use shape::{CHANNEL_BYTES_MAX, ChannelShapeError, ENTRY_LIMIT, Entry, channel_bytes};
pub use signal::{Received, SignalReader, SignalWriter};
pub use wait::{LOOK_EVERY, WAIT_MAX, WaitClock};
