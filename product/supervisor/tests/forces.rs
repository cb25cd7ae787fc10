//! Forced variables stay forced, whatever becomes of process and program, and leave nothing behind.
//!
//! Method: a program that notes the input which its first step saw is killed, crashes and is
//! replaced while its input is forced.

mod site;

use std::time::{Duration, Instant};

use quietcore_supervisor::control::{
    Activity, ChangeKind, DeployPatience, Deployed, Done, Probation, Restart, Verb,
};
use rustix::process::{Pid, Signal, kill_process};
use site::{PATIENCE, SITE, Site, copy_model};

/// Variable that is one more than the input that the first step of the program saw.
const FIRST_INPUT: &str = "counter_DW.filter[1]";

fn deploy(site: &Site, replacements: &[(&str, &str)]) -> Deployed {
    let changed = site.folder.path().join("changed");
    copy_model("counter", &changed, replacements);
    let deployed =
        site.client().ask::<Deployed>("axis", Verb::deploy(&changed, DeployPatience::UntilProven));
    deployed.unwrap_or_else(|error| panic!("{error}"))
}

fn forces(site: &Site) -> u32 {
    site.client().list().expect("the site answers")[0].forces
}

/// Kills the process of the partition, and waits until it runs again after so many restarts.
fn kill(site: &Site, restarts: u32) {
    let state = || site.client().list().expect("the site answers").remove(0);
    let pid = state().pid.and_then(|pid| Pid::from_raw(pid.cast_signed())).expect("a process");
    kill_process(pid, Signal::KILL).expect("it is ours");
    wait_for_restart(site, restarts);
}

