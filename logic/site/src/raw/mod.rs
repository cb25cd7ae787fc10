//! The site file as the user wrote it: its tables with every key optional.
//!
//! These types are the one description of the file's shape. Their comments become the descriptions
//! of the JSON Schema and of the reference; `#[schemars(required)]` marks the keys that must be
//! there. Each field is an `Option` all the same: the shape walk reports a missing or wrong value
//! and leaves it out, so that one mistake doesn't hide the next. `None` therefore means "not
//! written, or already reported".
//!
//! Keywords of our own in the schema: a `format` that starts with `quietcore-` (see
//! [`crate::reading::format`]), and `x-minimum` and `x-maximum` for quantities with units.

mod campaign;
mod channel;
mod fieldbus;
mod host;
mod monitor;
mod partition;
mod program;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use campaign::{RawCampaign, RawClass, RawLoad, RawNeighbours, RawProfile, RealTime};
pub(crate) use channel::{RawChannel, RawSignal};
pub(crate) use fieldbus::{RawFault, RawFieldbus, RawMapping, RawStartup, RawSubDevice};
pub(crate) use host::{RawControl, RawHost};
pub(crate) use monitor::RawMonitor;
pub(crate) use partition::{GuestSystemWord, RawCache, RawCpus, RawGuest, RawPartition, RawVcr};
pub use program::Policy;
pub(crate) use program::{RawEarlyWake, RawProgram, RawRestart, RawTask, TaskKind};

/// A machine, its partitions, the channels between them, the fieldbus and the campaign.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Quietcore site file")]
pub(crate) struct RawSite {
    /// Name of the site.
    #[schemars(required)]
    pub(crate) site: Option<RawIdentity>,
    /// CPUs for everything that is not a partition, and settings of the machine.
    pub(crate) host: Option<RawHost>,
    /// The partitions: each is a reservation, a backend that realises it, and a program.
    #[schemars(required, length(min = 1, max = 256))]
    pub(crate) partition: Option<Vec<RawPartition>>,
    /// Channels from one partition to another.
    #[schemars(length(max = 1024))]
    pub(crate) channel: Option<Vec<RawChannel>>,
    /// Fieldbus segments by name, each driven by one partition.
    #[serde(default)]
    #[schemars(schema_with = "fieldbuses")]
    pub(crate) fieldbus: Option<BTreeMap<String, RawFieldbus>>,
    /// Application classes of your own, beside the published ones.
    #[schemars(length(max = 256))]
    pub(crate) class: Option<Vec<RawClass>>,
    /// Profiles of your own, beside `tp1` to `tp6`.
    #[schemars(length(max = 64))]
    pub(crate) profile: Option<Vec<RawProfile>>,
    /// Profiles that are measured, the length of the measurement, and what a PASS must exclude.
    pub(crate) campaign: Option<RawCampaign>,
}

/// The name of the site.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Identity")]
pub(crate) struct RawIdentity {
    /// The name, used in reports and in names of evidence folders.
    #[schemars(required, extend("format" = "quietcore-name"), example = &"press-line")]
    pub(crate) name: Option<String>,
    /// The version of this notation; a file without it means the current one.
    #[serde(rename = "schema")]
    pub(crate) _schema: Option<SchemaVersion>,
}

/// The versions of the site file that can be read.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) enum SchemaVersion {
    /// Version 1, the only one so far.
    #[serde(rename = "quietcore.site/1")]
    One,
}

/// A value of one of the simple types as written.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum RawNumber {
    Truth(bool),
    Whole(i64),
    Real(f64),
}

/// The schema of such a value.
pub(crate) fn number(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["boolean", "integer", "number"] })
}

fn fieldbuses(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let fieldbus = generator.subschema_for::<RawFieldbus>();
    schemars::json_schema!({
        "type": "object",
        "propertyNames": { "format": "quietcore-name" },
        "additionalProperties": fieldbus,
        "maxProperties": 64,
    })
}
