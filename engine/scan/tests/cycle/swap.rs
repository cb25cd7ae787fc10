//! The swap of one build for another.

use super::*;

#[test]
fn a_swap_carries_state_and_forces_and_is_taken_back_on_a_fault() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let region = exchange.region();
    let old = doubler(region, &mood);
    let new_mood = Cell::new(Mood::Good);
    let new = Build {
        stage: Stage {
            carried: vec![Carried { from: COUNT, to: COUNT, bytes: 8 }],
            forces: vec![Moved { from: INPUT, to: INPUT }],
            ..stage(2, 1)
        },
        program: Doubler {
            region,
            slot: Slot::B,
            mood: &new_mood,
            under_way: Cell::new(None),
            factor: 3,
        },
    };
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &old.stage, 5);
    rig.publish(&[Command::Force(assignment(INPUT, 4)), Command::Force(assignment(24, 1))], 1);
    rig.run(&[Some(&old), None]);
    let nothing = rig.publish(&[Command::Swap { generation: 2 }], 2);
    rig.run(&[Some(&old), None]);
    rig.run(&[Some(&old), None]);
    assert_eq!(rig.outcome(nothing), Some(Err(WhyRejected::NothingStaged)));
    let builds = [Some(&old), Some(&new)];
    let ticket = rig.publish(&[Command::Swap { generation: 2 }], 2);
    assert!(rig.shared.try_enter(1), "another task is inside a step");
    rig.run(&builds);
    rig.run(&builds);
    assert_eq!((rig.outcome(ticket), rig.shared.active()), (None, 0));
    rig.shared.exit(1);
    let before = rig.value(Slot::A, COUNT);
    rig.run(&builds);
    assert_eq!((rig.outcome(ticket), rig.shared.active()), (Some(Ok(())), 1));
    assert_eq!(rig.value(Slot::B, COUNT), before + 1, "carried, and stepped once");
    assert_eq!(rig.value(Slot::B, OUTPUT), 12, "the force went along");
    assert_eq!(rig.value(Slot::B, 24), 0, "the other one has no place any more");
    assert!(rig.shared.is_on_probation());
    new_mood.set(Mood::Crashes);
    rig.run(&builds);
    assert_eq!(rig.shared.active(), 0, "taken back");
    assert!(!rig.shared.is_in_fault() && !rig.shared.is_on_probation());
    rig.run(&builds);
    assert_eq!(rig.value(Slot::A, COUNT), before + 1, "the old program goes on");
    assert_eq!(rig.value(Slot::A, OUTPUT), 8, "with the force that holds still");
    let told = rig.told();
    assert!(told.contains(&Happening::Swapped { generation: 2, gap_cycles: 0, release_ns: 0 }));
    assert!(told.contains(&Happening::Reverted { generation: 1, gap_cycles: 0 }));
    let ended = Happening::ForceReleased { target: assignment(24, 1).target };
    assert!(told.contains(&ended), "the one without a place");
    assert_eq!(rig.value(Slot::A, 24), 1, "which is there again");
}

#[test]
fn a_swap_without_an_instant_for_it_is_refused_in_time() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let region = exchange.region();
    let old = doubler(region, &mood);
    let new = tripler(region, &mood);
    let builds = [Some(&old), Some(&new)];
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &old.stage, 5);
    assert!(rig.shared.try_enter(1), "another task is inside a step, and stays there");
    let ticket = rig.publish(&[Command::Swap { generation: 2 }], 2);
    rig.run(&builds);
    rig.run(&builds);
    // 10 s are over, but hardly a cycle was run.
    rig.cycle += 10_000;
    for _ in 0..8 {
        rig.run(&builds);
        assert_eq!(rig.outcome(ticket), None);
    }
    rig.run(&builds);
    assert_eq!(rig.outcome(ticket), Some(Err(WhyRejected::NotNow)));
    assert_eq!(rig.shared.active(), 0);
}

/// The old build, which is in the middle of a job of task 1, and a new one that counts on.
fn amid_a_job<'a>(
    region: Region<'a>,
    mood: &'a Cell<Mood>,
) -> (Build<Doubler<'a>>, Build<Doubler<'a>>) {
    let old = doubler(region, mood);
    old.program.under_way.set(Some(1));
    let carried = vec![Carried { from: COUNT, to: COUNT, bytes: 8 }];
    let program = Doubler { region, slot: Slot::B, mood, under_way: Cell::new(None), factor: 3 };
    (old, Build { stage: Stage { carried, ..stage(2, 1) }, program })
}

/// Goal: data that a job has half written are not carried over, and the waiting for its end shows
/// and holds up nobody.
#[test]
fn a_swap_waits_for_the_end_of_the_jobs_that_are_under_way() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let (old, new) = amid_a_job(exchange.region(), &mood);
    let builds = [Some(&old), Some(&new)];
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &old.stage, 5);
    let ticket = rig.publish(&[Command::Swap { generation: 2 }], 2);
    rig.run_times(&builds, 20);
    assert_eq!((rig.outcome(ticket), rig.shared.active()), (None, 0));
    assert_eq!(rig.events(), [(1, Happening::SwapWaits { generation: 2 })], "told once");
    let set = rig.publish(&[Command::Set(assignment(COUNT, 100))], 1);
    let second = rig.publish(&[Command::Swap { generation: 2 }], 2);
    rig.run(&builds);
    assert_eq!(rig.outcome(set), Some(Ok(())), "other commands don't wait");
    assert_eq!(rig.outcome(second), Some(Err(WhyRejected::NotNow)));
    assert_eq!(rig.outcome(ticket), None);
    old.program.under_way.set(None);
    rig.run(&builds);
    assert_eq!((rig.outcome(ticket), rig.shared.active()), (Some(Ok(())), 1));
    assert_eq!(rig.value(Slot::B, COUNT), 102, "set, and stepped once by each");
}

