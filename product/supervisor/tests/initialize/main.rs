//! Programs that fail before their first step: in `initialize`, in a library that it calls, or in
//! the startup hook of an OSEK program.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../site/mod.rs"]
mod site;

use quietcore_supervisor::control::{
    Activity, ChangeKind, DeployPatience, Deployed, Done, Restart, Verb,
};
use site::{SITE, Site, copy_model};

const INITIALIZE: &str = "counter_DW.total = 0;";
const HEADER: &str = "#include \"counter.h\"\n";

/// Returns `true` if partitions are guests, whose libraries are a part of their programs.
fn is_guest() -> bool {
    std::env::var("QUIETCORE_TEST_BACKEND")
        .is_ok_and(|backend| backend.contains("kvm") || backend.contains("qemu"))
}

/// Deploys the program with some of its text replaced, and returns why it is refused.
/// Meanwhile what runs goes on to count in `counted`.
fn refused(site: &Site, model: &str, counted: &str, replacements: &[(&str, &str)]) -> String {
    let changed = site.folder.path().join("changed").join(model);
    let _ = std::fs::remove_dir_all(&changed);
    copy_model(model, &changed, replacements);
    let deploy = Verb::deploy(&changed, DeployPatience::UntilItRuns);
    let refusal = site.client().ask::<Deployed>("axis", deploy).unwrap_err().to_string();
    let total = site.value(counted);
    site.wait_for_value(counted, |value| value > total + 5.0);
    refusal
}

/// Goal: a program that can't start says where, as one that crashes in a step does.
/// Method: it crashes in each start, so that it is given up.
#[test]
fn a_program_that_crashes_in_initialize_says_where_and_its_partition_stops() {
    let mut site = Site::up(&SITE.replace("limit = 3", "limit = 1"), "counter");
    site.running = None;
    let model = site.folder.path().join("counter");
    copy_model("counter", &model, &[(INITIALIZE, "*nowhere = 1;")]);
    let said = "the program did not start: `initialize` of build 1 crashed: SIGSEGV in \
                `counter_initialize` (counter.c:17), at address 0x40";
    assert_eq!(site.start(Restart::Warm), Err(said.to_owned()));
    let crash = site.wait_for_event("crash");
    assert!(said.ends_with(&crash), "{crash}");
    assert_eq!(site.told("process-lost").as_deref(), Some(said));
    let faults = &site.client().list().unwrap()[0].faults;
    assert_eq!((faults.count, faults.last.as_ref().unwrap().why.as_str()), (2, said));
}

/// Goal: the place is that of the build that was deployed, whatever runs beside it, and that goes
/// on.
#[test]
fn a_deploy_that_crashes_in_initialize_is_refused_with_its_place() {
    let site = Site::up(SITE, "counter");
    site.change(ChangeKind::Set, "counter_U.input", Some("10"));
    // Two lines lower than in the build that runs.
    let lower = format!("\n\n{HEADER}");
    let why = refused(
        &site,
        "counter",
        "counter_DW.total",
        &[(HEADER, &lower), (INITIALIZE, "*nowhere = 1;")],
    );
    let place = "`initialize` of build 2 crashed: SIGSEGV in `counter_initialize` (counter.c:19)";
    assert!(why.contains(place), "{why}");
    for kind in ["crash", "stage-refused"] {
        let text = site.told(kind).unwrap();
        assert!(text.starts_with(place), "{kind}: {text}");
    }
    assert_eq!(site.client().list().unwrap()[0].faults.count, 0, "what runs is not at fault");
    let events = site.client().events(0).unwrap();
    let crash = events.iter().find(|event| event.kind == "crash").unwrap();
    assert_eq!(crash.cycle, None, "`initialize` is no cycle");
    let endless = "while (zero == 0) zero = 0;";
    let why = refused(&site, "counter", "counter_DW.total", &[(INITIALIZE, endless)]);
    let place = "`initialize` of build 3 did not return within 10.0 s: it was in \
                 `counter_initialize` (counter.c:17)";
    assert!(why.contains(place), "{why}");
    assert!(site.told("loop").unwrap().starts_with(place));
}

