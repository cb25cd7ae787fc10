//! A channel as programs of the host open it: its ends, and what it carries.

use quietcore_units::{DataType, Nanos};
use serde::{Deserialize, Serialize};

/// The way in which a program of the host uses a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelUse {
    /// It reads values, as anybody may; messages stay in their queues. The memory comes for reading
    /// only.
    Read,
    /// It is the end that the site file gives to programs of the host: it sends, or it takes
    /// messages, too. One program at a time; the end is free when that program has closed the
    /// memory, or has died.
    End,
}

/// A channel that was opened; its memory comes with the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelOpened {
    /// Name of the site.
    pub site: String,
    /// Name of the channel.
    pub channel: String,
    /// The partition that sends; `None` stands for a program of the host.
    pub from: Option<String>,
    /// The partition that receives; `None` stands for a program of the host.
    pub to: Option<String>,
    /// Its signals and queues, in the order of the site file.
    pub signals: Vec<ChannelSignal>,
}

/// A signal or a queue of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelSignal {
    /// Name of the signal, unique in its channel.
    pub name: String,
    /// The type of its value.
    #[serde(rename = "type")]
    pub value_type: DataType,
    /// Number of its entry in the channel's table.
    pub entry: u32,
    /// Places of a queue; `None` where the last value counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
    /// Time without news after which a receiver counts the sender as lost, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ns: Option<u64>,
}

impl ChannelOpened {
    /// Returns the shortest timeout of its values: that of their group.
    pub fn timeout(&self) -> Option<Nanos> {
        self.signals.iter().filter_map(|signal| signal.timeout_ns).min().map(Nanos::new)
    }
}
