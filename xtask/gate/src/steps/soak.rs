//! Rounds that look for new faults: other seeds, other inputs, other loads. The gate runs the same
//! each time, so that no change is refused for an older fault; a fault that is found here becomes a
//! test of the gate.

use super::builds::fuzz_targets;
use super::{NEXTEST, NIGHTLY, lab, tests};
use crate::need::Need;
use crate::places::Places;
use crate::steps::step::{Action, CommandLine, Group, Lane, Step, Tests};
use crate::steps::surroundings::Surroundings;

/// Seconds of simulated keepers, and of each target of fuzzing, in a round.
const SIMULATION_SECONDS: u32 = 180;
const FUZZ_SECONDS: u32 = 60;
/// Cases of each property, in place of 256.
const CASES: &str = "2048";
/// Tests with properties, of which few look at a clock.
const PROPERTIES: &str = "kind(lib) or package(/^quietcore-(audit|boot|control|exchange|oil|osek\
                          |program-image|programs|record|report|segment|site|units|wording)$/)";

/// The groups of a round. Seeds are chosen by chance; a failure prints its own.
///
/// # Errors
/// The manifest of fuzzing can't be read.
pub(crate) fn round(
    number: u32,
    places: &Places,
    surroundings: &Surroundings,
) -> Result<Vec<Group>, String> {
    let mut groups = vec![
        inputs(places)?,
        Group {
            name: "tests beside a load",
            at_once: 1,
            steps: vec![beside_a_load(), properties()],
        },
        tests::containers(surroundings),
        lab::group(places, surroundings),
    ];
    for step in groups.iter_mut().flat_map(|group| &mut group.steps) {
        step.name = format!("round {number}: {}", step.name);
    }
    Ok(groups)
}

/// Keepers on simulated time, and random inputs on top of those that the last rounds have kept.
fn inputs(places: &Places) -> Result<Group, String> {
    let simulate = format!("cargo xtask simulate --seconds {SIMULATION_SECONDS}");
    let mut steps = vec![Step::new("simulation", CommandLine::words(&simulate)).lane(Lane::Cargo)];
    let keeping = r#"mkdir -p "$0" && exec "$@""#;
    for target in fuzz_targets(places)? {
        let corpus = places.own(&format!("soak/{target}"));
        let fuzz = format!("cargo +{NIGHTLY} fuzz run --fuzz-dir fuzz {target}");
        let words = [String::from("-c"), keeping.to_owned(), corpus.clone()];
        let command = CommandLine::words("sh")
            .arguments(words)
            .arguments(fuzz.split(' '))
            .arguments([corpus, "--".to_owned(), format!("-max_total_time={FUZZ_SECONDS}")]);
        steps.push(Step::new(format!("fuzzing: {target}"), command).needs([Need::Fuzzer]));
    }
    Ok(Group { name: "other inputs", at_once: 2, steps })
}

/// All tests, while two loops want the processors as well.
fn beside_a_load() -> Step {
    let tests = Tests { load: 2, ..Tests::of(tests::ALL) };
    Step::of("tests beside two busy loops", Action::Tests(tests)).needs(NEXTEST)
}

/// Properties with other cases than in the gate, and more of them.
fn properties() -> Step {
    let mut tests = Tests { filter: PROPERTIES.to_owned(), ..Tests::of(tests::ALL) };
    tests.variables.push(("PROPTEST_CASES".to_owned(), CASES.to_owned()));
    Step::of("properties", Action::Tests(tests)).needs(NEXTEST)
}
