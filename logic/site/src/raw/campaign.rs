//! `[[class]]`, `[[profile]]` and `[campaign]` as written.

use quietcore_record::class::JitterDefinition;
use quietcore_units::{ByteSize, Nanos};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::raw::RawControl;
use crate::reading::format;
use crate::site::{LoadKind, LoadPlace, ProbeName};

/// An application class of your own.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Class")]
pub(crate) struct RawClass {
    /// The name; a published one can't be taken.
    #[schemars(required, extend("format" = "quietcore-name"), example = &"press-axis")]
    pub(crate) name: Option<String>,
    /// The class whose figures apply if this one gives none.
    #[schemars(extend("format" = "quietcore-name"), example = &"motion-control")]
    pub(crate) like: Option<String>,
    /// Name for people. Left out: the name.
    #[schemars(extend("format" = "quietcore-line"), example = &"Press, main axis")]
    pub(crate) title: Option<String>,
    /// The cycle. The release latency may take a tenth of it.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "20 us", "x-maximum" = "10 s"),
        example = &"2 ms"
    )]
    pub(crate) cycle: Option<Nanos>,
    /// The largest release latency. Left out: a tenth of the cycle.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "1 s"),
        example = &"50 us"
    )]
    pub(crate) latency: Option<Nanos>,
    /// The largest release jitter.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 ns", "x-maximum" = "10 s"),
        example = &"50 us"
    )]
    pub(crate) jitter: Option<Nanos>,
    /// Definition by which that jitter is computed.
    #[schemars(extend("default" = "whiskers"), example = &"peak-to-peak")]
    pub(crate) jitter_definition: Option<JitterDefinition>,
    /// Meaning of a miss to the application: a release later than the largest latency, or a cycle
    /// of the program that is not done at its deadline.
    #[schemars(extend("default" = "hard"), example = &"firm")]
    pub(crate) real_time: Option<RealTime>,
    /// Of a `firm` class, the most misses in a row: the survival time in cycles.
    #[schemars(range(min = 1, max = 1_000_000), example = 2)]
    pub(crate) survival: Option<u32>,
    /// Of a `soft` class, the share of cycles that must not miss.
    #[schemars(range(min = 0.5, max = 0.999_999), example = 0.999)]
    pub(crate) quantile: Option<f64>,
    /// Source of the figures: document, table, edition. Needed unless `like` is given.
    #[schemars(extend("format" = "quietcore-line"), example = &"plant standard 12, edition 3")]
    pub(crate) source: Option<String>,
}

/// The kind of real-time application that a class is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RealTime {
    /// A miss is a failure: a single one is a FAIL.
    Hard,
    /// So many misses in a row as `survival` says are borne, and no more.
    Firm,
    /// A share of misses is borne: what `quantile` leaves.
    Soft,
}

/// A profile of your own: the conditions of a run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Profile")]
pub(crate) struct RawProfile {
    /// The name; a built-in one can't be taken.
    #[schemars(required, extend("format" = "quietcore-name"), example = &"night-shift")]
    pub(crate) name: Option<String>,
    /// The profile whose conditions apply if this one gives none.
    #[schemars(extend("format" = "quietcore-name"), example = &"tp4")]
    pub(crate) like: Option<String>,
    /// Purpose of the profile, for people.
    #[schemars(extend("format" = "quietcore-line"), example = &"backup runs beside production")]
    pub(crate) description: Option<String>,
    /// `true` pins each partition to its CPUs. Left out: as in `like`, else `true`.
    #[schemars(example = true)]
    pub(crate) pinned: Option<bool>,
    /// Settings of the machine that are changed meanwhile, in place of `controls` of `[host]`; an
    /// empty list changes nothing. Left out: as in `like`, else as in `[host]`.
    #[schemars(length(max = 16), extend("examples" = [["interrupts", "load-balance"], []]))]
    pub(crate) controls: Option<Vec<RawControl>>,
    /// The loads that disturb the measurement. If given, they replace those of `like`.
    #[schemars(length(max = 32))]
    pub(crate) load: Option<Vec<RawLoad>>,
    /// Partitions that run loads of their own beside the measured ones, as in `tp5` and `tp6`. Left
    /// out: as in `like`, else none.
    pub(crate) neighbours: Option<RawNeighbours>,
}

