//! `./test`: everything that must hold before a change lands, as steps that one runner runs.
//!
//! [`steps`] lists them as values; [`need`] fetches their tools, or says why there are none;
//! [`run`] runs them in processes of their own, and [`summary`] counts. No crate of the
//! product is used here, so that the gate runs whatever is wrong with them.

#![forbid(unsafe_code)]

mod durations;
mod need;
mod outcome;
mod places;
mod plan;
mod progress;
mod quick;
mod repository;
mod run;
mod steps;
mod summary;

use std::env;
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use durations::Durations;
use need::{Installer, Needs};
use outcome::Outcome;
use places::Places;
use progress::Progress;
use run::Runner;
use run::process::Running;
use run::skips::Skips;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use steps::step::Group;
use steps::surroundings::Surroundings;
use summary::Summary;

const USAGE: &str = "\
Runs everything that must hold, on any Debian 12 machine with a Rust toolchain. Sets up what is
missing. Without root it runs too; what could not be done then is listed as skipped.

usage: ./test                  everything
       ./test --plan           lists the steps, with how long each took the last time; runs none
       ./test only WORD..      the steps whose names have one of these words in them, and the
                               build if they use it
       ./test soak [MINUTES]   looks for what is new until the time is over (60 minutes): other
                               seeds, other inputs, tests beside a load, all of the lab again
       ./test quick            the inner loop: formatting, house rules, and of each crate with files
                               that differ from the main branch, clippy and unit tests
       ./test quick CRATE..    the same of these crates, by name (`site`, `quietcore-site`) or
                               folder
       ./test --help           this text

Every step runs even if one before it failed. What is built and checked comes first and uses all
processors; then tests, which look at a clock, have the machine to themselves; then come virtual
test machines. The last line sums up all of them:

    N passed, N failed, N skipped

A test that fails is repeated alone, at most twice, and what failed in a virtual test machine in a
fresh one, once. A test that passes then is flaky: the summary names it with its first report. More
than five of them are a failure. A step that runs no tests counts as one.
A test that could not run here names itself in the file that QUIETCORE_SKIP_FILE names (see
CONTRIBUTING.md); it counts as skipped and not as passed.

Below cargo's folder `target`, `test/logs` has what each step has printed, and `test/junit.xml` all
tests. When all have passed, `test/passed` has the hash of the tree that they were run on.
`quick` sets nothing up, and needs neither root nor a machine of its own.

Exit status: 0 nothing failed, 1 something failed, 2 the tests could not be started.";

/// A call of the gate.
enum Call<'a> {
    All,
    Plan,
    Only(&'a [String]),
    Quick(&'a [String]),
    /// For so many minutes.
    Soak(u64),
}

/// The file with how long steps took here.
const DURATIONS: &str = "durations.json";
/// The file with the hash of the tree that has passed.
const PASSED: &str = "passed";
/// Minutes of a soak that are not given.
const SOAK_MINUTES: u64 = 60;
/// The seed of proptest outside of a soak: no change is refused for an older fault.
const PROPERTY_SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1");

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let call = match arguments.split_first() {
        None => Call::All,
        Some((word, [])) if word == "--plan" => Call::Plan,
        Some((word, words)) if word == "only" && !words.is_empty() => Call::Only(words),
        Some((word, [])) if word == "soak" => Call::Soak(SOAK_MINUTES),
        Some((word, [minutes])) if word == "soak" && minutes.parse::<u64>().is_ok() => {
            Call::Soak(minutes.parse().unwrap_or(SOAK_MINUTES))
        }
        Some((word, crates)) if word == "quick" => Call::Quick(crates),
        Some((word, _)) if ["--help", "-h", "help"].contains(&word.as_str()) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Some(_) => {
            let words = arguments.join(" ");
            return fail_early(&format!("`{words}` is no way to call it; see `./test --help`"));
        }
    };
    answer(&call).unwrap_or_else(|error| fail_early(&error))
}

fn fail_early(error: &str) -> ExitCode {
    eprintln!("the tests could not be started: {error}");
    ExitCode::from(2)
}

