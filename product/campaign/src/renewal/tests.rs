//! Renewals on simulated time.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use quietcore_evidence::{Writer, read, sum_of_sums};
use quietcore_record::ageing::Dependency;
use quietcore_record::class::catalogue;
use quietcore_units::CpuSet;

use super::*;
use crate::programs::Programs;
use crate::world::simulated::{SITE, Simulated, Told, runs, site};
use crate::{Asked, Campaign, Earlier, Outcome};

const NAMES: [&str; 2] = ["axis.tp1.task0", "axis.tp2.cpu1"];

fn asked(site: &quietcore_site::Site) -> Asked<'_> {
    Asked {
        site,
        site_bytes: SITE.as_bytes(),
        site_folder: None,
        started_at: "2026-01-02T03:04:05Z",
        length: None,
        limits: Vec::new(),
        left_out: Vec::new(),
    }
}

/// Measures all runs of a campaign on simulated time, and seals its folder.
fn measure(mut campaign: Campaign) -> Outcome {
    let stop = AtomicBool::new(false);
    let writer = campaign.writer();
    writer.doctor(&BTreeMap::from([("schema", "quietcore.doctor/1")])).unwrap();
    let outcome = Simulated::on_time()
        .with_machine(|machine| campaign.measure_all(machine, &mut Told::default(), &stop));
    campaign.writer().seal().unwrap();
    outcome.unwrap()
}

fn measured(root: &Path) -> Evidence {
    let site = site();
    let writer = Writer::create(root).unwrap();
    measure(Campaign::begin(writer, asked(&site), runs(), Vec::new()).unwrap());
    read(root).unwrap()
}

fn microcode() -> Change {
    let (before, now) = ("0x1".to_owned(), "0x2".to_owned());
    Change { dependency: Dependency::Microcode, before, now }
}

/// Returns the plan where the records of one profile have expired.
fn plan(evidence: &Evidence, expired: &str) -> Result<RenewalPlan, NotEnded> {
    RenewalPlan::of(evidence, None, &mut |partition, records| {
        assert_eq!((partition, records.len()), ("axis", 1));
        let is_it = records[0].profile == expired;
        is_it.then(microcode).into_iter().collect()
    })
}

fn renewed(from: &Path, evidence: &Evidence, plan: &RenewalPlan, to: &Path) -> Evidence {
    let site = site();
    let earlier = Earlier {
        root: from,
        folder: &from.display().to_string(),
        sums_sha256: &sum_of_sums(from).unwrap(),
        evidence,
        plan,
    };
    let writer = Writer::create(to).unwrap();
    let campaign = Campaign::renew(writer, asked(&site), &earlier, runs(), Vec::new()).unwrap();
    let left: Vec<_> = campaign.runs().iter().map(|run| run.profile.clone()).collect();
    let again: Vec<_> = plan.measured_again.iter().map(|it| it.part.to_string()).collect();
    assert_eq!(left, again);
    assert_eq!(measure(campaign), Outcome::Completed);
    read(to).unwrap()
}

/// Goal: what still holds is taken over byte for byte and names where it was measured, also over
/// two renewals; the rest is measured again, and the new folder is as whole as the first.
#[test]
fn what_holds_is_taken_over_unchanged_and_the_rest_is_measured_again() {
    let place = tempfile::tempdir().unwrap();
    let [first, second, third] = ["first", "second", "third"].map(|name| place.path().join(name));
    let evidence = measured(&first);
    assert_eq!(plan(&evidence, "").unwrap().measured_again, []);
    assert_eq!(plan(&evidence, "").unwrap().taken_over, NAMES);
    let one = plan(&evidence, "tp1").unwrap();
    assert_eq!(one.measured_again[0].to_string(), "tp1, since axis: microcode 0x1 → 0x2");
    assert_eq!(one.taken_over, [NAMES[1]]);
    let once = renewed(&first, &evidence, &one, &second);
    let file = "records/axis.tp2.cpu1.json";
    let bytes = |root: &Path| std::fs::read(root.join(file)).unwrap();
    assert_eq!(bytes(&first), bytes(&second));
    assert!(once.manifest.complete && once.manifest.not_measured.is_empty());
    assert_eq!(once.declared_verdict(), evidence.declared_verdict());
    let renewal = once.manifest.renewal.clone().unwrap();
    assert_eq!(renewal.folder, first.display().to_string());
    assert_eq!(renewal.sums_sha256, sum_of_sums(&first).unwrap());
    let taken: Vec<_> = renewal.taken_over.iter().map(|it| it.record.as_str()).collect();
    assert_eq!(taken, [NAMES[1]]);
    let twice = renewed(&second, &once, &plan(&once, "tp1").unwrap(), &third);
    let of_first = &twice.manifest.renewal.as_ref().unwrap().taken_over[0];
    assert_eq!(of_first.folder, first.display().to_string());
    assert_eq!(of_first.sha256, renewal.taken_over[0].sha256);
    assert_eq!(twice.document().renewal, twice.manifest.renewal);
}

