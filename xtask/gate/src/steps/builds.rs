//! Builds, and checks that run beside them: these use all processors and look at no clock.

use std::fs;

use serde::Deserialize;

use super::{BARE, BUILDS, BUILT, NIGHTLY, cargo};
use crate::need::Need;
use crate::places::Places;
use crate::steps::step::{CommandLine, Group, Lane, Step};

/// Crates whose shared memory is checked by Miri.
const MIRI_CRATES: [&str; 2] = ["quietcore-exchange", "quietcore-units"];
/// Tests that Miri does not run: those that clear all histograms again and again, which takes it
/// minutes each and touches atomics only, and those in which two threads must meet, or one waits
/// for the other in vain, which is what loom is for.
const NOT_FOR_MIRI: [&str; 5] = [
    "statistics::",
    "snapshot::",
    "a_consistent_reading_is_of_one_cycle",
    "a_reading_in_the_middle_of_a_step_says_that_it_is_not_consistent",
    "there_is_a_limit_to_forces_and_no_torn_list",
];

/// Inputs of each target of fuzzing, the same ones each time.
const FUZZ_RUNS: u32 = 10_000;
const FUZZ_SEED: u32 = 1;

/// Builds and checks, all of them side by side but for those of cargo's folder.
pub(super) fn group(places: &Places) -> Group {
    let mut steps = vec![miri_osek(), miri(), fuzz_build(), loom(places)];
    // With the tests, so that each dependency is built once, with the features that those want.
    let built = "build --locked --workspace --lib --bins --tests --examples";
    steps.push(cargo(BUILT, built));
    steps.extend(checks());
    steps.push(cargo("documentation tests", "test --locked --workspace --no-fail-fast --doc"));
    Group { name: BUILDS, at_once: 5, steps }
}

/// Checks that compile into the folder of the tests, which has their macros and build scripts.
fn checks() -> [Step; 6] {
    let documentation = "doc --locked --workspace --no-deps";
    let documentation = CommandLine::words(&format!("cargo {documentation}"));
    let osek = "--locked --package quietcore-osek";
    let guest = format!(
        "clippy --locked --package quietcore-guest --features images --target {BARE} -- -D warnings"
    );
    [
        cargo("clippy", "clippy --locked --workspace --all-targets -- -D warnings"),
        Step::new("documentation", documentation.variable("RUSTDOCFLAGS", "-D warnings"))
            .lane(Lane::Cargo),
        cargo(
            "clippy (OSEK for C)",
            &format!("clippy {osek} --all-targets --features c -- -D warnings"),
        ),
        cargo("OSEK without an operating system", &format!("check {osek} --target {BARE}"))
            .needs([Need::BareMachine]),
        cargo(
            "clippy (OSEK of programs for guests)",
            &format!("clippy {osek} --features c --target {BARE} -- -D warnings"),
        )
        .needs([Need::BareMachine]),
        cargo("clippy (guest)", &guest).needs([Need::BareMachine]),
    ]
}

/// The kernel's tests in `tests/` run programs in C, or a hundred thousand cases.
fn miri_osek() -> Step {
    let test = format!("cargo +{NIGHTLY} miri test --locked --package quietcore-osek --lib");
    let command = CommandLine::words(&test).variable("PROPTEST_CASES", "4");
    Step::new("undefined behaviour (Miri, OSEK)", command).needs([Need::Miri])
}

/// Under Miri the clock and the folder are the machine's own, and a property is tried four times.
/// Variables of a program are accessed in their own sizes, which overlap where Miri's emulation of
/// weak memory knows one size only; loom covers that part.
fn miri() -> Step {
    let crates: Vec<String> = MIRI_CRATES.iter().map(|name| format!("--package={name}")).collect();
    let test = format!("cargo +{NIGHTLY} miri test --locked {} --lib --tests --", crates.join(" "));
    let flags = "-Zmiri-disable-isolation -Zmiri-disable-weak-memory-emulation";
    let command = CommandLine::words(&test)
        .arguments(NOT_FOR_MIRI.iter().flat_map(|test| ["--skip", test]))
        .variable("PROPTEST_CASES", "4")
        .variable("MIRIFLAGS", flags);
    Step::new("undefined behaviour (Miri)", command).needs([Need::Miri])
}

/// Every order in which two threads may run. Loom's atomics replace ours, so that all is compiled
/// anew, in a folder of its own.
fn loom(places: &Places) -> Step {
    let test = "cargo test --locked --release --package quietcore-exchange --test loom";
    let command = CommandLine::words(test)
        .variable("RUSTFLAGS", "--cfg loom")
        .variable("CARGO_TARGET_DIR", format!("{}/loom", places.target));
    Step::new("memory orderings (loom)", command)
}

fn fuzz_build() -> Step {
    let build = fuzz("build --fuzz-dir fuzz");
    Step::new("fuzzing: what is built", build).needs([Need::Fuzzer])
}

/// All targets that the manifest lists. A target uses one processor, and so two run side by side.
///
/// # Errors
/// The manifest can't be read.
pub(super) fn fuzzing(places: &Places) -> Result<Group, String> {
    let step = |target: String| {
        // Inputs that earlier runs have kept here are in no other checkout.
        let corpus = places.own(&format!("corpus/{target}"));
        let fresh = r#"rm -rf "$0" && mkdir -p "$0" && exec "$@""#;
        let run = fuzz(&format!("run --fuzz-dir fuzz {target}"));
        let limits = [format!("-runs={FUZZ_RUNS}"), format!("-seed={FUZZ_SEED}")];
        let arguments = [String::from("-c"), fresh.to_owned(), corpus.clone(), "cargo".to_owned()];
        let command = CommandLine::words("sh").arguments(arguments).arguments(run.arguments);
        let command = command.arguments([corpus, "--".to_owned()]).arguments(limits);
        Step::new(format!("fuzzing: {target}"), command).needs([Need::Fuzzer])
    };
    let steps = fuzz_targets(places)?.into_iter().map(step).collect();
    Ok(Group { name: "fuzzing", at_once: 2, steps })
}

/// The targets that the manifest of fuzzing lists.
///
/// # Errors
/// It can't be read.
pub(super) fn fuzz_targets(places: &Places) -> Result<Vec<String>, String> {
    let path = format!("{}/fuzz/Cargo.toml", places.root);
    let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let manifest: Manifest = toml::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
    Ok(manifest.bin.into_iter().map(|target| target.name).collect())
}

#[derive(Deserialize)]
struct Manifest {
    bin: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

fn fuzz(words: &str) -> CommandLine {
    CommandLine::words(&format!("cargo +{NIGHTLY} fuzz {words}"))
}
