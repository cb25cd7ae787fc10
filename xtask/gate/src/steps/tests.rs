//! Tests on this machine. They look at a clock, and nothing of the gate's runs beside them.

use super::{NEXTEST, cargo, repeated};
use crate::need::Need;
use crate::places::Places;
use crate::steps::step::{Action, CommandLine, Group, Lane, Program, Step, Tests};
use crate::steps::surroundings::Surroundings;

/// Keepers that are run on simulated time, with faults by chance; each time the same ones.
const SIMULATION_RUNS: u32 = 300;

/// Words that say what cargo builds for all tests.
pub(super) const ALL: &str = "--workspace --lib --bins --tests";

/// All tests of the workspace.
pub(super) fn group() -> Group {
    // The kernel's face for C is a feature that nothing of the workspace has.
    let for_c = "--package quietcore-osek --features c --lib --test c";
    let tests = |name: &str, built| Step::of(name, Action::Tests(Tests::of(built))).needs(NEXTEST);
    let steps = vec![tests("tests", ALL), tests("tests (OSEK for C)", for_c)];
    Group { name: "tests", at_once: 1, steps }
}

/// Clients of a daemon: a browser, and programs in Python. Most of the time a browser waits.
pub(super) fn clients(places: &Places) -> Group {
    let page = CommandLine::words("npm test --prefix web --silent");
    let bin = |program: &str| places.own(&format!("python-client/bin/{program}"));
    let style = r#""$1/ruff" format --check && "$1/ruff" check && "$1/mypy" --cache-dir "$2""#;
    let style = CommandLine::words("bash -c")
        .arguments([style.to_owned(), "-".to_owned(), bin("").trim_end_matches('/').to_owned()])
        .arguments([places.own("mypy")])
        .variable("RUFF_CACHE_DIR", places.own("ruff"))
        .folder("clients/python");
    let python = CommandLine::new(Program::Named(bin("python")))
        .arguments(["-m", "pytest", "-p", "no:cacheprovider"])
        .variable("PYTHONDONTWRITEBYTECODE", "1")
        .variable("QUIETCORE_PROGRAMS", format!("{}/debug", places.target))
        .folder("clients/python");
    let real =
        CommandLine::words("web/tests/real.sh").arguments([format!("{}/debug", places.target)]);
    let steps = vec![
        Step::new("the live page in a browser", page).needs([Need::Page, Need::Browser]),
        Step::new("Python client: style and types", style).needs([Need::PythonClient]),
        Step::new("Python client", python).needs([Need::PythonClient]),
        Step::new("the live page of a running site", real)
            .needs([Need::Page, Need::Browser])
            .lane(Lane::Alone),
    ];
    Group { name: "clients", at_once: 2, steps }
}

/// Tests of running sites with partitions in containers.
pub(super) fn containers(surroundings: &Surroundings) -> Group {
    let step = |name: &str, program, backend| {
        let tests = repeated(surroundings, program, "container", backend);
        Step::of(name, Action::Tests(tests)).needs([Need::Containers, Need::Nextest])
    };
    let steps = vec![
        step("partitions in containers", "running", "container"),
        step("OSEK programs in containers", "osek", "container"),
        step("programs in containers that do not start", "initialize", "container"),
        step("a container and a process", "channels", "container,process"),
    ];
    Group { name: "containers", at_once: 1, steps }
}

/// Tests of running sites with partitions in guests of QEMU, which emulates their processors where
/// there is no KVM.
pub(super) fn guests_of_qemu(places: &Places, surroundings: &Surroundings) -> Group {
    let image = places.own("guest");
    let of_kernel = |name: &str, program, backend| {
        let tests = repeated(surroundings, program, "qemu", backend);
        Step::of(name, Action::Tests(tests)).needs([Need::Qemu, Need::Nextest])
    };
    let with_image = |name: &str, mut tests: Tests| {
        tests.variables.push(("QUIETCORE_TEST_IMAGE".to_owned(), image.clone()));
        Step::of(name, Action::Tests(tests)).needs([Need::Qemu, Need::Nextest, Need::GuestImage])
    };
    let of_linux =
        |name: &str, program| with_image(name, repeated(surroundings, program, "linux", "linux"));
    let alone = |name: &str, filter: &str| {
        with_image(name, Tests { filter: filter.to_owned(), is_alone: true, ..Tests::of(ALL) })
    };
    let build = CommandLine::new(Program::Named(places.built("quietcore")));
    let build = build.arguments(["guest", "build", "--out", &image]);
    let steps = vec![
        of_kernel("partitions in guests of QEMU", "running", "qemu"),
        Step::new("the image of a Linux guest", build).needs([Need::Qemu]),
        of_linux("partitions in Linux guests of QEMU", "running"),
        of_linux("a fieldbus of a Linux guest", "fieldbus"),
        alone("a Linux guest with two processors", "binary_id(quietcore-campaign::linux_guest)"),
        alone(
            "a Linux guest as one of several systems, and accesses to memory beside two",
            "binary_id(quietcore-cli::probes) and (test(a_guest_that_is_emulated) or \
             test(accesses_are_measured_beside_linux_guests))",
        ),
        alone(
            "a Linux guest as a neighbour",
            "binary_id(quietcore-cli::experiments) and test(a_load_disturbs_from_a_linux_guest)",
        ),
        of_kernel("OSEK programs in guests of QEMU", "osek", "qemu"),
        of_kernel("a guest of QEMU and a process", "channels", "qemu,process"),
        of_kernel("a fieldbus of a guest of QEMU", "fieldbus", "qemu"),
    ];
    Group { name: "guests of QEMU", at_once: 1, steps }
}

/// Keepers on simulated time.
pub(super) fn simulation() -> Group {
    let simulate = format!("xtask simulate --from 1 --runs {SIMULATION_RUNS}");
    Group { name: "simulation", at_once: 1, steps: vec![cargo("simulation", &simulate)] }
}
