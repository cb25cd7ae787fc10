//! A folder that renews an earlier one: each record is of its campaign, or a copy.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests use the rest of it")]
mod sample;

use std::path::Path;

use quietcore_evidence::{Evidence, Manifest, Writer, read, sum_of_sums};
use quietcore_record::record::Record;
use quietcore_record::renewal::{CampaignPart, MeasuredAgain, Renewal, RenewalReason, TakenOver};
use quietcore_record::verdict::Verdict;

/// The start of the renewal, a day after that of the first campaign.
const LATER: &str = "2026-01-03T03:04:05Z";

/// A change to the manifest of a renewed folder before it is sealed.
type Forge<'a> = &'a dyn Fn(&mut Manifest);

/// Measures `tp4` again a day later, and takes the other profiles over.
fn renewed(first: &Path, root: &Path, forge: Forge<'_>) -> Evidence {
    let (mut manifest, mut records) = (sample::manifest(), sample::records(0));
    sample::write(first, &manifest, &records);
    LATER.clone_into(&mut manifest.started_at);
    let is_again = |record: &Record| record.profile == "tp4";
    for record in records.iter_mut().filter(|record| is_again(record)) {
        "2026-01-03T03:06:00.5Z".clone_into(&mut record.conditions.started_at);
    }
    sample::write(root, &manifest, &records);
    let writer = Writer::open(root).unwrap();
    let taken = records.iter().filter(|record| !is_again(record));
    manifest.renewal = Some(Renewal {
        folder: "/runs/first".to_owned(),
        started_at: sample::manifest().started_at,
        sums_sha256: sum_of_sums(first).unwrap(),
        measured_again: vec![MeasuredAgain {
            part: CampaignPart::Profile("tp4".to_owned()),
            because: vec![RenewalReason::NotMeasured { because: "no load".to_owned() }],
        }],
        taken_over: taken
            .map(|record| TakenOver {
                record: record.name.clone(),
                folder: "/runs/first".to_owned(),
                measured_at: record.conditions.started_at.clone(),
                sha256: writer.take_over(first, &record.name).unwrap(),
            })
            .collect(),
    });
    forge(&mut manifest);
    writer.manifest(&manifest).unwrap();
    writer.seal().unwrap();
    read(root).unwrap()
}

/// Returns what a folder says that was renewed and changed so.
fn said(forge: Forge<'_>) -> (Verdict, String) {
    let place = tempfile::tempdir().unwrap();
    let evidence = renewed(&place.path().join("first"), &place.path().join("second"), forge);
    assert_eq!(evidence.damage, [] as [String; 0]);
    let said: Vec<_> = evidence.contradictions.iter().map(ToString::to_string).collect();
    (evidence.declared_verdict(), said.join("\n"))
}

fn taken(manifest: &mut Manifest) -> &mut Vec<TakenOver> {
    &mut manifest.renewal.as_mut().unwrap().taken_over
}

/// Goal: a renewed folder is as good as one of a single campaign, and a record that is not what its
/// manifest says is named.
#[test]
fn a_renewed_folder_is_whole_and_what_its_manifest_says_of_records_is_checked() {
    assert_eq!(said(&|_| {}), (Verdict::Pass, String::new()));
    let forged: [(&str, Forge<'_>); 5] = [
        ("axis.tp1.task0.sha256` is 00, and", &|it| "00".clone_into(&mut taken(it)[0].sha256)),
        ("task0.measured_at` is 2020, and", &|it| {
            "2020".clone_into(&mut taken(it)[0].measured_at);
        }),
        ("`renewal.taken_over.none` is there, and from the rest follows no such record", &|it| {
            "none".clone_into(&mut taken(it)[0].record);
        }),
        ("from the rest follows 2026-01-03T03:04:05Z or later", &|it| taken(it).clear()),
        ("from the rest follows that it was measured again", &|it| {
            let part = CampaignPart::Profile("tp1".to_owned());
            it.renewal.as_mut().unwrap().measured_again[0].part = part;
        }),
    ];
    for (expected, forge) in forged {
        let (verdict, said) = said(forge);
        assert!(said.contains(expected), "{expected}: {said}");
        assert_eq!(verdict, Verdict::NotProven, "{said}");
    }
}
