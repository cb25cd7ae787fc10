//! Folders that were changed on purpose, with their sums made anew: what contradicts itself is
//! named, and never passes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sample;

use quietcore_evidence::{Evidence, Manifest, Origin, read};
use quietcore_record::class::Strictness;
use quietcore_record::record::{AffinityInForce, NeighbourAchieved, PolicyInForce, Record};
use quietcore_record::verdict::Verdict;
use quietcore_units::{Nanos, SchedulingPolicy};

/// A folder as a forger writes it.
struct Folder {
    manifest: Manifest,
    records: Vec<Record>,
}

impl Folder {
    fn axis(&mut self) -> &mut Record {
        self.named("axis.tp4.cpu1")
    }

    fn named(&mut self, name: &str) -> &mut Record {
        self.records.iter_mut().find(|record| record.name == name).unwrap()
    }
}

fn forged(forge: impl FnOnce(&mut Folder)) -> Evidence {
    let mut folder = Folder { manifest: sample::manifest(), records: sample::records(0) };
    forge(&mut folder);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("run");
    sample::write(&root, &folder.manifest, &folder.records);
    assert!(root.join(sample::RECORD).is_file());
    read(&root).unwrap()
}

/// Goal: a file that is there and can't be read is not called missing.
#[test]
fn a_part_that_can_not_be_read_is_damage_and_not_missing() {
    for (name, bytes, expected) in [
        ("doctor.json", &b"{ \"schema\": "[..], "`doctor.json` is no JSON: "),
        ("doctor.json", &b"\xff\xfe"[..], "`doctor.json` can't be read: "),
        ("site.toml", &b"\xff\xfe"[..], "`site.toml` can't be read: "),
    ] {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("run");
        sample::write(&root, &sample::manifest(), &sample::records(0));
        std::fs::write(root.join(name), bytes).unwrap();
        let evidence = read(&root).unwrap();
        let damage = evidence.damage.join("\n");
        assert!(damage.contains(expected), "{name}: {damage}");
        let told: Vec<_> = evidence.contradictions.iter().map(ToString::to_string).collect();
        assert!(!told.iter().any(|told| told.contains("missing")), "{told:?}");
        assert_eq!(evidence.declared_verdict(), Verdict::NotProven);
        std::fs::remove_file(root.join(name)).unwrap();
        let told = read(&root).unwrap().contradictions;
        let missing = format!("`{name}` is missing");
        assert!(told.iter().any(|told| told.to_string().starts_with(&missing)), "{told:?}");
    }
}

