//! Industrial application classes: the demands of a control application on time.
//!
//! The catalogue holds published figures, each with its source; where a source gives a range of
//! cycles, the source line says which end is taken. Users add classes of their own in the site
//! file.
//!
//! Three criteria follow from a class:
//! - release latency: the limit that the source gives, or else a tenth of the cycle (hofer2019,
//!   section VII: it leaves the rest of the cycle to the program and to whoever shares the core);
//! - misses of that limit or of a deadline: none, so many in a row, or a share of the cycles, as
//!   the [`Strictness`] says;
//! - release jitter: at most the published limit, by the definition named with it. queiroz2023
//!   compares its limits with the distance of its whiskers, so that is the definition of its
//!   classes.

mod strictness;

use serde::{Deserialize, Serialize};

pub use strictness::Strictness;

/// The part of the cycle that the release latency may take: one tenth.
pub const CYCLE_PART: u64 = 10;

/// The formula of jitter. A number without its definition isn't shown.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum JitterDefinition {
    /// Distance between the 97.5 % and the 2.5 % quantile, as in queiroz2023.
    #[default]
    Whiskers,
    /// Largest minus smallest value, as in kong2021.
    PeakToPeak,
    /// Mean absolute difference of successive values.
    Successive,
}

impl JitterDefinition {
    /// Returns the definition in words.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Whiskers => "p97.5 − p2.5",
            Self::PeakToPeak => "maximum − minimum",
            Self::Successive => "mean difference of successive values",
        }
    }
}

/// An application class with its published or own limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Class {
    /// The name in site files, in kebab case.
    pub name: String,
    /// The kind of application, for people.
    pub title: String,
    /// The cycle, in ns; `None` where the source gives none.
    pub cycle_ns: Option<u64>,
    /// The largest release latency, in ns, where the source gives one; `None` means a tenth of the
    /// cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<u64>,
    /// The largest jitter, in ns; `None` where the source gives none.
    pub jitter_ns: Option<u64>,
    /// The formula of that jitter.
    pub jitter_definition: JitterDefinition,
    /// The misses that the application bears.
    #[serde(default, skip_serializing_if = "Strictness::is_hard")]
    pub strictness: Strictness,
    /// The source of the figures, with table, clause or edition.
    pub source: String,
}

impl Class {
    /// Returns the largest release latency, in ns: that of the source, or a tenth of the cycle.
    pub fn latency_limit_ns(&self) -> Option<u64> {
        self.latency_ns.or(self.cycle_ns.map(|cycle| cycle / CYCLE_PART))
    }

    /// Returns `true` if it is judged by a share of misses, whatever exceedance is asked for.
    pub fn is_soft(&self) -> bool {
        matches!(self.strictness, Strictness::Soft { .. })
    }
}

const QUEIROZ: &str = "queiroz2023, table 1";
const MAHMUD: &str = "mahmud2014, table III";
const PROFINET: &str = "PROFINET University, real-time classes (fastest update of the range)";
const SAMPLED_VALUES: &str = "IEC 61850-9-2 LE sampled values, as used by SEAPATH";