/// Goal: a person learns which line of `initialize` called what crashed in a library.
#[test]
fn a_crash_in_a_library_that_initialize_called_is_placed_where_it_was_called() {
    if is_guest() {
        quietcore_skip::skip!("a guest has no C library of the host");
        return;
    }
    let site = Site::up(SITE, "counter");
    let included = format!("{HEADER}#include <string.h>\n");
    let called = "const char *volatile nothing = 0; counter_DW.total = strlen(nothing);";
    let why =
        refused(&site, "counter", "counter_DW.total", &[(HEADER, &included), (INITIALIZE, called)]);
    let place = "`initialize` of build 2 crashed: SIGSEGV inside of a library that it called in \
                 `counter_initialize` (counter.c:18)";
    assert!(why.contains(place), "{why}");
}

/// Goal: a lock of a library that `initialize` has left is told beside its place.
/// Method: it crashes in the C library while it holds the lock of a stream.
#[test]
fn a_library_that_initialize_has_left_locked_is_told() {
    if is_guest() {
        quietcore_skip::skip!("a guest has no C library of the host");
        return;
    }
    let site = Site::up(SITE, "counter");
    let included = format!("{HEADER}#include <stdio.h>\n#include <string.h>\n");
    let locked = "const char *volatile nothing = 0; flockfile(stderr); counter_DW.total = \
                  strlen(nothing);";
    let why =
        refused(&site, "counter", "counter_DW.total", &[(HEADER, &included), (INITIALIZE, locked)]);
    let place = "`initialize` of build 2 crashed: SIGSEGV inside of a library that it called in \
                 `counter_initialize` (counter.c:19)";
    assert!(why.contains(place), "{why}");
    assert!(why.contains("a library is left locked"), "{why}");
}

/// Goal: a restart after a fault whose `initialize` crashes says so with the place.
/// Method: `initialize` crashes where it runs a second time in one process, whose environment
/// remembers the first.
#[test]
fn a_restart_that_crashes_in_initialize_says_where() {
    if is_guest() {
        quietcore_skip::skip!("nothing of a guest's program outlives its start");
        return;
    }
    let included = format!("{HEADER}#include <stdlib.h>\n");
    let second = "if (getenv(\"BEGUN\")) *nowhere = 1; setenv(\"BEGUN\", \"1\", 1);";
    let mut site = Site::up(SITE, "counter");
    site.running = None;
    let model = site.folder.path().join("counter");
    copy_model("counter", &model, &[(HEADER, &included[..]), (INITIALIZE, second)]);
    site.start(Restart::Warm).unwrap();
    let restart = Verb::Restart { how: Restart::Cold };
    let answer = site.client().ask::<Done>("axis", restart);
    let why = answer.unwrap_err().to_string();
    let place = "`initialize` of build 2 crashed: SIGSEGV in `counter_initialize` (counter.c:18)";
    assert!(why.contains(place), "{why}");
    site.wait_for("running", |state| *state == Activity::Running);
}

/// Goal: the same for an OSEK program, whose startup hook runs before its first task.
#[test]
fn a_crash_in_a_startup_hook_is_told_with_its_line() {
    let text =
        SITE.replace("\"counter\"", "\"osek_kernel\"").replace("counter_DW.total", "osek_DW.fast");
    let site = Site::up(&text, "osek_kernel");
    let hook = "void StartupHook(void)\n{\n    *nowhere = 1;\n}\n\nTASK(Fast)\n";
    let asked = ("ERRORHOOK = TRUE;", "ERRORHOOK = TRUE; STARTUPHOOK = TRUE;");
    let why = refused(&site, "osek_kernel", "osek_DW.fast", &[("TASK(Fast)\n", hook), asked]);
    let place = "`initialize` of build 2 crashed: SIGSEGV in `StartupHook` (osek.c:28)";
    assert!(why.contains(place), "{why}");
}