/// A forgery, and the words that name it.
type Forgery = (&'static str, fn(&mut Folder));

fn of_manifest() -> Vec<Forgery> {
    vec![
        ("`exceedance` is 1e-1", |folder| folder.manifest.exceedance = 0.1),
        ("`name` is other", |folder| folder.manifest.name = "other".to_owned()),
        ("`site_sha256` is 00", |folder| folder.manifest.site_sha256 = "00".to_owned()),
        ("`declared.axis` is process-control", |folder| {
            folder.manifest.declared.insert("axis".to_owned(), "process-control".to_owned());
        }),
        ("`declared.press` is missing", |folder| {
            folder.manifest.declared.remove("press");
        }),
        ("`classes.fast-control-loop` is cycle 90000000 ns", |folder| {
            for class in &mut folder.manifest.classes {
                class.cycle_ns = Some(90_000_000);
            }
        }),
        ("soft: at most 90 % of the cycles, and from the rest follows cycle", |folder| {
            for class in &mut folder.manifest.classes {
                class.strictness = Strictness::Soft { misses_ppm: 900_000 };
            }
        }),
        ("latency 90000000 ns", |folder| {
            for class in &mut folder.manifest.classes {
                class.latency_ns = Some(90_000_000);
            }
        }),
        ("`origin` is probe, and from the rest follows campaign", |folder| {
            folder.manifest.origin = Origin::Probe;
        }),
        ("`site.toml` is there, which no import writes", |folder| {
            folder.manifest.origin = Origin::Import;
        }),
        ("`length`", |folder| {
            folder.manifest.length = Some(quietcore_evidence::Length::Cycles(0));
        }),
        ("`counters.planned_cycles` is 2000, and from the rest follows 60000", |folder| {
            let minute = Nanos::from_secs(60);
            folder.manifest.length = Some(quietcore_evidence::Length::Duration(minute));
        }),
    ]
}

fn of_neighbours() -> Vec<Forgery> {
    vec![("`conditions.neighbours` is neighbour-1: process with 2 × sqrt, and from", |folder| {
        let mut load = folder.axis().conditions.loads[0].clone();
        (load.workers, load.working) = (2, 2);
        let loads = vec![load];
        folder.axis().conditions.neighbours = vec![NeighbourAchieved {
            name: "neighbour-1".to_owned(),
            kind: "process".to_owned(),
            cpus: "1".parse().unwrap(),
            processors: None,
            loads,
        }];
    })]
}

fn of_records() -> Vec<Forgery> {
    vec![
        ("`reserved` is false", |folder| folder.axis().reserved = false),
        ("`conditions.site_sha256` is `11`", |folder| {
            folder.axis().conditions.site_sha256 = "11".to_owned();
        }),
        (
            "`conditions.loads` is none, and from the rest follows 10 × sqrt, 10 × malloc",
            |folder| {
                folder.axis().conditions.loads.clear();
            },
        ),
        ("`conditions.loads` is 1 × sqrt", |folder| {
            for load in &mut folder.axis().conditions.loads {
                (load.workers, load.working) = (1, 1);
            }
        }),
        ("`conditions.loads.cpus` is 0,1", |folder| {
            folder.axis().conditions.loads[0].cpus = "0-1".parse().unwrap();
        }),
        ("`period_ns` is 2000000", |folder| {
            folder.axis().period_ns = Some(2_000_000);
            folder.axis().conditions.duration_ns *= 2;
        }),
        ("`cpu` is 0", |folder| folder.axis().cpu = Some(0)),
        ("`conditions.policy` is SCHED_OTHER", |folder| {
            folder.axis().conditions.policy = PolicyInForce::ReadBack(SchedulingPolicy::Other);
        }),
        ("`conditions.affinity` is 0-2", |folder| {
            folder.axis().conditions.affinity = AffinityInForce::ReadBack("0-2".parse().unwrap());
        }),
        ("`wakeup` is the release latency", |folder| folder.axis().wakeup = None),
        ("`conditions.started_at` is 2025", |folder| {
            folder.axis().conditions.started_at = "2025-01-02T03:07:00.5Z".to_owned();
        }),
        ("are of one campaign and differ in `kernel`", |folder| {
            let machine = &mut folder.axis().conditions.machine;
            machine.insert("kernel".to_owned(), "6.6.0-rt".to_owned());
        }),
        ("deadline 60.0 s", |folder| {
            let scan = folder.named("press.tp2.Sort").scan_mut().unwrap();
            scan.terms.deadline_ns = Some(60_000_000_000);
        }),
        ("released by its kernel", |folder| {
            let scan = folder.named("press.tp2.cycle").scan_mut().unwrap();
            scan.terms.by_kernel = true;
            scan.terms.deadline_ns = Some(60_000_000_000);
        }),
        ("hold the same measured values", |folder| {
            let mut copy = folder.named("axis.tp2.cpu1").clone();
            copy.name = "axis.tp4.cpu1".to_owned();
            copy.profile = "tp4".to_owned();
            copy.conditions = folder.axis().conditions.clone();
            *folder.axis() = copy;
        }),
        ("`partition` is `other`", |folder| {
            folder.axis().partition = "other".to_owned();
        }),
        ("1\u{202f}000\u{202f}000\u{202f}000 cycles were missed", |folder| {
            folder.axis().counters.missed_cycles = Some(1_000_000_000);
        }),
        ("55 releases came before they were due", |folder| folder.axis().counters.early = 55),
    ]
}

/// Goal: what the site file or another record says is not what a forger wrote, and it is named.
/// Method: one forgery each, and the words that name it.
#[test]
fn what_contradicts_the_site_file_is_named_and_never_a_pass() {
    for (expected, forge) in of_manifest().into_iter().chain(of_records()).chain(of_neighbours()) {
        let evidence = forged(forge);
        assert_eq!(evidence.damage, Vec::<String>::new(), "{expected}");
        let named: Vec<_> = evidence.contradictions.iter().map(ToString::to_string).collect();
        let named = named.join("\n");
        assert!(named.contains(expected), "{expected}: {named}");
        assert_ne!(evidence.declared_verdict(), Verdict::Pass, "{expected}");
    }
    assert!(forged(|_| {}).is_sound());
    assert_eq!(forged(|_| {}).declared_verdict(), Verdict::Pass);
}

/// Goal: an experiment keeps its site file, which plans nothing of it, and is not accused.
/// Method: a probe's folder with a site file, and with another one than it was made of.
#[test]
fn an_experiment_with_its_site_file_contradicts_nothing() {
    let of_experiment = |folder: &mut Folder| {
        folder.manifest.origin = Origin::Probe;
        folder.manifest.declared.clear();
        folder.records.retain(|record| record.profile == "tp4");
    };
    assert!(forged(of_experiment).is_sound());
    let evidence = forged(|folder| {
        of_experiment(folder);
        folder.manifest.site_sha256 = "00".to_owned();
        for record in &mut folder.records {
            record.conditions.site_sha256 = "00".to_owned();
        }
    });
    let named: Vec<_> = evidence.contradictions.iter().map(ToString::to_string).collect();
    assert!(named[0].contains("`site_sha256` is 00, and from the rest follows"), "{named:?}");
}

/// Goal: a condition that differs is named once, however many others do.
#[test]
fn each_condition_that_differs_is_named_once() {
    let evidence = forged(|folder| {
        let machine = &mut folder.axis().conditions.machine;
        machine.insert("kernel".to_owned(), "6.6.0-rt".to_owned());
        machine.insert("cpu_model".to_owned(), "Fast CPU".to_owned());
    });
    let named: Vec<_> = evidence.contradictions.iter().map(ToString::to_string).collect();
    let unique: std::collections::BTreeSet<_> = named.iter().collect();
    assert_eq!(
        (unique.len(), named.iter().any(|it| it.contains("cpu_model"))),
        (named.len(), true)
    );
}