#[test]
fn a_swap_for_which_a_job_does_not_end_is_refused_in_time() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let (old, new) = amid_a_job(exchange.region(), &mood);
    let builds = [Some(&old), Some(&new)];
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &old.stage, 5);
    let ticket = rig.publish(&[Command::Swap { generation: 2 }], 2);
    // One that takes the command, and almost a second.
    rig.run_times(&builds, 1000);
    old.program.under_way.set(Some(0));
    assert_eq!(rig.outcome(ticket), None);
    rig.run(&builds);
    assert_eq!(rig.outcome(ticket), Some(Err(WhyRejected::JobUnderWay)));
    assert_eq!(rig.shared.active(), 0, "the program before goes on");
    let waits = Happening::SwapWaits { generation: 2 };
    assert_eq!(rig.events()[..2], [(1, waits), (0, waits)], "and which task it was at the end");

    // However long the cycles are, it is a hundred of them.
    let ticket = rig.publish(&[Command::Swap { generation: 2 }], 2);
    rig.run(&builds);
    rig.cycle += 10_000;
    rig.run_times(&builds, 99);
    assert_eq!(rig.outcome(ticket), None);
    rig.run(&builds);
    assert_eq!(rig.outcome(ticket), Some(Err(WhyRejected::JobUnderWay)));
}

#[test]
fn a_swap_does_not_wait_for_jobs_that_will_not_go_on() {
    for (restart, crashes) in [(true, false), (false, true)] {
        let exchange = exchange();
        let mood = Cell::new(Mood::Good);
        let (old, mut new) = amid_a_job(exchange.region(), &mood);
        new.stage.on_probation = !restart;
        let builds = [Some(&old), Some(&new)];
        let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &old.stage, 5);
        let ticket = rig.publish(&[Command::Swap { generation: 2 }], 2);
        rig.run(&builds);
        if crashes {
            rig.run(&builds);
            assert_eq!(rig.outcome(ticket), None, "it waits");
            mood.set(Mood::Crashes);
            rig.run(&builds);
            mood.set(Mood::Good);
        }
        rig.run(&builds);
        assert_eq!(rig.outcome(ticket), Some(Ok(())), "{restart} {crashes}");
        assert_eq!(rig.shared.active(), 1);
    }
}

#[test]
fn a_build_that_fails_at_once_is_told_as_swapped_and_taken_back() {
    let exchange = exchange();
    let (good, bad) = (Cell::new(Mood::Good), Cell::new(Mood::Crashes));
    let region = exchange.region();
    let old = doubler(region, &good);
    let program =
        Doubler { region, slot: Slot::B, mood: &bad, under_way: Cell::new(None), factor: 3 };
    let new = Build { stage: stage(2, 1), program };
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &old.stage, 5);
    rig.publish(&[Command::Swap { generation: 2 }], 2);
    let builds = [Some(&old), Some(&new)];
    rig.run(&builds);
    rig.run(&builds);
    assert_eq!(rig.shared.active(), 0);
    let told = rig.told();
    let at = |wanted: &Happening| told.iter().position(|what| what == wanted);
    let swapped = at(&Happening::Swapped { generation: 2, gap_cycles: 0, release_ns: 0 });
    let reverted = at(&Happening::Reverted { generation: 1, gap_cycles: 0 });
    assert!(swapped.is_some() && swapped < reverted, "{told:?}");
    assert_eq!(region.fault(), None, "the old program runs");
}

#[test]
fn the_build_that_is_in_fault_is_named() {
    let exchange = exchange();
    let (bad, good) = (Cell::new(Mood::Crashes), Cell::new(Mood::Good));
    let region = exchange.region();
    let old = doubler(region, &bad);
    let program =
        Doubler { region, slot: Slot::B, mood: &bad, under_way: Cell::new(None), factor: 3 };
    let new = Build { stage: Stage { on_probation: false, ..stage(2, 1) }, program };
    let program =
        Doubler { region, slot: Slot::A, mood: &good, under_way: Cell::new(None), factor: 3 };
    let third = Build { stage: Stage { on_probation: false, ..stage(3, 0) }, program };
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &old.stage, 5);
    rig.run(&[Some(&old), Some(&new)]);
    assert_eq!(region.fault(), Some(1));
    rig.publish(&[Command::Swap { generation: 2 }], 2);
    rig.run(&[Some(&old), Some(&new)]);
    rig.run(&[Some(&old), Some(&new)]);
    assert_eq!(region.fault(), Some(2), "it failed in the cycle of its swap");
    rig.publish(&[Command::Swap { generation: 3 }], 3);
    rig.run(&[Some(&third), Some(&new)]);
    rig.run(&[Some(&third), Some(&new)]);
    assert_eq!(region.fault(), None);
}

#[test]
fn a_build_that_lasts_is_off_probation() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let region = exchange.region();
    let old = doubler(region, &mood);
    let new = tripler(region, &mood);
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &old.stage, 3);
    let builds = [Some(&old), Some(&new)];
    rig.publish(&[Command::Swap { generation: 2 }], 2);
    // One cycle takes the command, the next one swaps.
    rig.run(&builds);
    for _ in 0..3 {
        assert!(rig.shared.active() == 0 || rig.shared.is_on_probation());
        rig.run(&builds);
    }
    assert!(!rig.shared.is_on_probation());
    mood.set(Mood::Crashes);
    rig.run(&builds);
    assert!(rig.shared.is_in_fault() && rig.shared.active() == 1, "not taken back any more");
}
