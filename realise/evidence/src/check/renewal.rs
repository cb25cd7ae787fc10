//! The renewal in a manifest against the records: each that was taken over is the one of the
//! earlier folder. All others are of the folder's own campaign, as in any folder.

use quietcore_record::record::Record;
use quietcore_record::renewal::{CampaignPart, Renewal};

use super::{Contradiction, Filed, probe_of};
use crate::manifest::Manifest;

/// Compares the records of a folder with its renewal; finds nothing in a folder that is none.
/// `sum_of` returns the SHA-256 of a file of the folder.
pub(super) fn compare(
    manifest: &Manifest,
    filed: &[Filed],
    sum_of: &dyn Fn(&str) -> Option<String>,
    wrong: &mut Vec<Contradiction>,
) {
    let Some(renewal) = &manifest.renewal else { return };
    let mut differ = |record: &str, key: &str, says: &str, follows: &str| {
        let key = format!("renewal.taken_over.{record}{key}");
        let (says, follows) = (says.to_owned(), follows.to_owned());
        wrong.push(Contradiction::Manifest { key, says, follows });
    };
    for taken in &renewal.taken_over {
        let name = &taken.record;
        let Some(Filed { file, record }) = filed.iter().find(|it| it.record.name == *name) else {
            differ(name, "", "there", "no such record");
            continue;
        };
        let found = sum_of(file).unwrap_or_else(|| "not known".to_owned());
        if found != taken.sha256 {
            differ(name, ".sha256", &taken.sha256, &found);
        }
        let measured_at = &record.conditions.started_at;
        if *measured_at != taken.measured_at {
            differ(name, ".measured_at", &taken.measured_at, measured_at);
        }
        if is_measured_again(record, manifest, renewal) {
            differ(name, "", "there", "that it was measured again");
        }
    }
}

/// Returns `true` if a record was measured for an earlier folder.
pub(super) fn is_taken_over(record: &Record, manifest: &Manifest) -> bool {
    let mut taken = manifest.renewal.iter().flat_map(|renewal| &renewal.taken_over);
    taken.any(|it| it.record == record.name)
}

/// Returns `true` if the renewal says that the part of a record was measured again.
fn is_measured_again(record: &Record, manifest: &Manifest, renewal: &Renewal) -> bool {
    let part = match probe_of(record, manifest) {
        None => CampaignPart::Profile(record.profile.clone()),
        Some(entry) => {
            CampaignPart::Probe { name: entry.probe.clone(), partition: entry.partition.clone() }
        }
    };
    renewal.measured_again.iter().any(|again| again.part == part)
}