/// Partitions that run loads beside the measured ones: of the kind of the first partition, and for
/// `kvm` and `qemu` Linux guests.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Neighbours")]
pub(crate) struct RawNeighbours {
    /// Number of neighbours; 0 takes away those of `like`.
    #[schemars(range(min = 0, max = 16), extend("default" = 2), example = 2)]
    pub(crate) count: Option<u32>,
    /// `true` divides the CPUs that no partition has among them; `false` lets all float over these.
    #[schemars(extend("default" = false), example = true)]
    pub(crate) own_cpus: Option<bool>,
    /// The loads in each of them. Left out: that of `tp4`.
    #[schemars(length(min = 1, max = 32))]
    pub(crate) load: Option<Vec<RawLoad>>,
}

/// A load that disturbs the measurement.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Load")]
pub(crate) struct RawLoad {
    /// Work of the workers.
    #[schemars(required, example = &"malloc")]
    pub(crate) kind: Option<LoadKind>,
    /// The number of workers.
    #[schemars(range(min = 1, max = 256), extend("default" = 1), example = 10)]
    pub(crate) workers: Option<u32>,
    /// Memory or disk space that each worker touches or writes; only for `malloc`, `cache`,
    /// `memory-bandwidth` and `disk`.
    #[serde(default)]
    #[schemars(
        schema_with = "format::size",
        extend("x-minimum" = "4 KiB", "x-maximum" = "1 TiB"),
        example = &"64 MB"
    )]
    pub(crate) size: Option<ByteSize>,
    /// CPUs on which the workers may run; not for those of a neighbour, which has CPUs itself.
    #[schemars(extend("default" = "anywhere"), example = &"other-cpus")]
    pub(crate) place: Option<LoadPlace>,
}

/// Profiles that are measured, the length of the measurement, and what a PASS must exclude.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Campaign")]
pub(crate) struct RawCampaign {
    /// The profiles to run, in this order; `isolation` stands for `iso1` to `iso12`.
    #[schemars(
        length(min = 1, max = 64),
        extend("items" = { "type": "string", "format": "quietcore-name" }),
        extend("default" = ["tp1", "tp2", "tp3", "tp4"]),
        extend("examples" = [["tp2", "tp4"]])
    )]
    pub(crate) profiles: Option<Vec<String>>,
    /// `true` measures each partition alone, one after the other, as for a comparison of systems:
    /// partitions may then claim the same CPUs, and one that this machine can't run is left out
    /// with the reason. `quietcore up` takes no site whose partitions share CPUs so.
    #[schemars(extend("default" = false), example = true)]
    pub(crate) alone: Option<bool>,
    /// Probes that are run after the profiles, on the first CPU of each partition: no class judges
    /// what they measure.
    #[schemars(length(max = 8), extend("default" = []), extend("examples" = [["memory", "osek"]]))]
    pub(crate) probes: Option<Vec<ProbeName>>,
    /// Time for which each profile is measured; or give `cycles`. Left out with `cycles`: as many
    /// cycles as `exceedance` asks for.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "100 ms", "x-maximum" = "7 d"),
        example = &"8 h"
    )]
    pub(crate) duration: Option<Nanos>,
    /// Number of cycles for which each profile is measured; or give `duration`.
    #[schemars(range(min = 1, max = 100_000_000_000_u64), example = 2_880_000)]
    pub(crate) cycles: Option<u64>,
    /// Time that is run before the measurement of each profile and not recorded.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "0 s", "x-maximum" = "10 min", "default" = "1 s"),
        example = &"1 s"
    )]
    pub(crate) warm_up: Option<Nanos>,
    /// The probability per cycle of exceeding a limit that a PASS must exclude with 95 %
    /// confidence. It decides how many cycles are needed: about 3 divided by it.
    #[schemars(range(min = 1e-9, max = 0.1), extend("default" = 1e-6), example = 1e-6)]
    pub(crate) exceedance: Option<f64>,
    /// Releases later than this are explained: each gets a ledger of where its time went. The
    /// kernel is traced for that, which adds to every latency. Left out: no release is explained.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "10 s"),
        example = &"50 us"
    )]
    pub(crate) explain: Option<Nanos>,
    /// The folder with the image of neighbours that are Linux guests, as beside partitions of `kvm`
    /// and `qemu`, relative to the site file; `quietcore guest build` makes one. Left out: that of
    /// the first partition with a Linux guest.
    #[schemars(example = &"guest-rt")]
    pub(crate) neighbour_image: Option<String>,
}
