//! Tests of campaigns that are interrupted and go on.

use std::sync::Arc;

use quietcore_evidence::read_manifest;
use quietcore_record::class::catalogue;
use quietcore_units::CpuSet;

use super::*;
use crate::programs::Programs;
use crate::world::simulated::{Simulated, Told, begun, runs};

/// Goal: a campaign that was interrupted keeps the cycles of that part, and goes on with what
/// is missing alone.
/// Method: the second of two profiles is told to stop after ten seconds.
#[test]
fn a_campaign_that_was_interrupted_goes_on_and_loses_no_cycle() {
    let folder = tempfile::tempdir().unwrap();
    let evidence = folder.path().join("evidence");
    let world = Simulated::on_time();
    let stop = Arc::new(AtomicBool::new(false));
    let mut campaign = begun(&evidence);
    let mut told = Told { stop: Some((Arc::clone(&stop), 700)) };
    let outcome =
        world.with_machine(|machine| campaign.measure_all(machine, &mut told, &stop)).unwrap();
    assert_eq!((outcome, world.counts()), (Outcome::Interrupted, (2, 2)));
    let earlier = read_record(&evidence, "axis.tp2.cpu1").unwrap();
    assert!(earlier.interrupted && earlier.release.count() > 9_000);
    stop.store(false, Ordering::Relaxed);
    drop(campaign);
    let (writer, manifest) = (Writer::open(&evidence).unwrap(), read_manifest(&evidence).unwrap());
    let mut campaign = Campaign::resume(writer, manifest, "", "", runs(), Vec::new()).unwrap();
    let missing: Vec<_> = campaign.runs().iter().map(|run| run.profile.clone()).collect();
    assert_eq!(missing, ["tp2"]);
    let outcome = world
        .with_machine(|machine| campaign.measure_all(machine, &mut Told::default(), &stop))
        .unwrap();
    assert_eq!((outcome, world.counts()), (Outcome::Completed, (3, 3)));
    let whole = read_record(&evidence, "axis.tp2.cpu1").unwrap();
    assert_eq!(whole.release.count(), earlier.release.count() + 60_000);
    let manifest = read_manifest(&evidence).unwrap();
    assert!(manifest.complete && manifest.not_measured.is_empty());
}

/// Goal: where each partition is measured alone, one that was interrupted goes on, and another one
/// under the same profile is not measured twice.
#[test]
fn partitions_that_are_measured_alone_go_on_one_by_one() {
    const ALONE: &str = "[site]\nname = \"press\"\n[[partition]]\nname = \"a\"\nclass = \
                         \"motion-control\"\nvcr = { cpus = [1] }\n[[partition]]\nname = \"b\"\n\
                         class = \"motion-control\"\nvcr = { cpus = [1] }\n[campaign]\nalone = \
                         true\nprofiles = [\"tp2\"]\nduration = \"60 s\"\nexceedance = 1e-3\n";
    let site = quietcore_site::read("press.toml", ALONE.as_bytes(), &catalogue()).unwrap();
    let runs = || -> Vec<Run> {
        let of = |turn: &Site| crate::runs(turn, "", CpuSet::EMPTY, &Programs::default());
        site.turns().iter().flat_map(of).collect()
    };
    let names = |runs: &[Run]| -> Vec<String> {
        runs.iter().map(|run| run.partitions[0].name.clone()).collect()
    };
    assert_eq!(names(&runs()), ["a", "b"]);
    let folder = tempfile::tempdir().unwrap();
    let evidence = folder.path().join("evidence");
    let asked = Asked {
        site: &site,
        site_bytes: ALONE.as_bytes(),
        site_folder: None,
        started_at: "2026-01-02T03:04:05Z",
        length: None,
        limits: Vec::new(),
        left_out: Vec::new(),
    };
    let writer = Writer::create(&evidence).unwrap();
    let mut campaign = Campaign::begin(writer, asked, runs(), Vec::new()).unwrap();
    let (world, stop) = (Simulated::on_time(), Arc::new(AtomicBool::new(false)));
    let mut told = Told { stop: Some((Arc::clone(&stop), 700)) };
    let outcome =
        world.with_machine(|machine| campaign.measure_all(machine, &mut told, &stop)).unwrap();
    assert_eq!(outcome, Outcome::Interrupted);
    let manifest = read_manifest(&evidence).unwrap();
    let left: Vec<&str> = manifest.not_measured.iter().map(|it| it.partition.as_str()).collect();
    assert_eq!(left, ["b"], "`a` was measured under the same profile");
    drop(campaign);
    let writer = Writer::open(&evidence).unwrap();
    let mut campaign = Campaign::resume(writer, manifest, "", "", runs(), Vec::new()).unwrap();
    assert_eq!(names(campaign.runs()), ["b"]);
    stop.store(false, Ordering::Relaxed);
    let outcome = world
        .with_machine(|machine| campaign.measure_all(machine, &mut Told::default(), &stop))
        .unwrap();
    assert_eq!(outcome, Outcome::Completed);
    let whole = |name: &str| read_record(&evidence, name).unwrap().release.count();
    assert!((60_000..62_000).contains(&whole("a.tp2.cpu1")), "measured once");
    assert!(whole("b.tp2.cpu1") > 69_000, "and what was interrupted is kept");
}