/// Goal: nobody loses the late releases of an interrupted run by renewing its folder, and what
/// could not be measured is measured now.
#[test]
fn what_was_not_measured_is_measured_and_a_part_of_a_run_is_gone_on_with() {
    let place = tempfile::tempdir().unwrap();
    let mut evidence = measured(&place.path().join("run"));
    let missing = NotMeasured {
        partition: "axis".to_owned(),
        profile: "tp2".to_owned(),
        reserved: true,
        because: "the load could not be started".to_owned(),
    };
    evidence.manifest.not_measured.push(missing);
    assert_eq!(plan(&evidence, ""), Err(NotEnded));
    evidence.records.retain(|record| record.profile != "tp2");
    let plan = plan(&evidence, "").unwrap();
    let said = "tp2, since it was not measured: the load could not be started";
    assert_eq!(plan.measured_again[0].to_string(), said);
    assert_eq!(plan.taken_over, [NAMES[0]]);
    evidence.manifest.complete = false;
    assert_eq!(RenewalPlan::of(&evidence, None, &mut |_, _| Vec::new()), Err(NotEnded));
}

/// Goal: of partitions that are measured alone only the ones that have expired are measured again,
/// each under its profile; what this machine never had stays not measured, with its reason.
#[test]
fn partitions_that_are_measured_alone_are_renewed_one_by_one() {
    const ALONE: &str = "[site]\nname = \"press\"\n[[partition]]\nname = \"a\"\nclass = \
                         \"motion-control\"\nvcr = { cpus = [1] }\n[[partition]]\nname = \"b\"\n\
                         class = \"motion-control\"\nvcr = { cpus = [1] }\n[campaign]\nalone = \
                         true\nprofiles = [\"tp1\", \"tp2\"]\nduration = \"60 s\"\n\
                         exceedance = 1e-3\n";
    let site = quietcore_site::read("press.toml", ALONE.as_bytes(), &catalogue()).unwrap();
    let runs = || -> Vec<Run> {
        let of = |turn: &quietcore_site::Site| {
            crate::runs(turn, "", CpuSet::EMPTY, &Programs::default())
        };
        let mut runs: Vec<Run> = site.turns().iter().flat_map(of).collect();
        runs.iter_mut().for_each(|run| run.loads.clear());
        runs
    };
    let missing = NotMeasured {
        partition: "domain".to_owned(),
        profile: "tp1".to_owned(),
        reserved: true,
        because: "this kernel is not dom0 of Xen".to_owned(),
    };
    let asked =
        || Asked { site_bytes: ALONE.as_bytes(), left_out: vec![missing.clone()], ..asked(&site) };
    let place = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| place.path().join(name));
    let writer = Writer::create(&first).unwrap();
    measure(Campaign::begin(writer, asked(), runs(), Vec::new()).unwrap());
    let evidence = read(&first).unwrap();
    assert_eq!(evidence.records.len(), 4);
    let plan = |of: &str| {
        RenewalPlan::of(&evidence, Some(&runs()), &mut |partition, records| {
            assert_eq!(records.len(), 1);
            let is_it = partition == of && records[0].profile == "tp2";
            is_it.then(microcode).into_iter().collect()
        })
    };
    assert!(plan("").unwrap().is_empty(), "what can't be measured is no reason to renew");
    let plan = plan("b").unwrap();
    let again: Vec<String> = plan.measured_again.iter().map(ToString::to_string).collect();
    assert_eq!(again, ["b under tp2, since b: microcode 0x1 → 0x2"]);
    assert_eq!(plan.taken_over.len(), 3);
    let earlier = Earlier {
        root: &first,
        folder: "first",
        sums_sha256: &sum_of_sums(&first).unwrap(),
        evidence: &evidence,
        plan: &plan,
    };
    let writer = Writer::create(&second).unwrap();
    let campaign = Campaign::renew(writer, asked(), &earlier, runs(), Vec::new()).unwrap();
    let left: Vec<_> = campaign.runs().iter().map(|it| it.partitions[0].name.as_str()).collect();
    assert_eq!(left, ["b"]);
    assert_eq!(measure(campaign), Outcome::Completed);
    let renewed = read(&second).unwrap();
    assert_eq!(renewed.records.len(), 4);
    assert!(renewed.manifest.complete);
    assert_eq!(renewed.manifest.not_measured, [missing]);
    assert!(renewed.manifest.renewal.as_ref().unwrap().compares_times());
}
