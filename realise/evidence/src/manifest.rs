//! The manifest: the purpose of a run, and its outcome.

use std::collections::BTreeMap;

use quietcore_record::class::Class;
use quietcore_record::renewal::Renewal;
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// The schema name of the manifest.
pub const MANIFEST_SCHEMA: &str = "quietcore.manifest/1";

/// The origin of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A campaign of a site file on this machine.
    Campaign,
    /// A single probe run by hand.
    Probe,
    /// Data of another program.
    Import,
}

/// Length of the measurement of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// The time of the measurement.
    Duration(Nanos),
    /// For this number of cycles.
    Cycles(u64),
}

/// The manifest of an evidence folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_SCHEMA`].
    pub schema: String,
    /// Name of the site, or of what was imported.
    pub name: String,
    /// The origin of the records.
    pub origin: Origin,
    /// Start of the run, RFC 3339, UTC.
    pub started_at: String,
    /// The version of Quietcore that wrote it.
    pub quietcore_version: String,
    /// SHA-256 of the site file; empty where there is none.
    pub site_sha256: String,
    /// The folder of the site file, which the models of its programs are relative to; `None` for
    /// runs without a site file, and in folders from before programs were run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_folder: Option<String>,
    /// The probability per cycle of exceeding a limit that must be excluded for a PASS.
    pub exceedance: f64,
    /// All classes the records are judged against.
    pub classes: Vec<Class>,
    /// The class each partition declares: what the exit status depends on.
    pub declared: BTreeMap<String, String>,
    /// Profiles in their order, each with its description.
    pub profiles: Vec<(String, String)>,
    /// Length of the measurement of each profile, if the command line gave another than the site
    /// file.
    pub length: Option<Length>,
    /// Wishes of the site that this kind of run doesn't cover, and means that it would profit from
    /// and this machine doesn't give.
    pub limits: Vec<String>,
    /// Profiles and partitions that the campaign asked for and that could not be measured, or not
    /// yet.
    pub not_measured: Vec<NotMeasured>,
    /// Probes that the campaign names, one entry a probe and partition, in the order in which they
    /// are run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeEntry>,
    /// `true` if all that was asked for has been measured.
    pub complete: bool,
    /// The earlier folder that this one renews; `None` where all was measured for this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewal: Option<Renewal>,
}

/// A probe of a campaign on one partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeEntry {
    /// Name of the probe, as its records have it.
    pub probe: String,
    /// Name of the partition.
    pub partition: String,
    /// Profiles of its records in their order, each with its description; empty until it is
    /// measured.
    pub profiles: Vec<(String, String)>,
    /// Why it was not measured; `None` where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
}

/// A partition × profile without a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotMeasured {
    /// Name of the partition.
    pub partition: String,
    /// Name of the profile.
    pub profile: String,
    /// `true` if the profile keeps the partition's CPU reservation: then nothing is proven without
    /// it.
    pub reserved: bool,
    /// Why there is no record.
    pub because: String,
}
