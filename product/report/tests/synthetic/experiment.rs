//! Experiments that were never made: two controls of which one helps, two neighbours of which one
//! disturbs, and three backends of which one costs nothing, one something, and one means nothing.

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::reason::{NotReal, Reason};
use quietcore_record::record::{
    Aggressor, BlockTimes, LoadAchieved, Measured, Placement, ProgramBlock, Record, Trial,
    TrialBlock, Variant,
};

use super::kernel::kernel;
use super::{ASLEEP, evidence, record};

/// Number of rounds of each variant.
const ROUNDS: u32 = 12;

/// Makes the record of a variant, whose figures are `times` those of the others.
fn variant(profile: &str, times: f64, variant: Variant) -> Record {
    let mut record = record(profile, 1, 2_000, ASLEEP, 7);
    let blocks = (0..ROUNDS).map(|round| {
        // No two rounds are alike.
        let ns = |ns: f64| (ns * times * (1.0 + 0.002 * f64::from(round))) as u64;
        TrialBlock {
            round,
            valid: true,
            cycles: 1000,
            missed_cycles: 0,
            median_ns: ns(9_000.0),
            p99_ns: ns(20_000.0),
            p99_9_ns: ns(40_000.0),
            max_ns: ns(60_000.0),
            load_operations_per_second: 0.0,
            program: None,
            mean_ns: None,
        }
    });
    record.measured = Measured::releases(None);
    record.trial = Some(Trial { variant, blocks: blocks.collect() });
    record
}

fn screening(on: &[&str], left_out: Option<&str>) -> Variant {
    Variant::Screening {
        on: on.iter().map(ToString::to_string).collect(),
        left_out: left_out.map(str::to_owned),
    }
}

fn set(number: u32, on: &[&str], reached: bool) -> Record {
    let because = if reached { "none of 10 000 was late" } else { "3 of 10 000 were late" };
    let confirming = Variant::Confirming {
        on: on.iter().map(ToString::to_string).collect(),
        class: "motion-control".to_owned(),
        reached,
        because: because.to_owned(),
    };
    let mut record = variant(&format!("set-{number}"), 1.0, confirming);
    record.trial.as_mut().expect("it has one").blocks.truncate(1);
    record
}

/// Makes the evidence that `tune` keeps: `interrupts` helps, `timers` does nothing.
pub(crate) fn tuned() -> Evidence {
    let all = ["interrupts", "timers"];
    of(
        "tune line (synthetic)",
        vec![
            variant("all", 1.0, screening(&all, None)),
            variant("none", 2.1, screening(&[], None)),
            variant("without-interrupts", 2.0, screening(&all[1..], Some("interrupts"))),
            variant("without-timers", 1.0, screening(&all[..1], Some("timers"))),
            set(1, &[], false),
            set(2, &all, true),
            set(3, &all[..1], true),
        ],
    )
}

fn beside(kind: &str, placement: Placement, times: f64) -> Record {
    let aggressor = Aggressor {
        kind: kind.to_owned(),
        workers: 1,
        placement,
        cpus: "0".to_owned(),
        backend: None,
    };
    let profile = format!("{kind}-{}", placement.name());
    let mut record = variant(&profile, times, Variant::Beside { aggressor: Some(aggressor) });
    record.conditions.loads = vec![LoadAchieved {
        kind: kind.to_owned(),
        workers: 1,
        working: 1,
        operations_per_second: 1234.0,
        unit: "rounds/s".to_owned(),
        cpu_share: 0.5,
        ..LoadAchieved::default()
    }];
    record
}

/// Makes the evidence that `disturb` keeps: the disk disturbs 12 times at one place, and nothing at
/// the other.
pub(crate) fn disturbed() -> Evidence {
    of(
        "disturb line (synthetic)",
        vec![
            variant("quiet", 1.0, Variant::Beside { aggressor: None }),
            beside("disk", Placement::SameCpu, 12.0),
            beside("disk", Placement::OtherCpu, 1.0),
        ],
    )
}

fn realised(backend: &str, times: f64) -> Record {
    let variant = Variant::Realised {
        backend: backend.to_owned(),
        is_reference: backend == "process",
        seed: 7,
    };
    let mut record = self::variant(backend, times, variant);
    for block in &mut record.trial.as_mut().expect("it has one").blocks {
        let release = block.release();
        // The program takes 30 µs in every backend.
        let longer = |ns: u64| ns + 30_000;
        let steady = BlockTimes { median_ns: 30_000, p99_ns: 30_000, ..release };
        let response = BlockTimes {
            median_ns: longer(release.median_ns),
            p99_ns: longer(release.p99_ns),
            p99_9_ns: longer(release.p99_9_ns),
            max_ns: longer(release.max_ns),
            mean_ns: None,
        };
        let execution = BlockTimes { p99_9_ns: 30_000, max_ns: 30_000, ..steady };
        block.program = Some(ProgramBlock { execution, response });
    }
    record
}

/// Makes the evidence that `cost` keeps: a container costs nothing, a microVM half as much again,
/// and QEMU was emulated.
pub(crate) fn compared() -> Evidence {
    let mut emulated = realised("qemu", 90.0);
    emulated.invalid_because =
        vec![Reason::NotReal(NotReal::Guests { interpreted: "emulated".to_owned() })];
    emulated.trial.as_mut().expect("it has one").blocks.iter_mut().for_each(|it| it.valid = false);
    let all = [realised("process", 1.0), realised("container", 1.0), realised("kvm", 1.5)];
    of("cost line (synthetic)", all.into_iter().chain([emulated]).collect())
}

/// Makes the evidence that `cost --measure routines` keeps: a container costs nothing, each routine
/// takes half as much again in a microVM, and QEMU was emulated.
pub(crate) fn compared_by_routines() -> Evidence {
    let times = [("process", 1.0), ("container", 1.0), ("kvm", 1.5), ("qemu", 40.0)];
    of("cost line (synthetic)", times.into_iter().flat_map(|it| routines(it.0, it.1)).collect())
}

/// Makes the records of all routines in a backend, in which they take `times` as long.
fn routines(backend: &str, times: f64) -> Vec<Record> {
    let is_real = backend != "qemu";
    let mut records = kernel(&[1_000]).records;
    for record in &mut records {
        let block = |round: u32| {
            let mut block = TrialBlock::of(record, round).expect("it has values");
            let times = times * (1.0 + 0.002 * f64::from(round));
            let longer = |ns: u64| (ns as f64 * times) as u64;
            block.valid = is_real;
            block.mean_ns = block.mean_ns.map(|mean| mean * times);
            (block.median_ns, block.p99_ns) = (longer(block.median_ns), longer(block.p99_ns));
            block
        };
        let variant = Variant::Realised {
            backend: backend.to_owned(),
            is_reference: backend == "process",
            seed: 7,
        };
        record.trial = Some(Trial { variant, blocks: (0..ROUNDS).map(block).collect() });
        record.name = record.name.replace("hosted.loops-1000", &format!("axis.{backend}"));
        record.partition = "axis".to_owned();
        record.profile = backend.to_owned();
        if !is_real {
            let interpreted = "emulated".to_owned();
            record.invalid_because = vec![NotReal::Guests { interpreted }.into()];
        }
    }
    records
}

fn of(name: &str, records: Vec<Record>) -> Evidence {
    let mut evidence = evidence(Vec::new(), 1e-6);
    evidence.manifest.name = name.to_owned();
    evidence.manifest.origin = Origin::Probe;
    evidence.manifest.classes.clear();
    evidence.manifest.declared.clear();
    evidence.manifest.profiles.clear();
    evidence.records = records;
    evidence
}
