//! A program that calls the C library for things that a real-time program should not do: it prints,
//! closes files that are not its own, allocates, and is cut off in that.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod site;

use quietcore_supervisor::control::{
    Activity, ChangeKind, DeployPatience, Deployed, Done, Probation, Restart, Verb,
};
use rustix::process::{Pid, Signal, kill_process};
use site::{SITE, Site};

fn up() -> Option<Site> {
    up_with(&[])
}

/// Brings it up with parts of the site file replaced.
fn up_with(replacements: &[(&str, &str)]) -> Option<Site> {
    if std::env::var("QUIETCORE_TEST_BACKEND").is_ok_and(|backend| backend.contains("kvm")) {
        quietcore_skip::skip!("a guest has no C library of the host");
        return None;
    }
    let mut text = SITE.replace("\"counter\"", "\"library\"").replace("counter_DW", "library_DW");
    for (old, new) in replacements {
        text = text.replace(old, new);
    }
    Some(Site::up(&text, "library"))
}

fn call(site: &Site, number: &str) {
    site.change(ChangeKind::Set, "library_P.call", Some(number));
}

/// Checks that the program runs more cycles.
fn goes_on(site: &Site, restarts: u32) {
    let before = site.value("library_DW.total");
    site.wait_for_value("library_DW.total", |value| value > before + 20.0);
    assert_eq!(site.client().list().unwrap()[0].restarts, restarts);
}

fn printed(site: &Site) -> String {
    let states = std::fs::read_dir(site.folder.path().join("state")).unwrap().flatten();
    let of_site = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("press@");
    let mut of_sites = states.filter(|state| of_site(&state.file_name()));
    let state = of_sites.next().unwrap().path();
    std::fs::read_to_string(state.join("axis/printed.log")).unwrap_or_default()
}

/// Goal: what a program prints goes nowhere but where it can be read.
/// Method: one that prints on each stream in every cycle; each of its cycles is run, and the
/// exchange is read all the time.
#[test]
fn a_program_that_prints_runs_on_and_what_it_prints_is_told_and_kept() {
    let Some(site) = up() else { return };
    call(&site, "1");
    let text = site.wait_for_event("printed");
    assert!(text.starts_with("the program printed: step "), "{text}");
    assert!(text.contains("a real-time program should not"), "{text}");
    goes_on(&site, 0);
    let kept = printed(&site);
    for line in [" a\n", " b\n", "Z and more\n", "Z plainly\n"] {
        assert!(kept.contains(line), "{line:?}: {kept}");
    }
    assert!(!kept.contains("nowhere"), "{kept}");
    assert_eq!(site.value("library_Y.output"), 1.0, "nothing was refused");
}

/// Goal: a program that prints more than anybody reads waits for nobody, and fills no disk.
#[test]
fn a_program_that_prints_without_end_is_not_held_up() {
    let Some(site) = up() else { return };
    call(&site, "2");
    site.wait_for_event("printed");
    goes_on(&site, 0);
    assert!(printed(&site).len() < 4 << 20);
}

/// Goal: a program that closes whatever is open hurts itself and not its exchange.
/// Method: after that it goes on, its exchange is read, and it takes commands; what needs the files
/// that it closed is refused, or done by another process.
#[test]
fn a_program_that_closes_all_files_runs_on() {
    let Some(site) = up() else { return };
    call(&site, "3");
    goes_on(&site, 0);
    site.change(ChangeKind::Force, "library_Y.output", Some("7.5"));
    site.wait_for_value("library_Y.output", |value| value == 7.5);
    site.wait_for("running", |state| *state == Activity::Running);
}

