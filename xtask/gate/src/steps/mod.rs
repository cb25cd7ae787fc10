//! All steps of the gate, in their order: those that disturb tests with a clock come first.

mod builds;
mod lab;
pub(crate) mod soak;
mod sources;
pub(crate) mod step;
pub(crate) mod surroundings;
mod tests;

pub(crate) use lab::images;

use crate::need::Need;
use crate::places::Places;
use crate::steps::step::{CommandLine, Group, Lane, Program, Step, Tests};
use crate::steps::surroundings::Surroundings;

/// The machine without an operating system.
pub(crate) const BARE: &str = "x86_64-unknown-none";
/// The compiler for Miri and fuzzing, of a date at which it has both.
pub(crate) const NIGHTLY: &str = "nightly-2026-04-01";

/// The group whose programs all later groups use, and the step that builds them.
pub(crate) const BUILDS: &str = "builds";
pub(crate) const BUILT: &str = "programs and tests, built";

/// The gate's groups of steps, one after another.
///
/// # Errors
/// The table of surroundings or the manifest of fuzzing can't be read, or the table names
/// surroundings that no step makes.
pub(crate) fn all(places: &Places) -> Result<Vec<Group>, String> {
    let surroundings = Surroundings::of(places)?;
    let groups = vec![
        sources::group(places),
        builds::group(places),
        builds::fuzzing(places)?,
        tests::group(),
        tests::clients(places),
        tests::containers(&surroundings),
        tests::guests_of_qemu(places, &surroundings),
        lab::group(places, &surroundings),
        tests::simulation(),
    ];
    surroundings.check_asked()?;
    Ok(groups)
}

/// The formatting and the house rules, which come first wherever something is checked.
pub(crate) fn style() -> [Step; 2] {
    [
        Step::new("formatting", CommandLine::words("cargo fmt --all --check")),
        Step::new("house rules", CommandLine::words("cargo xtask check")),
    ]
}

/// A command of cargo that builds into the workspace's folder.
fn cargo(name: &str, words: &str) -> Step {
    Step::new(name, CommandLine::words(&format!("cargo {words}"))).lane(Lane::Cargo)
}

/// A program of tests that cargo has built.
fn program(package: &'static str, name: &'static str) -> CommandLine {
    CommandLine::new(Program::Tests { package, name })
}

/// The tests of a program of the supervisor that the table lists for these surroundings.
fn repeated(
    surroundings: &Surroundings,
    program: &'static str,
    place: &'static str,
    backend: &str,
) -> Tests {
    let names = surroundings.tests(program, place);
    let names: Vec<String> = names.into_iter().map(|name| format!("test({name})")).collect();
    let filter =
        format!("package(quietcore-supervisor) and binary({program}) and ({})", names.join(" or "));
    let variables = vec![("QUIETCORE_TEST_BACKEND".to_owned(), backend.to_owned())];
    Tests { filter, variables, is_alone: true, ..Tests::of(tests::ALL) }
}

/// Needs of steps that run tests.
const NEXTEST: [Need; 1] = [Need::Nextest];

#[cfg(test)]
mod unit_tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;
    use crate::steps::step::Action;
    use crate::steps::surroundings::TABLE;

    fn places() -> Places {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let [target, scratch] = ["target", "target/test"].map(|name| format!("{root}/{name}"));
        Places { root: root.to_owned(), target, scratch }
    }

    #[test]
    fn each_step_has_a_name_of_its_own() {
        let groups = all(&places()).expect("the table is there");
        let names: Vec<&str> =
            groups.iter().flat_map(|group| &group.steps).map(|step| &*step.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        assert!(groups.iter().all(|group| group.at_once > 0));
    }

    #[test]
    fn each_test_of_the_table_exists() {
        let surroundings = Surroundings::of(&places()).expect("the table is there");
        for (program, test) in surroundings.all() {
            let folder = format!("{}/product/supervisor/tests", places().root);
            let files = fs::read_dir(format!("{folder}/{program}")).into_iter().flatten();
            let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
            files.push(format!("{folder}/{program}.rs").into());
            let declaration = format!("fn {test}()");
            let holds = |path: &std::path::PathBuf| {
                fs::read_to_string(path).is_ok_and(|text| text.contains(&declaration))
            };
            assert!(files.iter().any(holds), "{TABLE}: {program} has no test `{test}`");
        }
    }

    #[test]
    fn each_name_that_a_machine_of_the_lab_filters_by_is_that_of_a_test() {
        let groups = all(&places()).expect("the table is there");
        let machines = groups.iter().flat_map(|group| &group.steps).filter_map(|step| {
            let Action::Machine(machine) = &step.action else { return None };
            Some(machine.commands())
        });
        let output = std::process::Command::new("git")
            .args(["grep", "-h", "^ *fn ", "--", "*/tests/*.rs"])
            .current_dir(places().root)
            .output()
            .expect("git is there");
        let declared = String::from_utf8_lossy(&output.stdout).into_owned();
        for command in machines.flatten() {
            let Program::Tests { package, .. } = &command.command.program else { continue };
            let names = command.command.arguments.iter().filter(|name| !name.starts_with("--"));
            for name in names.filter(|name| !name.ends_with("::")) {
                let last = name.rsplit("::").next().unwrap_or(name);
                assert!(declared.contains(last), "{package} has no `{name}`");
            }
        }
    }
}
