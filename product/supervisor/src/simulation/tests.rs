//! The promises hold in some runs of the simulation, and a run can be repeated.

use std::sync::Arc;
use std::thread;

use quietcore_units::Nanos;

use super::client::set_or_force;
use super::universe::{Act, Universe};
use super::{Ground, Outcome, run, running};
use crate::control::{ChangeKind, DeployPatience, Restart, Verb};

/// Number of runs that are checked here; `cargo xtask simulate` runs more.
const SEEDS: u64 = 8;

fn ground() -> Arc<Ground> {
    Arc::new(Ground::new().unwrap())
}

/// Tells a story in `lives` lives of the supervisor.
fn tell(ground: &Arc<Ground>, lives: u32, story: Vec<(Nanos, Act)>) -> Outcome {
    let universe = Arc::new(Universe::of_story(Arc::clone(ground), story));
    for life in 0..lives {
        universe.begin_life(life + 1 == lives);
        running::live(&universe);
    }
    universe.outcome()
}

fn change(kind: ChangeKind, variable: &str, value: &str) -> Act {
    Act::Ask(Verb::write([set_or_force(kind, variable, Some(value))]), 0)
}

#[test]
fn promises_hold_whatever_goes_wrong() {
    let ground = ground();
    for seed in 0..SEEDS {
        let outcome = run(seed, &ground);
        assert!(outcome.broken.is_empty(), "seed {seed}: {outcome:#?}");
    }
}

/// Goal: a seed gives the same run again, also while others run.
/// Method: each is run once alone, and then all side by side.
#[test]
fn a_seed_gives_the_same_run_again() {
    let ground = ground();
    let alone: Vec<(u64, Outcome)> = (100..104).map(|seed| (seed, run(seed, &ground))).collect();
    thread::scope(|scope| {
        for (seed, outcome) in &alone {
            let ground = &ground;
            scope.spawn(move || assert_eq!(run(*seed, ground), *outcome, "seed {seed}"));
        }
    });
}

/// Goal: values are saved also while the keeper waits for a partition that takes no command.
/// Method: one stands still just when a variable is to be set, at some instants between two times
/// at which values are saved, and the supervisor is killed meanwhile.
#[test]
fn a_wait_for_the_partition_keeps_no_values_from_being_saved() {
    let (ground, millis) = (ground(), Nanos::from_millis);
    for offset in [0, 25, 50, 75] {
        let story = vec![
            (millis(10_000 + offset), Act::StandStill(1)),
            (millis(10_000 + offset), change(ChangeKind::Set, "plant_P.gain", "3")),
            (millis(11_500), Act::Kill),
        ];
        let outcome = tell(&ground, 2, story);
        assert!(outcome.broken.is_empty(), "{outcome:#?}");
        assert_eq!(outcome.tally.faults.get("supervisor killed"), Some(&1));
    }
}

/// Goal: what was retained by a build is not mixed up with the forces of the next one. Method: a
/// retained variable is forced, and the next build, in which it lies elsewhere, stands still in its
/// first step.
#[test]
fn forces_of_the_next_build_leave_what_this_one_has_retained_alone() {
    let folder = std::path::PathBuf::from("/source/press");
    let deploy = Verb::Deploy { folder, patience: DeployPatience::UntilProven };
    let story = vec![
        (Nanos::from_secs(10), change(ChangeKind::Force, "plant_DW.d", "4000000000")),
        (Nanos::from_secs(12), Act::StandStill(2)),
        (Nanos::from_secs(12), Act::Ask(deploy, 1)),
    ];
    let outcome = tell(&ground(), 1, story);
    assert!(outcome.broken.is_empty(), "{outcome:#?}");
    assert_eq!(outcome.tally.processes, 2, "{outcome:#?}");
}

/// Goal: a restart that forgets values and does not come about forgets none. Method: the program
/// stands still until its process is ended for that, and before the next one has begun the
/// supervisor is killed. Found by the simulation.
#[test]
fn a_restart_from_the_origin_that_is_refused_forgets_nothing() {
    let restart = Verb::Restart { how: Restart::Origin };
    let story = vec![
        (Nanos::from_secs(10), Act::StandStill(1)),
        (Nanos::from_millis(10_100), Act::Ask(restart, 1)),
        (Nanos::from_millis(12_100), Act::Kill),
    ];
    let outcome = tell(&ground(), 2, story);
    assert!(outcome.broken.is_empty(), "{outcome:#?}");
    assert_eq!(outcome.tally.faults.get("supervisor killed"), Some(&1), "{outcome:#?}");
}
