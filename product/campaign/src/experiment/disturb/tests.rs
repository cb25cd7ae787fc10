//! Places of neighbours, and the variants that follow from them.

use quietcore_site::Accelerator;

use super::*;

fn set(text: &str) -> CpuSet {
    text.parse().unwrap()
}

#[test]
fn places_are_where_they_say_or_are_left_out() {
    let place = |placement, own: &str, siblings: &str, claimed: &str| {
        NeighbourPlacement::of(placement, &set(own), &set(siblings), &set(claimed), &set("0-7"))
            .map(|place| place.cpus.to_string())
            .map_err(|error| error.to_string())
    };
    let of = |placement| place(placement, "2", "2,6", "2-3");
    assert_eq!(of(Placement::SameCpu).unwrap(), "2");
    assert_eq!(of(Placement::Sibling).unwrap(), "6");
    assert_eq!(of(Placement::OtherCpu).unwrap(), "0,1,4,5,7");
    assert_eq!(of(Placement::OtherPartition).unwrap(), "3");
    let alone = place(Placement::OtherPartition, "2", "2", "2").unwrap_err();
    assert_eq!(alone, "other partition is left out: there is no other partition");
    assert!(place(Placement::Sibling, "2", "2", "2").unwrap_err().contains("shares a core"));
    assert!(place(Placement::OtherCpu, "0-7", "0-7", "0-7").is_err());
}

fn disturbing(loads: &[LoadKind], neighbours: &[NeighbourForm]) -> Disturbing {
    let load = |kind: &LoadKind| DisturbingLoad { kind: *kind, size: None };
    let kind = |form: &NeighbourForm| {
        NeighbourKind::new(*form, Accelerator::Tcg, None).unwrap_or_else(|error| panic!("{error}"))
    };
    Disturbing {
        loads: loads.iter().map(load).collect(),
        neighbours: neighbours.iter().map(kind).collect(),
        places: vec![
            NeighbourPlacement { placement: Placement::SameCpu, cpus: set("1") },
            NeighbourPlacement { placement: Placement::OtherCpu, cpus: set("0,2") },
        ],
        workers: None,
        memory: ByteSize::new(1 << 30),
    }
}

fn run() -> Run {
    Run {
        profile: "tp2".to_owned(),
        reserved: true,
        settings: quietcore_settings::RequestedSettings::default(),
        container_runtime: None,
        partitions: Vec::new(),
        loads: vec![LoadRequest::new(LoadKind::Sqrt, 1)],
        neighbours: Vec::new(),
        explain: None,
        site_sha256: String::new(),
    }
}

#[test]
fn every_neighbour_stands_at_every_place_and_once_none_does() {
    let kinds = [LoadKind::Disk, LoadKind::Fork];
    let variations = beside(&run(), &disturbing(&kinds, &[NeighbourForm::Process]));
    let found: Vec<_> = variations
        .iter()
        .map(|variation| {
            let loads = variation.run.loads.iter();
            let workers: u32 = loads.map(|load| load.workers).sum();
            (variation.run.profile.as_str(), workers)
        })
        .collect();
    let expected = [
        ("quiet", 0),
        ("disk-same-cpu", 1),
        ("disk-other-cpu", 2),
        ("fork-same-cpu", 1),
        ("fork-other-cpu", 2),
    ];
    assert_eq!(found, expected);
}

/// Goal: a load has a variant in each kind of neighbour, with as many workers on the same CPUs,
/// and what a neighbour can't run is told once.
#[test]
fn a_load_works_in_each_kind_of_neighbour_that_can_run_it() {
    let kinds = [LoadKind::Sqrt, LoadKind::Disk];
    let disturbing = disturbing(&kinds, &NeighbourForm::ALL);
    let variations = beside(&run(), &disturbing);
    let within = |variation: &Variation| {
        let neighbours = variation.run.neighbours.iter();
        let words = neighbours.map(|it| (it.loads[0].workers, it.cpus.to_string()));
        (variation.run.profile.clone(), variation.run.loads.len(), words.collect::<Vec<_>>())
    };
    let found: Vec<_> = variations.iter().map(within).collect();
    let profiles: Vec<&str> = found.iter().map(|it| it.0.as_str()).collect();
    let expected = [
        "quiet",
        "sqrt-same-cpu",
        "sqrt-other-cpu",
        "sqrt-container-same-cpu",
        "sqrt-container-other-cpu",
        "sqrt-qemu-same-cpu",
        "sqrt-qemu-other-cpu",
        "disk-same-cpu",
        "disk-other-cpu",
    ];
    assert_eq!(profiles, expected);
    assert_eq!((found[2].1, found[2].2.len()), (1, 0));
    assert_eq!((found[6].1, &found[6].2), (0, &vec![(2, "0,2".to_owned())]));
    assert_eq!(variations[6].run.neighbours[0].processors, Some(2));
    assert_eq!(variations[4].run.neighbours[0].processors, None, "a container has none");
    let told: Vec<String> = disturbing.not_run().iter().map(ToString::to_string).collect();
    let lacking = ["container", "Linux guest of QEMU"];
    let why = lacking.map(|form| format!("disk in a {form} is left out: it has no disk"));
    assert_eq!(told, why);
}

#[test]
fn a_guest_that_the_machine_can_not_hold_is_left_out() {
    let mut disturbing = disturbing(&[LoadKind::Malloc], &NeighbourForm::ALL[1..]);
    disturbing.loads[0].size = Some(ByteSize::new(2 << 30));
    disturbing.workers = Some(101);
    let told: Vec<String> = disturbing.not_run().iter().map(ToString::to_string).collect();
    assert_eq!(told[0], "malloc in a container is left out: it runs at most 100 workers, not 101");
    disturbing.workers = None;
    let told: Vec<String> = disturbing.not_run().iter().map(ToString::to_string).collect();
    let [told] = &told[..] else { panic!("{told:?}") };
    assert!(told.starts_with("malloc in a Linux guest of QEMU is left out: it takes "), "{told}");
    assert_eq!(beside(&run(), &disturbing).len(), 3, "quiet, and containers at two places");
}