/// Name, title, cycle in µs, jitter in µs, source; 0 where there is no figure.
type Row = (&'static str, &'static str, f64, f64, &'static str);

const ROWS: [Row; 19] = [
    ("high-speed-io", "High-speed I/O", 100.0, 0.0, MAHMUD),
    (
        "motion-control",
        "Motion control (factory automation)",
        1_000.0,
        1.0,
        "queiroz2023, table 1; cycle also in mahmud2014, table III",
    ),
    (
        "fast-control-loop",
        "Fast control loop",
        10_000.0,
        0.0,
        "mahmud2014, table III; the text has 5 ms to 10 ms",
    ),
    ("factory-automation", "Factory automation", 10_000.0, 100.0, QUEIROZ),
    (
        "process-control",
        "Process automation, common",
        100_000.0,
        0.0,
        "mahmud2014, table III; the upper end of 10 ms to 100 ms",
    ),
    ("slow-control", "Slow control", 0.0, 0.0, MAHMUD),
    ("process-remote-control", "Process automation, remote control", 50_000.0, 20.0, QUEIROZ),
    ("process-monitoring", "Process automation, monitoring", 50_000.0, 20_000.0, QUEIROZ),
    ("remote-control", "Remote control", 5_000.0, 1_000.0, QUEIROZ),
    (
        "electricity-high-voltage",
        "Electricity distribution, high voltage",
        5_000.0,
        1_000.0,
        QUEIROZ,
    ),
    (
        "electricity-medium-voltage",
        "Electricity distribution, medium voltage",
        25_000.0,
        10_000.0,
        QUEIROZ,
    ),
    (
        "transport-backhaul",
        "Intelligent transport, infrastructure backhaul",
        10_000.0,
        2_000.0,
        QUEIROZ,
    ),
    ("profinet-rt", "PROFINET RT, 250 µs", 250.0, 100.0, PROFINET),
    ("profinet-rt-10ms", "PROFINET RT, 10 ms", 10_000.0, 100.0, PROFINET),
    ("profinet-irt", "PROFINET IRT", 1_000.0, 1.0, PROFINET),
    ("iec-61850-sv-50hz", "IEC 61850 sampled values, 50 Hz", 250.0, 0.0, SAMPLED_VALUES),
    ("iec-61850-sv-60hz", "IEC 61850 sampled values, 60 Hz", 208.0, 0.0, SAMPLED_VALUES),
    (
        "iec-61850-goose-ed1",
        "IEC 61850 GOOSE, P1, edition 1",
        10_000.0,
        0.0,
        "IEC 61850-5 edition 1, P1 as half a cycle of 50 Hz (UCA test procedures, 2012)",
    ),
    (
        "iec-61850-goose-ed2",
        "IEC 61850 GOOSE, P1, edition 2",
        5_000.0,
        0.0,
        "IEC 61850-5 edition 2, P1 as a quarter cycle of 50 Hz (ABB REX640 manual)",
    ),
];

const RED_HAT: &str = "Red Hat Hardware Certification 2026, test realtime_interrupt: timer and \
                       interrupt latency under load, on the kernel kernel-rt";

/// Name, title and largest latency in µs of classes whose source gives that and no cycle.
const LATENCIES: [(&str, &str, u64); 2] = [
    ("rhel-real-time-150us", "Red Hat real-time certification, limit of 150 µs", 150),
    ("rhel-real-time-50us", "Red Hat real-time certification, limit of 50 µs", 50),
];

/// Returns the published classes.
pub fn catalogue() -> Vec<Class> {
    let nanos = |micros: f64| (micros > 0.0).then_some((micros * 1_000.0) as u64);
    let by_latency = LATENCIES.iter().map(|(name, title, micros)| Class {
        name: (*name).to_owned(),
        title: (*title).to_owned(),
        cycle_ns: None,
        latency_ns: Some(micros * 1_000),
        jitter_ns: None,
        jitter_definition: JitterDefinition::Whiskers,
        strictness: Strictness::Hard,
        source: RED_HAT.to_owned(),
    });
    ROWS.iter()
        .map(|(name, title, cycle, jitter, source)| Class {
            name: (*name).to_owned(),
            title: (*title).to_owned(),
            cycle_ns: nanos(*cycle),
            latency_ns: None,
            jitter_ns: nanos(*jitter),
            jitter_definition: JitterDefinition::Whiskers,
            strictness: Strictness::Hard,
            source: (*source).to_owned(),
        })
        .chain(by_latency)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_of_the_mission_are_there_with_their_figures() {
        let find = |name: &str| catalogue().into_iter().find(|class| class.name == name).unwrap();
        let motion = find("motion-control");
        assert_eq!((motion.cycle_ns, motion.jitter_ns), (Some(1_000_000), Some(1_000)));
        assert_eq!(motion.latency_limit_ns(), Some(100_000));
        assert_eq!(find("fast-control-loop").cycle_ns, Some(10_000_000));
        assert_eq!(find("process-control").latency_limit_ns(), Some(10_000_000));
        assert_eq!(find("slow-control").latency_limit_ns(), None);
        assert_eq!(find("rhel-real-time-50us").latency_limit_ns(), Some(50_000));
    }

    #[test]
    fn names_are_unique_and_every_class_has_a_source() {
        let classes = catalogue();
        let mut names: Vec<_> = classes.iter().map(|class| &class.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), classes.len());
        assert!(classes.iter().all(|class| !class.source.is_empty()));
    }
}
