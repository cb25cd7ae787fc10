//! Experiments with known effects.

use std::collections::BTreeMap;

use super::*;
use crate::ledger::{Cause, Ledger, Ledgers, Means, Share};
use crate::record::{
    Aggressor, LoadAchieved, Measured, NeighbourAchieved, Placement, Trial, TrialBlock, Variant,
};
use crate::test_record;

/// A record of a variant with a block for each value, in which every figure has that value.
fn record(profile: &str, variant: Variant, values: &[u64]) -> Record {
    let mut record = test_record(&[(values[0], 1000)]);
    record.profile = profile.to_owned();
    record.name = format!("axis.{profile}.cpu1");
    let block = |(round, value): (usize, &u64)| TrialBlock {
        round: u32::try_from(round).unwrap(),
        valid: true,
        cycles: 1000,
        missed_cycles: 0,
        median_ns: *value,
        p99_ns: *value,
        p99_9_ns: *value,
        max_ns: *value,
        load_operations_per_second: 0.0,
        mean_ns: None,
        program: None,
    };
    let blocks = values.iter().enumerate().map(block).collect();
    record.measured = Measured::releases(None);
    record.trial = Some(Trial { variant, blocks });
    record
}

fn screening(on: &[&str], left_out: Option<&str>) -> Variant {
    Variant::Screening {
        on: on.iter().map(ToString::to_string).collect(),
        left_out: left_out.map(str::to_owned),
    }
}

fn confirming(on: &[&str], reached: bool) -> Variant {
    Variant::Confirming {
        on: on.iter().map(ToString::to_string).collect(),
        class: "motion-control".to_owned(),
        reached,
        because: "it is so".to_owned(),
    }
}

#[test]
fn a_control_helped_hurt_or_had_no_effect() {
    let all = ["governor", "interrupts", "timers", "watchdog"];
    let steady = [10_000; 12];
    let noisy: Vec<u64> = (0..12).map(|round| 5_000 + 10_000 * (round % 2)).collect();
    let records = [
        record("all", screening(&all, None), &steady),
        record("none", screening(&[], None), &[40_000; 12]),
        record("without-governor", screening(&all[1..], Some("governor")), &[10_100; 12]),
        record("without-interrupts", screening(&all[..1], Some("interrupts")), &[20_000; 12]),
        record("without-timers", screening(&all[..2], Some("timers")), &[8_000; 12]),
        record("without-watchdog", screening(&all[..3], Some("watchdog")), &noisy),
        record("confirm-0", confirming(&[], false), &[1]),
        record("confirm-1", confirming(&all, true), &[1]),
        record("confirm-2", confirming(&["interrupts"], true), &[1]),
    ];
    let found = tuning(&records);
    let [tuning] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&*tuning.partition, &*tuning.task, tuning.rounds), ("axis", "cpu1", 12));
    let effects: Vec<_> =
        tuning.effects.iter().map(|effect| (&*effect.control, effect.effect)).collect();
    let expected = [
        ("interrupts", Effect::Helped),
        ("governor", Effect::NoEffect),
        ("watchdog", Effect::NotShown),
        ("timers", Effect::Hurt),
    ];
    assert_eq!(effects.len(), expected.len());
    for (control, effect) in expected {
        assert!(effects.contains(&(control, effect)), "{control}: {effects:?}");
    }
    assert_eq!(effects[0].0, "interrupts", "what helped comes first");
    assert_eq!(effects[3].0, "timers", "and what hurt last");
    let helped = &tuning.effects[0].sentence;
    assert!(helped.starts_with("p99 is 2.00 times (2.00 to 2.00) without it; by"), "{helped}");
    let together = tuning.together.as_ref().unwrap();
    assert_eq!((together.effect, together.ratios[0].median()), (Effect::Helped, 4.0));
    assert_eq!(tuning.smallest, Some(vec!["interrupts".to_owned()]));
    assert_eq!(tuning.rounds_needed, 9, "ten are tested");
}

#[test]
fn too_few_rounds_show_nothing() {
    let records = [
        record("all", screening(&["timers"], None), &[10; 4]),
        record("without-timers", screening(&[], Some("timers")), &[90; 4]),
    ];
    let found = &tuning(&records)[0];
    assert_eq!(found.effects[0].effect, Effect::NotShown);
    assert!(found.effects[0].sentence.contains("anything"), "{}", found.effects[0].sentence);
    assert!(found.rounds < found.rounds_needed);
    assert_eq!(found.smallest, None);
}

fn beside(kind: &str, placement: Placement) -> Variant {
    let (kind, cpus, backend) = (kind.to_owned(), "1".to_owned(), None);
    Variant::Beside { aggressor: Some(Aggressor { kind, workers: 2, placement, cpus, backend }) }
}

