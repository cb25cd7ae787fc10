//! Forces from the first cycle on, and what they leave behind.

use super::*;

#[test]
fn what_was_forced_in_the_process_before_is_forced_in_the_first_step() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let inputs = [Cell::new(1), Cell::new(0)];
    let mut build = doubler(exchange.region(), &mood);
    build.stage.held = vec![assignment(INPUT, 50).into(), assignment(24, 3).into()];
    let bus = Bus { inputs: &inputs, ..Bus::default() };
    let mut rig = Rig::new(&exchange, bus, FaultReaction::Zero, &build.stage, 0);
    rig.run(&[Some(&build), None]);
    assert_eq!(rig.value(Slot::A, COUNT), 1, "one step was run");
    assert_eq!((rig.value(Slot::A, OUTPUT), rig.value(Slot::A, 24)), (100, 3));
    let mut held = [Assignment::default(); 4];
    assert_eq!(rig.region.forces().unwrap().read(&mut held), Ok(2), "and seen from outside");
}

/// Goal: a release leaves what was there before, and an input is the fieldbus's in the same cycle.
#[test]
fn a_release_gives_back_the_value_before_the_force() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let inputs = [Cell::new(1), Cell::new(0)];
    let build = doubler(exchange.region(), &mood);
    let bus = Bus { inputs: &inputs, ..Bus::default() };
    let mut rig = Rig::new(&exchange, bus, FaultReaction::Zero, &build.stage, 0);
    let builds = [Some(&build), None];
    rig.publish(&[Command::Set(assignment(24, 8))], 1);
    rig.run(&builds);
    rig.publish(&[Command::Force(assignment(24, 9)), Command::Force(assignment(INPUT, 50))], 1);
    rig.run_times(&builds, 3);
    assert_eq!((rig.value(Slot::A, 24), rig.value(Slot::A, OUTPUT)), (9, 100));
    inputs[0].set(4);
    rig.publish(&[Command::Unforce(assignment(24, 0).target)], 1);
    rig.publish(&[Command::Unforce(assignment(INPUT, 0).target)], 1);
    rig.run(&builds);
    assert_eq!((rig.value(Slot::A, 24), rig.value(Slot::A, OUTPUT)), (8, 8));
    rig.publish(&[Command::Force(assignment(24, 9))], 1);
    rig.run(&builds);
    rig.publish(&[Command::Set(assignment(24, 5))], 1);
    rig.run(&builds);
    assert_eq!(rig.value(Slot::A, 24), 9, "it is held");
    rig.publish(&[Command::UnforceAll], 1);
    rig.run(&builds);
    assert_eq!(rig.value(Slot::A, 24), 5, "what was set meanwhile");
}

/// Goal: a forced value does not become the state of the next build.
#[test]
fn a_swap_carries_what_was_there_before_the_force() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let region = exchange.region();
    let old = doubler(region, &mood);
    let mut new = tripler(region, &mood);
    new.stage.carried = vec![Carried { from: 24, to: 32, bytes: 8 }];
    new.stage.forces = vec![Moved { from: 24, to: 32 }];
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &old.stage, 5);
    rig.publish(&[Command::Set(assignment(24, 8)), Command::Force(assignment(24, 9))], 1);
    rig.run(&[Some(&old), None]);
    rig.publish(&[Command::Swap { generation: 2 }], 2);
    rig.run_times(&[Some(&old), Some(&new)], 2);
    assert_eq!((rig.shared.active(), rig.value(Slot::B, 32)), (1, 9), "held in the new build");
    rig.publish(&[Command::UnforceAll], 2);
    rig.run(&[Some(&old), Some(&new)]);
    assert_eq!(rig.value(Slot::B, 32), 8);
}
