//! The renewal of evidence: what of an earlier folder was measured again, and what still held.
//!
//! ```text
//! earlier folder ─┬─► profiles that still hold ──► taken over, byte for byte: TakenOver
//!                 └─► profiles that have expired ─► measured again, with the reason: MeasuredAgain
//! ```
//!
//! A profile is renewed whole: its partitions run at the same time, and their records are of one
//! run. Where each partition is measured alone, as for a comparison of systems, each is renewed on
//! its own, and what is compared then is of several times. What was taken over twice names the
//! folder in which it was measured.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Change;

/// The way in which a folder came out of an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Renewal {
    /// Path of the earlier folder.
    pub folder: String,
    /// Start of the campaign in it, RFC 3339, UTC.
    pub started_at: String,
    /// SHA-256 of its `SHA256SUMS`, which names each of its files.
    pub sums_sha256: String,
    /// Profiles and probes that were measured again, in the order of the campaign.
    pub measured_again: Vec<MeasuredAgain>,
    /// Records that were taken over, by name.
    pub taken_over: Vec<TakenOver>,
}

/// A profile, or a probe of a partition, that was measured again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MeasuredAgain {
    /// The part of the campaign.
    #[serde(flatten)]
    pub part: CampaignPart,
    /// The reasons; there is one at least.
    pub because: Vec<RenewalReason>,
}

/// A part of a campaign that is measured whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CampaignPart {
    /// All partitions under a profile.
    Profile(String),
    /// One partition under a profile, in a campaign that measures each alone.
    Alone {
        /// Name of the partition.
        partition: String,
        /// Name of the profile.
        profile: String,
    },
    /// A probe on one partition.
    Probe {
        /// Name of the probe.
        name: String,
        /// Name of the partition.
        partition: String,
    },
}

/// The reason why a part was measured again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RenewalReason {
    /// Something that its records depend on has changed.
    Expired {
        /// The partitions of which it has.
        partitions: Vec<String>,
        /// The condition, with its values then and now.
        change: Change,
    },
    /// The earlier folder has no records of it.
    NotMeasured {
        /// The reason that stands there.
        because: String,
    },
}

/// A record that was taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TakenOver {
    /// Name of the record.
    pub record: String,
    /// Path of the folder in which it was measured.
    pub folder: String,
    /// Start of its run, RFC 3339, UTC.
    pub measured_at: String,
    /// SHA-256 of its file, the same there as here.
    pub sha256: String,
}

impl Renewal {
    /// Returns `true` if its partitions were measured alone, each at its own time, and some of them
    /// in an earlier campaign: then what is compared is of several times.
    pub fn compares_times(&self) -> bool {
        let is_alone = |it: &MeasuredAgain| matches!(it.part, CampaignPart::Alone { .. });
        !self.taken_over.is_empty() && self.measured_again.iter().any(is_alone)
    }
}

impl fmt::Display for CampaignPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Profile(name) => f.write_str(name),
            Self::Alone { partition, profile } => write!(f, "{partition} under {profile}"),
            Self::Probe { name, partition } => write!(f, "probe {name} of {partition}"),
        }
    }
}

impl fmt::Display for RenewalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired { partitions, change } => {
                write!(f, "{}: {change}", partitions.join(", "))
            }
            Self::NotMeasured { because } => write!(f, "it was not measured: {because}"),
        }
    }
}

impl fmt::Display for MeasuredAgain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let because: Vec<String> = self.because.iter().map(ToString::to_string).collect();
        write!(f, "{}, since {}", self.part, because.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ageing::Dependency;

    #[test]
    fn a_renewal_is_read_as_it_was_written_and_says_why() {
        let change = Change {
            dependency: Dependency::Microcode,
            before: "0x1".to_owned(),
            now: "0x2".to_owned(),
        };
        let partitions = vec!["axis".to_owned(), "belt".to_owned()];
        let again = MeasuredAgain {
            part: CampaignPart::Profile("tp2".to_owned()),
            because: vec![RenewalReason::Expired { partitions, change }],
        };
        assert_eq!(again.to_string(), "tp2, since axis, belt: microcode 0x1 → 0x2");
        let part = CampaignPart::Probe { name: "osek".to_owned(), partition: "axis".to_owned() };
        let because = vec![RenewalReason::NotMeasured { because: "no KVM".to_owned() }];
        let probe = MeasuredAgain { part, because };
        let said = "probe osek of axis, since it was not measured: no KVM";
        assert_eq!(probe.to_string(), said);
        let (partition, profile) = ("axis".to_owned(), "tp1".to_owned());
        let because = vec![RenewalReason::NotMeasured { because: "no KVM".to_owned() }];
        let alone = MeasuredAgain { part: CampaignPart::Alone { partition, profile }, because };
        let said = "axis under tp1, since it was not measured: no KVM";
        assert_eq!(alone.to_string(), said);
        for one in [again, probe, alone] {
            let text = serde_json::to_string(&one).unwrap();
            assert_eq!(serde_json::from_str::<MeasuredAgain>(&text).unwrap(), one, "{text}");
        }
    }
}