fn wait_for_restart(site: &Site, restarts: u32) {
    let end = Instant::now() + PATIENCE;
    loop {
        let now = site.client().list().expect("the site answers").remove(0);
        if now.restarts == restarts && now.state == Activity::Running {
            return;
        }
        assert!(Instant::now() < end, "{now:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_force_is_in_force_before_the_first_step_of_a_process_that_starts_again() {
    let site = Site::up(SITE, "counter");
    site.wait_for_value(FIRST_INPUT, |value| value == 1.0);
    site.change(ChangeKind::Force, "counter_U.input", Some("21"));
    kill(&site, 1);
    site.wait_for_value(FIRST_INPUT, |value| value == 22.0);
    assert_eq!(forces(&site), 1);
    let told = site.wait_for_event("forces");
    assert_eq!(told, "forces hold on in the new process: `counter_U.input`");
    // It is also in force in the process after that.
    site.change(ChangeKind::Force, "counter_U.input", Some("30"));
    kill(&site, 2);
    site.wait_for_value(FIRST_INPUT, |value| value == 31.0);
    site.change(ChangeKind::Unforce, "counter_U.input", None);
    site.wait_for_value("counter_U.input", |value| value == 0.0);
    assert_eq!(forces(&site), 0);
}

#[test]
fn a_force_is_in_force_in_the_first_step_after_a_fault() {
    let site = Site::up(SITE, "counter");
    site.change(ChangeKind::Force, "counter_U.input", Some("21"));
    site.change(ChangeKind::Set, "counter_P.misbehave", Some("1"));
    let text = site.wait_for_event("restarted");
    assert!(text.contains("after its fault"), "{text}");
    site.wait_for_value(FIRST_INPUT, |value| value == 22.0);
    site.client().ask::<Done>("axis", Verb::Restart { how: Restart::Cold }).unwrap();
    site.wait_for_value(FIRST_INPUT, |value| value == 22.0);
    assert_eq!(forces(&site), 1);
}

/// Goal: a force goes along with its name and type, whether or not the variable's value is carried
/// over; where it can't, that is told.
#[test]
fn a_deployed_build_has_the_forces_that_it_can_have() {
    let site = Site::up(SITE, "counter");
    site.change(ChangeKind::Force, "counter_P.gain", Some("7"));
    site.change(ChangeKind::Force, "counter_Y.doubled", Some("5"));
    site.change(ChangeKind::Force, "counter_DW.filter[2]", Some("3"));
    let deployed = deploy(
        &site,
        &[
            ("= {2.0, 0}", "= {4.0, 0}"),
            ("double filter[4]", "float filter[4]"),
            ("    double doubled;\n", ""),
            ("counter_Y.doubled = 2.0 * counter_Y.output;", ""),
        ],
    );
    assert_eq!(deployed.probation, Probation::Passed);
    assert!(deployed.tuned.is_empty(), "a force is no tuning: {deployed:?}");
    let lost: Vec<_> = deployed.not_forced.iter().map(|it| it.variable.as_str()).collect();
    assert_eq!(lost, ["counter_Y.doubled", "counter_DW.filter[2]"]);
    assert_eq!(deployed.not_forced[0].why, "it has no such variable");
    assert_eq!(deployed.not_forced[1].why, "its type was f64 and is f32");
    let told = site.wait_for_event("force-lost");
    assert!(told.contains("`counter_Y.doubled` is not forced any more in build 2"), "{told}");
    assert_eq!((forces(&site), site.value("counter_P.gain")), (1, 7.0));
    site.change(ChangeKind::Unforce, "counter_P.gain", None);
    site.wait_for_value("counter_P.gain", |value| value == 4.0);
}

#[test]
fn a_deploy_that_crashes_says_so_and_the_forces_are_as_before() {
    let site = Site::up(SITE, "counter");
    site.change(ChangeKind::Force, "counter_U.input", Some("10"));
    site.change(ChangeKind::Force, "counter_Y.doubled", Some("5"));
    let deployed = deploy(
        &site,
        &[
            ("    double doubled;\n", ""),
            ("counter_Y.doubled = 2.0 * counter_Y.output;", "*nowhere = 3;"),
        ],
    );
    let Probation::TakenBack { generation, why } = deployed.probation else {
        panic!("{deployed:?}");
    };
    assert_eq!(generation, 1);
    assert!(why.contains("SIGSEGV") && why.contains("counter_step"), "{why}");
    site.wait_for_value("counter_Y.doubled", |value| value == 5.0);
    assert_eq!((forces(&site), site.value("counter_U.input")), (2, 10.0));
    let events = site.client().events(0).unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    let at = |kind| kinds.iter().position(|it| *it == kind);
    assert!(at("deployed") < at("crash") && at("crash") < at("reverted"), "in order: {kinds:?}");
}

/// Goal: what `unforce` leaves behind, and what is retained, is the value before the force.
#[test]
fn a_forced_value_is_not_left_behind_and_not_retained() {
    let retain = "retain = [\"counter_DW.total\", \"counter_P.*\"]";
    let text = SITE.replace("retain = [\"counter_DW.total\"]", retain);
    let mut site = Site::up(&text, "counter");
    site.change(ChangeKind::Set, "counter_P.gain", Some("3"));
    site.change(ChangeKind::Force, "counter_P.gain", Some("0"));
    let before = site.value("counter_DW.total");
    site.wait_for_value("counter_DW.total", |value| value > before + 60.0);
    site.running = None;
    site.start(Restart::Warm).unwrap();
    assert_eq!((forces(&site), site.value("counter_P.gain")), (0, 3.0));
    site.change(ChangeKind::Force, "counter_P.gain", Some("0"));
    site.wait_for_value("counter_P.gain", |value| value == 0.0);
    site.change(ChangeKind::Unforce, "counter_P.gain", None);
    site.wait_for_value("counter_P.gain", |value| value == 3.0);
    site.running = None;
    site.start(Restart::Warm).unwrap();
    assert_eq!(site.value("counter_P.gain"), 3.0);
}

#[test]
fn a_build_on_probation_says_how_long() {
    let site = Site::up(SITE, "counter");
    let changed = site.folder.path().join("changed");
    copy_model("counter", &changed, &[("= {2.0, 0}", "= {4.0, 0}")]);
    let mut client = site.client();
    let deployed =
        client.ask::<Deployed>("axis", Verb::deploy(&changed, DeployPatience::UntilItRuns));
    let deployed = deployed.unwrap_or_else(|error| panic!("{error}"));
    if let Probation::Running { cycles, left } = deployed.probation {
        assert!((1..=200).contains(&cycles) && left.get() == cycles * 5_000_000);
        // A second may pass before the probation is asked for; then nothing is refused.
        if let Err(refused) = client.ask::<Done>("axis", Verb::Restart { how: Restart::Warm }) {
            let refused = refused.to_string();
            assert!(refused.contains("build 2 is on probation for another "), "{refused}");
        }
    }
    site.wait_for_event("probation");
    client.ask::<Done>("axis", Verb::Restart { how: Restart::Warm }).unwrap();
}

/// Goal: nothing is waited for in a process that ends as a build in it is taken back, and no force
/// is said to be lost with which the next process begins.
/// Method: a build crashes after it was told to, and the one before it leaves the process in its
/// first step after that; the force was made in between, so that it has no place to go back to.
#[test]
fn a_force_outlives_a_process_that_ends_as_its_build_is_taken_back() {
    if std::env::var("QUIETCORE_TEST_BACKEND")
        .is_ok_and(|backend| backend.contains("kvm") || backend.contains("qemu"))
    {
        quietcore_skip::skip!("a guest has no environment in which a build could leave a word");
        return;
    }
    let site = Site::up(SITE, "counter");
    let include = "#include \"counter.h\"";
    let more = format!("#define _GNU_SOURCE\n#include <stdlib.h>\n#include <unistd.h>\n{include}");
    let count = "counter_DW.total++;";
    let leaves = format!("if (getenv(\"LEAVE\")) _exit(0); {count}");
    deploy(&site, &[(include, &more), (count, &leaves)]);
    let changed = site.folder.path().join("changed");
    let crashes = format!(
        "static int told; if (counter_P.gain == 21.0 && ++told == 5) {{ \
         setenv(\"LEAVE\", \"1\", 1); *nowhere = 3; }} {count}"
    );
    // A parameter that begins anew is not carried over, and a force on it does not come back.
    let anew = ("= {2.0, 0}", "= {3.0, 0}");
    copy_model("counter", &changed, &[(include, &more), (count, &crashes), anew]);
    let deployed =
        site.client().ask::<Deployed>("axis", Verb::deploy(&changed, DeployPatience::UntilItRuns));
    deployed.unwrap_or_else(|error| panic!("{error}"));
    site.change(ChangeKind::Force, "counter_P.gain", Some("21"));
    wait_for_restart(&site, 1);
    if site.told("reverted").is_none() {
        quietcore_skip::skip!("this machine took longer than the probation of the build");
        return;
    }
    assert!(site.told("process-lost").is_some(), "it left");
    assert_eq!(site.told("force-lost"), None);
    site.wait_for_value("counter_P.gain", |value| value == 21.0);
    assert_eq!(forces(&site), 1);
}
