//! A partition that loses its whole process: the reports of it, and the state that it comes back
//! with.
//!
//! Method: as in the tests of a running site, with programs and signals that spare nothing.

mod site;

use std::time::{Duration, Instant};

use quietcore_supervisor::control::{
    Activity, ChangeKind, DeployPatience, Deployed, Done, PartitionState, Paused, Restart, Verb,
};
use rustix::process::{Pid, Signal, kill_process};
use site::{PATIENCE, SITE, Site, copy_model};

/// Waits until the partition runs after this restart.
fn wait_for_restart(site: &Site, number: u32) -> PartitionState {
    let end = Instant::now() + PATIENCE;
    loop {
        let state = site.client().list().expect("the site answers").remove(0);
        if state.restarts >= number && state.state == Activity::Running {
            return state;
        }
        assert!(Instant::now() < end, "no restart number {number}: {state:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Goal: a partition that stands still is not said to run. Method: its process is halted, which no
/// watchdog of its own can see.
#[test]
fn a_partition_that_hangs_is_ended_and_started_again() {
    let site = Site::up(SITE, "counter");
    let halted = site.client().list().unwrap()[0].pid;
    let process = halted.and_then(|pid| Pid::from_raw(pid.cast_signed())).unwrap();
    kill_process(process, Signal::STOP).unwrap();
    let text = site.wait_for_event("hung");
    assert!(text.starts_with("it began no cycle for 2."), "{text}");
    assert!(site.wait_for_event("process-lost").contains("stood still"));
    assert_ne!(wait_for_restart(&site, 1).pid, halted);
}

/// Goal: a monitor takes the exchange of a site's next life for no other one.
#[test]
fn an_exchange_of_the_sites_next_life_has_a_number_of_its_own() {
    let number_in_a_life = || {
        let site = Site::up(SITE, "counter");
        let (opened, _) = site.client().open("axis").expect("it runs");
        opened.incarnation
    };
    let first = number_in_a_life();
    assert!(number_in_a_life() > first);
}

/// Goal: a build that takes its whole process with it on probation does not come back with it.
/// Method: it leaves in its hundredth step; at 5 ms its probation has two hundred.
#[test]
fn a_deploy_that_ends_the_process_is_taken_back() {
    let site = Site::up(SITE, "counter");
    site.change(ChangeKind::Set, "counter_U.input", Some("10"));
    let changed = site.folder.path().join("changed");
    let leaves = "static int steps; if (++steps == 100) _exit(0); counter_DW.total++;";
    copy_model(
        "counter",
        &changed,
        &[
            ("= {2.0, 0}", "= {5.0, 0}"),
            ("counter_DW.total++;", leaves),
            ("#include \"counter.h\"", "#include \"counter.h\"\n#include <unistd.h>"),
        ],
    );
    let deployed =
        site.client().ask::<Deployed>("axis", Verb::deploy(&changed, DeployPatience::UntilItRuns));
    println!("{deployed:?}");
    let text = site.wait_for_event("reverted");
    assert!(text.contains("build 2 was on probation: build 1 comes back"), "{text}");
    assert_eq!(wait_for_restart(&site, 1).generation, 1);
    assert_eq!(site.value("counter_P.gain"), 2.0);
}

/// Goal: a partition whose restarts are used up says so, and a person can start it again. Method:
/// its process is killed once more than the limit.
#[test]
fn a_partition_that_is_given_up_can_be_started_again() {
    let site = Site::up(&SITE.replace("limit = 3", "limit = 1"), "counter");
    for number in 0..2 {
        let state = wait_for_restart(&site, number);
        let pid = state.pid.and_then(|pid| Pid::from_raw(pid.cast_signed())).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
    }
    let text = site.wait_for_event("given-up");
    assert_eq!(text, "not restarted any more after 1 restart; `quietcore restart axis` starts it");
    site.wait_for("stopped", |state| matches!(state, Activity::Stopped { .. }));
    site.client().ask::<Done>("axis", Verb::Restart { how: Restart::Warm }).unwrap();
    site.wait_for("running", |state| *state == Activity::Running);
}

/// Goal: a person need not wait for the restart that is planned. Method: that is planned for a time
/// that this test does not wait for.
#[test]
fn a_partition_that_waits_for_its_restart_is_started_at_once_when_asked() {
    let site = Site::up(&SITE.replace("wait = \"10 ms\"", "wait = \"1 min\""), "counter");
    let before = site.wait_for_value("counter_DW.total", |value| value > 40.0);
    let pid = site.client().list().unwrap()[0].pid.and_then(|pid| Pid::from_raw(pid.cast_signed()));
    kill_process(pid.unwrap(), Signal::KILL).unwrap();
    site.wait_for("waiting", |state| matches!(state, Activity::Waiting { .. }));
    let refused = site.client().ask::<Paused>("axis", Verb::Pause).unwrap_err().to_string();
    assert!(refused.contains("does not run now"), "{refused}");
    site.client().ask::<Done>("axis", Verb::Restart { how: Restart::Warm }).unwrap();
    let asked = Instant::now();
    site.wait_for("running", |state| *state == Activity::Running);
    assert!(asked.elapsed() < Duration::from_secs(50), "it waited for the one that was planned");
    assert!(site.value("counter_DW.total") >= before, "warm");
    assert_eq!(site.client().list().unwrap()[0].restarts, 0, "the planned one is none any more");
}