/// Goal: a program that is cut off while the C library holds a lock for it is told to be at fault,
/// its outputs are set, and it runs again in bounded time, in a process of its own where the lock
/// was not given back.
/// Method: it does nothing but call `malloc` and `free`, or `dlsym`, until it is cut off.
#[test]
fn a_program_that_is_cut_off_in_a_library_is_told_and_runs_again() {
    let Some(site) = up() else { return };
    for (number, restarts) in [("4", 1), ("5", 2)] {
        call(&site, number);
        let end = std::time::Instant::now() + site::PATIENCE;
        while site.client().list().unwrap()[0].restarts < restarts {
            assert!(std::time::Instant::now() < end, "it was not restarted");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        site.wait_for("running", |state| *state == Activity::Running);
        goes_on(&site, restarts);
    }
    let text = site.wait_for_event("loop");
    assert!(text.contains("did not return"), "{text}");
    assert_eq!(site.told("hung"), None, "no task stood still");
}

/// Goal: a person learns which line of the program called what crashed in a library.
#[test]
fn a_crash_in_a_library_is_placed_where_the_program_called_it() {
    let Some(site) = up() else { return };
    call(&site, "7");
    let text = site.wait_for_event("crash");
    let place = "SIGSEGV inside of a library that it called in `measure_nothing` (library.c:41)";
    assert!(text.contains(place), "{text}");
}

/// Goal: a person who asks for a cold restart gets one where that takes another process, too.
/// Method: a deployed program is cut off while it waits in the C library, and taken back for the
/// one before, which runs on and retains its values in every cycle.
#[test]
fn a_cold_restart_in_another_process_begins_anew() {
    let Some(site) = up() else { return };
    let changed = site.folder.path().join("changed/library");
    let step = "switch (library_P.call) {";
    site::copy_model("library", &changed, &[(step, &format!("wait_for_ever();\n    {step}"))]);
    let patience = DeployPatience::UntilProven;
    let deployed = site.client().ask::<Deployed>("axis", Verb::deploy(&changed, patience)).unwrap();
    assert!(matches!(deployed.probation, Probation::TakenBack { .. }), "{deployed:?}");
    site.change(ChangeKind::Set, "library_DW.total", Some("1000000"));
    site.change(ChangeKind::Force, "library_Y.output", Some("7.5"));
    goes_on(&site, 0);
    restart(&site, Restart::Cold);
    assert!(site.value("library_DW.total") < 500_000.0, "nothing was retained");
    goes_on(&site, 0);
    assert_eq!(site.value("library_Y.output"), 7.5, "it is forced");
}

/// Goal: a person can start a program that was given up after it was cut off in a library.
/// Method: no restart is allowed after a fault.
#[test]
fn a_program_that_was_cut_off_and_given_up_is_started_by_a_person() {
    let Some(site) = up_with(&[("limit = 3", "limit = 0")]) else { return };
    site.change(ChangeKind::Force, "library_Y.output", Some("7.5"));
    call(&site, "8");
    site.wait_for("in fault", |state| matches!(state, Activity::Fault { .. }));
    restart(&site, Restart::Origin);
    goes_on(&site, 0);
    assert_eq!(site.value("library_Y.output"), 1.0, "nothing is forced any more");
    assert_eq!(site.client().list().unwrap()[0].forces, 0);
}

/// Restarts the program in another process, and waits for that.
fn restart(site: &Site, how: Restart) {
    let process = || site.client().list().unwrap()[0].pid;
    let before = process();
    site.client().ask::<Done>("axis", Verb::Restart { how }).unwrap();
    let end = std::time::Instant::now() + site::PATIENCE;
    while process().is_none_or(|now| Some(now) == before) {
        assert!(std::time::Instant::now() < end, "it has the same process");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    site.wait_for("running", |state| *state == Activity::Running);
}

/// Goal: a standstill shows while it lasts, though nobody in the process counts.
/// Method: the process is stopped from outside, for less than it takes to be ended for that.
#[test]
fn releases_of_a_process_that_stands_still_are_missed_cycles() {
    let Some(site) = up() else { return };
    let state = || site.client().list().unwrap().remove(0);
    let before = state();
    let process = Pid::from_raw(before.pid.unwrap().cast_signed()).unwrap();
    kill_process(process, Signal::STOP).unwrap();
    let end = std::time::Instant::now() + site::PATIENCE;
    // At last the process is ended for that, and another one counts anew.
    while state().absent_cycles < 40 {
        assert!(std::time::Instant::now() < end, "{:?}", state());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let after = state();
    assert!(after.missed_cycles >= after.absent_cycles, "{after:?}");
    let _ = kill_process(process, Signal::CONT);
    site.wait_for("running", |state| *state == Activity::Running);
}

/// Goal: what a program is at fault for, and how its process ended, is counted.
#[test]
fn faults_are_counted_with_the_last_of_them() {
    let Some(site) = up() else { return };
    let state = || site.client().list().unwrap().remove(0);
    assert_eq!(state().faults.count, 0);
    call(&site, "4");
    site.wait_for_event("loop");
    site.wait_for("running", |state| *state == Activity::Running);
    let faults = state().faults;
    assert_eq!(faults.count, 1, "{faults:?}");
    let last = faults.last.unwrap();
    assert!(last.why.contains("did not return") && last.cycle.is_some(), "{last:?}");
}
