//! `[partition.monitor]` as written.

use quietcore_units::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::reading::format;
use crate::site::{Reaction, Shedding};

/// Lateness that the supervisor watches the partition for while the site is up, and its reaction.
/// It only reads the exchange, so watching costs the partition's cycle nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Monitor")]
pub(crate) struct RawMonitor {
    /// Reaction to cycles that are not done at their deadline.
    #[schemars(extend("default" = "report"), example = &"shed")]
    pub(crate) on_overrun: Option<Reaction>,
    /// Reaction to cycles of the fastest task that begin later than `limit`.
    #[schemars(extend("default" = "report"), example = &"report")]
    pub(crate) on_exceedance: Option<Reaction>,
    /// Reaction to releases that come a whole period late or more.
    #[schemars(extend("default" = "report"), example = &"restart")]
    pub(crate) on_missed_cycle: Option<Reaction>,
    /// The release latency above which a release counts as an exceedance. Left out: a tenth of the
    /// period.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "10 s"),
        example = &"100 us"
    )]
    pub(crate) limit: Option<Nanos>,
    /// Number of events of a kind within `window` that a reaction needs.
    #[schemars(range(min = 1, max = 100), extend("default" = 1), example = 3)]
    pub(crate) after: Option<u32>,
    /// The time within which these events are counted.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 ms", "x-maximum" = "1 h", "default" = "1 s"),
        example = &"1 s"
    )]
    pub(crate) window: Option<Nanos>,
    /// Time for which the partition must have been on time before the partitions that it shed are
    /// given back.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "10 ms", "x-maximum" = "1 h", "default" = "1 s"),
        example = &"1 s"
    )]
    pub(crate) calm: Option<Nanos>,
    /// Reaction of this partition when a more critical one sheds load. A partition that drives a
    /// fieldbus must set it: while the partition is held, the fieldbus gets no frames, and the
    /// watchdogs of the SubDevices decide about the outputs.
    #[schemars(extend("default" = "freeze"), example = &"throttle")]
    pub(crate) when_shed: Option<Shedding>,
    /// The share of the time in percent in which it runs under `throttle`.
    #[schemars(range(min = 1, max = 90), extend("default" = 10), example = 10)]
    pub(crate) share: Option<u32>,
}