fn answer(call: &Call<'_>) -> Result<ExitCode, String> {
    // `quick` may run beside the others.
    let own = if matches!(call, Call::Quick(_)) { "test/quick" } else { "test" };
    let places = Places::find(own)?;
    let groups = match call {
        Call::Quick(crates) => vec![quick::group(crates)?],
        Call::Only(words) => only(steps::all(&places)?, words)?,
        Call::All | Call::Plan => steps::all(&places)?,
        Call::Soak(_) => Vec::new(),
    };
    let last = Durations::read(&places.own(DURATIONS));
    if matches!(call, Call::Plan) {
        println!("{}", plan::text(&groups, &last, &places.root));
        return Ok(ExitCode::SUCCESS);
    }
    let mut runner = runner(places)?;
    if !matches!(call, Call::Soak(_)) {
        let (name, seed) = PROPERTY_SEED;
        runner.variables.push((name.to_owned(), seed.to_owned()));
    }
    let mut tree = None;
    if matches!(call, Call::All) {
        tree = repository::clean_tree();
        // There may be none.
        let _none = fs::remove_file(runner.places.own(PASSED));
    }
    if !matches!(call, Call::Quick(_)) {
        set_up(&mut runner)?;
    }
    let steps = groups.iter().map(|group| group.steps.len()).sum();
    match call {
        Call::Soak(minutes) => println!("rounds for {minutes} min"),
        _ => println!("{}", plan::announcement(steps, &last)),
    }
    let mut progress = Progress::new(steps, last.clone());
    let outcomes: Vec<Outcome> = match call {
        Call::Soak(minutes) => soak(&runner, &mut progress, *minutes)?,
        _ => groups.iter().flat_map(|group| runner.run(group, &mut progress)).collect(),
    };
    let skipped = runner.skips.all();
    let summary = Summary { outcomes: &outcomes, skipped: &skipped, took: progress.elapsed() };
    println!("\n== summary\n{}", summary.text());
    keep(call, &runner.places, &summary, last)?;
    if outcomes.is_empty() {
        return Err("no step could run".to_owned());
    }
    if summary.failed() > 0 {
        return Ok(ExitCode::FAILURE);
    }
    if let Some(tree) = tree.filter(|tree| repository::clean_tree().as_ref() == Some(tree)) {
        write(&runner.places.own(PASSED), &format!("{tree}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes ready all that steps run with; takes away the logs and skips of the last run.
fn runner(places: Places) -> Result<Runner, String> {
    let logs = places.own("logs");
    // There may be none.
    let _none = fs::remove_dir_all(&logs);
    fs::create_dir_all(&logs).map_err(|error| format!("{logs}: {error}"))?;
    let skips = places.own("skipped");
    let skips = Skips::begin(&skips).map_err(|error| format!("{skips}: {error}"))?;
    let running = Arc::new(Running::default());
    end_when_interrupted(Arc::clone(&running))?;
    let installer = Installer::new(places.clone(), Arc::clone(&running));
    Ok(Runner { needs: Needs::new(installer), places, running, variables: Vec::new(), skips })
}

/// Writes how long steps took, and the report in JUnit.
fn keep(
    call: &Call<'_>,
    places: &Places,
    summary: &Summary<'_>,
    mut durations: Durations,
) -> Result<(), String> {
    if !matches!(call, Call::Soak(_)) {
        durations.take(summary.outcomes);
    }
    if matches!(call, Call::All) {
        durations.take_whole(summary.took.as_secs(), summary.outcomes);
    }
    write(&places.own(DURATIONS), &durations.text().map_err(|error| error.to_string())?)?;
    write(&places.own("junit.xml"), &summary.junit().map_err(|error| error.to_string())?)
}

fn write(path: &str, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{path}: {error}"))
}

/// Runs rounds of a soak for so many minutes; a group that has begun is run to its end.
fn soak(runner: &Runner, progress: &mut Progress, minutes: u64) -> Result<Vec<Outcome>, String> {
    let time = Duration::from_secs(minutes.saturating_mul(60));
    let surroundings = Surroundings::of(&runner.places)?;
    let mut outcomes = Vec::new();
    for number in 1.. {
        for group in steps::soak::round(number, &runner.places, &surroundings)? {
            if progress.elapsed() >= time {
                return Ok(outcomes);
            }
            progress.expect(group.steps.len());
            outcomes.extend(runner.run(&group, progress));
        }
    }
    Ok(outcomes)
}

/// The steps whose names have one of these words in them, and the build if they use it.
fn only(groups: Vec<Group>, words: &[String]) -> Result<Vec<Group>, String> {
    let is_wanted = |name: &str| words.iter().any(|word| name.contains(word.as_str()));
    // All groups after the builds use their programs.
    let mut after_builds = groups.iter().skip_while(|group| group.name != steps::BUILDS).skip(1);
    let uses_builds =
        after_builds.any(|group| group.steps.iter().any(|step| is_wanted(&step.name)));
    let groups: Vec<Group> = groups
        .into_iter()
        .map(|mut group| {
            let is_used = |name: &str| uses_builds && name == steps::BUILT;
            group.steps.retain(|step| is_wanted(&step.name) || is_used(&step.name));
            group
        })
        .filter(|group| !group.steps.is_empty())
        .collect();
    if groups.is_empty() {
        return Err(format!(
            "no step has `{}` in its name; see `./test --plan`",
            words.join("` or `")
        ));
    }
    Ok(groups)
}

/// Installs missing tools, and sets variables for all steps.
fn set_up(runner: &mut Runner) -> Result<(), String> {
    println!("== setup");
    let installer = &runner.needs.installer;
    for folder in [runner.places.scratch.as_str(), &env::temp_dir().to_string_lossy()] {
        // Tests that find none fail by whatever they were about to write.
        if let Ok(disk) = rustix::fs::statvfs(folder) {
            println!("room for {folder}: {} GB", disk.f_bavail * disk.f_frsize / 1_000_000_000);
        }
    }
    println!("{}", installer.rust()?);
    for (what, reason) in installer.debian_packages() {
        runner.skips.add(&what, &reason);
    }
    let pythons = installer.pythons();
    runner.variables.extend(pythons.map(|(name, value)| (name.to_owned(), value)));
    // Commands of cargo's that were installed here come first.
    let path = env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", runner.places.own("cargo-fuzz/bin"));
    runner.variables.push(("PATH".to_owned(), path));
    // Files are compiled once here: incremental data would only take room.
    runner.variables.push(("CARGO_INCREMENTAL".to_owned(), "0".to_owned()));
    Ok(())
}

/// Ends all commands, and the gate, by Ctrl-C and its like.
fn end_when_interrupted(running: Arc<Running>) -> Result<(), String> {
    let signals = Signals::new([SIGHUP, SIGINT, SIGTERM]);
    let mut signals = signals.map_err(|error| format!("signals: {error}"))?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            running.end_all();
            eprintln!("\ninterrupted; nothing is proven by what ran so far");
            std::process::exit(2);
        }
    });
    Ok(())
}
