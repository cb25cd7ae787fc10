//! Checked channels and the values they carry.

use quietcore_units::{DataType, Nanos};

/// A channel from one partition to another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Channel {
    /// The name, unique in the site.
    pub name: String,
    /// The partition that sends; it exists.
    pub from: String,
    /// The partition that receives; it exists and is another one.
    pub to: String,
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
