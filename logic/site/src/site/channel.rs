//! Checked channels and the values they carry.

use std::fmt;

use quietcore_units::{DataType, Nanos};

/// The word of the site file for an end that is a program of the host.
pub(crate) const HOST_END: &str = "host";

/// One end of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelEnd {
    /// A partition; it exists.
    Partition(String),
    /// An ordinary program of the host, whichever opens the channel.
    Host,
}

impl ChannelEnd {
    /// Returns the name of the partition at this end; `None` for a program of the host.
    pub fn partition(&self) -> Option<&str> {
        match self {
            Self::Partition(name) => Some(name),
            Self::Host => None,
        }
    }

    /// Returns `true` if this partition is at this end.
    pub fn is(&self, partition: &str) -> bool {
        self.partition() == Some(partition)
    }
}

/// Shows the end as the site file names it.
impl fmt::Display for ChannelEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.partition().unwrap_or(HOST_END))
    }
}

/// A channel between two partitions, or between one and a program of the host.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Channel {
    /// The name, unique in the site.
    pub name: String,
    /// The end that sends.
    pub from: ChannelEnd,
    /// The end that receives; it is another one.
    pub to: ChannelEnd,
    /// Signals and queues that it carries; never empty.
    pub signals: Vec<Signal>,
}

/// One value of a channel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Signal {
    /// The name, unique in its channel.
    pub name: String,
    /// The type of its value.
    pub value_type: DataType,
    /// Time without news after which the receiver counts the sender as lost.
    pub timeout: Option<Nanos>,
    /// The kind: the last value counts, or every one of them.
    pub kind: SignalKind,
}

/// The two kinds of signal, as in AUTOSAR COM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SignalKind {
    /// The last value is best.
    Latest {
        /// The value before the first one is sent.
        initial: Initial,
    },
    /// Every value counts: single producer, single consumer, bounded.
    Queue {
        /// Number of values that have room.
        depth: u32,
    },
}

/// A value that fits its [`DataType`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initial {
    /// Of a `bool`.
    Truth(bool),
    /// Of an integer type, within its range.
    Whole(i64),
    /// Of `f32` or `f64`; finite.
    Real(f64),
}
