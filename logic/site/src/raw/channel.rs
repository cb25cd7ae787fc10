//! `[[channel]]` as written.

use quietcore_units::{DataType, Nanos};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::raw::{RawNumber, number};
use crate::reading::format;

/// A channel from one partition to another, or between a partition and a program of the host:
/// signals and queues in shared memory.
/// Programs in C reach it with `Com.h`, by the macros `ComConf_ComSignal_CHANNEL_SIGNAL` and
/// `ComConf_ComSignalGroup_CHANNEL`, with `_` for `-`. All values that are no queues, at most 64,
/// form the group: they are sent and received as one, and its timeout is the shortest of theirs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Channel")]
pub(crate) struct RawChannel {
    /// The name of the channel.
    #[schemars(required, extend("format" = "quietcore-name"), example = &"setpoint")]
    pub(crate) name: Option<String>,
    /// The partition that sends; `host` is an ordinary program of the host, such as
    /// `quietcore channel` (where no partition has that name).
    #[schemars(required, extend("format" = "quietcore-name"), example = &"hmi")]
    pub(crate) from: Option<String>,
    /// The partition that receives, or `host`. Programs of the host can read the values of every
    /// channel; messages of a queue come to the end alone.
    #[schemars(required, extend("format" = "quietcore-name"), example = &"axis")]
    pub(crate) to: Option<String>,
    /// Signals and queues that it carries.
    #[schemars(
        required,
        length(min = 1, max = 256),
        example = serde_json::json!([{ "name": "speed", "type": "f64", "timeout": "10 ms" }])
    )]
    pub(crate) signals: Option<Vec<RawSignal>>,
}

/// One value of a channel: the last one (a signal), or a bounded queue of them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Signal")]
pub(crate) struct RawSignal {
    /// The name of the signal, unique in its channel.
    #[schemars(required, extend("format" = "quietcore-name"), example = &"speed")]
    pub(crate) name: Option<String>,
    /// The type of its value.
    #[serde(rename = "type")]
    #[schemars(required, example = &"f64")]
    pub(crate) value_type: Option<DataType>,
    /// Time without news after which the receiver counts the sender as lost. Not for a queue.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "1 h"),
        example = &"10 ms"
    )]
    pub(crate) timeout: Option<Nanos>,
    /// The value before the first one is sent. Left out: zero or `false`.
    #[serde(default)]
    #[schemars(schema_with = "number", example = 0.5, example = true)]
    pub(crate) initial: Option<RawNumber>,
    /// Makes it a queue with room for this many values, or for the next power of two, in place of
    /// the last value only.
    #[schemars(range(min = 1, max = 65536), example = 16)]
    pub(crate) queue: Option<u32>,
}