#[test]
fn a_neighbour_has_a_cell_with_its_cause() {
    let mut disturbed = record("disk", beside("disk", Placement::SameCpu), &[30_000; 9]);
    let share = |cause, what: &str, ns| Share { cause, what: what.to_owned(), ns, times: 1 };
    let mut ledgers = Ledgers::new(20_000, Means::Trace);
    for release in 0..3 {
        ledgers.add(Ledger {
            release,
            at_ns: 0,
            latency_ns: 40_000,
            cpu: 1,
            shares: vec![
                share(Cause::Softirq, "BLOCK", 30_000),
                share(Cause::Softirq, "RCU", 2_000),
                share(Cause::Own, "", 8_000),
            ],
            counted: Vec::new(),
            course: Vec::new(),
            stack: Vec::new(),
            remarks: Vec::new(),
        });
    }
    disturbed.ledgers = Some(ledgers);
    let mut half = record("fork", beside("fork", Placement::OtherCpu), &[11_000; 9]);
    half.trial.as_mut().unwrap().blocks[3].valid = false;
    let quiet = Variant::Beside { aggressor: None };
    let records = [record("quiet", quiet, &[10_000; 9]), disturbed, half];
    let found = disturbances(&records);
    let [matrix] = &found[..] else { panic!("{found:?}") };
    assert_eq!((matrix.rounds, matrix.rounds_needed, matrix.cells.len()), (9, 8, 2));
    let cell = &matrix.cells[0];
    assert_eq!((cell.p99_9.median(), cell.p99_9.finding), (3.0, Finding::More));
    let cause = cell.cause.as_ref().unwrap();
    assert_eq!((cause.cause, &*cause.what, cause.releases), (Cause::Softirq, "BLOCK", 3));
    assert!((cause.part - 0.8).abs() < 1e-9);
    let other = &matrix.cells[1];
    assert_eq!((other.invalid_blocks, other.p99_9.ratio.unwrap().count), (1, 8));
    assert_eq!(other.cause, None);
}

/// Goal: the same load in another kind of neighbour is a cell of its own, which says what the load
/// achieved in there; a record from before there were kinds is that of processes.
#[test]
fn a_load_in_a_container_has_a_cell_of_its_own() {
    let Variant::Beside { aggressor: Some(plain) } = beside("sqrt", Placement::SameCpu) else {
        panic!("it has one")
    };
    let contained = Aggressor { backend: Some("container".to_owned()), ..plain.clone() };
    let variant = Variant::Beside { aggressor: Some(contained.clone()) };
    let mut within = record("sqrt-container", variant, &[20_000; 9]);
    let load = LoadAchieved { kind: "sqrt".to_owned(), ..LoadAchieved::default() };
    let neighbour = NeighbourAchieved { loads: vec![load.clone()], ..NeighbourAchieved::default() };
    within.conditions.neighbours = vec![neighbour];
    let quiet = Variant::Beside { aggressor: None };
    let records = [
        record("quiet", quiet, &[10_000; 9]),
        record("sqrt", beside("sqrt", Placement::SameCpu), &[10_000; 9]),
        within,
    ];
    let cells = &disturbances(&records)[0].cells;
    let titles: Vec<String> = cells.iter().map(|cell| cell.aggressor.title()).collect();
    assert_eq!(titles, ["sqrt", "sqrt (container)"]);
    assert_eq!((cells[0].p99_9.median(), cells[1].p99_9.median()), (1.0, 2.0));
    assert_eq!((&cells[0].achieved, &cells[1].achieved), (&vec![], &vec![load]));

    let text = serde_json::to_string(&plain).unwrap();
    assert!(!text.contains("backend"), "{text}");
    assert_eq!(serde_json::from_str::<Aggressor>(&text).unwrap(), plain);
    let text = serde_json::to_string(&contained).unwrap();
    assert_eq!(serde_json::from_str::<Aggressor>(&text).unwrap(), contained);
}

#[test]
fn a_high_quantile_says_how_many_releases_it_rests_on() {
    let with = |release: &[(u64, u64)], variant| {
        let mut of = record("x", variant, &[10_000; 9]);
        of.release = test_record(release).release;
        of
    };
    let quiet =
        with(&[(10_000, 2_995), (50_000, 3), (90_000, 2)], Variant::Beside { aggressor: None });
    let loud = with(&[(10_000, 2_900), (60_000, 100)], beside("disk", Placement::SameCpu));
    let found = disturbances(&[quiet, loud]);
    let matrix = &found[0];
    let above = |it: &Exceedances| (it.limit_ns == matrix.quiet_p99_9_ns, it.above, it.cycles);
    assert_eq!(above(&matrix.quiet_above), (true, 2, 3_000));
    assert_eq!(above(&matrix.cells[0].above_quiet), (true, 100, 3_000));

    let all = with(&[(10_000, 2_995), (50_000, 3), (90_000, 2)], screening(&["timers"], None));
    let without = with(&[(10_000, 3_000)], screening(&[], Some("timers")));
    let found = tuning(&[all, without]);
    assert_eq!((found[0].with_all.above, found[0].effects[0].without.above), (2, 0));
    assert_eq!(found[0].effects[0].without.limit_ns, found[0].with_all.limit_ns);
}

#[test]
fn blocks_that_are_joined_keep_their_order() {
    let quiet = || Variant::Beside { aggressor: None };
    let mut later = record("quiet", quiet(), &[2]);
    later.trial.as_mut().unwrap().blocks[0].round = 1;
    later.join(record("quiet", quiet(), &[1]));
    let rounds: BTreeMap<u32, u64> = later
        .trial
        .as_ref()
        .unwrap()
        .blocks
        .iter()
        .map(|block| (block.round, block.max_ns))
        .collect();
    assert_eq!(rounds, BTreeMap::from([(0, 1), (1, 2)]));
    assert_eq!(later.release.count(), 2000);
    assert!(!later.conditions.activity.contains_key("includes"));
}
