//! A site with a real program in a real process: written to, forced, deployed to, crashed, killed.
//!
//! Method: a small C program in the generator's style runs at 5 ms; a client on the control socket
//! does what `quietcore set`, `force` and `deploy` do, and the exchange is read from outside.

mod site;

use std::path::Path;
use std::time::{Duration, Instant};

use quietcore_exchange::{TRACE_VARIABLES_MAX, TraceStep};
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::{
    Activity, Applied, Change, ChangeKind, DeployPatience, Deployed, Done, Paused, Restart, Trace,
    TraceStarted, Verb, WhyNoEffect,
};
use quietcore_supervisor::monitor::Monitor;
use quietcore_supervisor::places::StartedBy;
use quietcore_units::Nanos;
use rustix::process::{Pid, Signal, kill_process};
use site::{PATIENCE, SITE, Site, copy_model};

#[test]
fn a_set_acts_once_and_a_force_until_it_is_released() {
    let site = Site::up(SITE, "counter");
    site.change(ChangeKind::Set, "counter_U.input", Some("21"));
    site.wait_for_value("counter_Y.output", |value| value == 42.0);
    // The program writes its output in each cycle; the force undoes that after the step.
    site.change(ChangeKind::Force, "counter_Y.output", Some("7.5"));
    site.wait_for_value("counter_Y.output", |value| value == 7.5);
    let before = site.value("counter_DW.total");
    site.wait_for_value("counter_DW.total", |value| value > before + 20.0);
    assert_eq!(site.value("counter_Y.output"), 7.5, "held after the client has gone");
    assert_eq!(site.client().list().unwrap()[0].forces, 1);
    site.change(ChangeKind::Unforce, "counter_Y.output", None);
    site.wait_for_value("counter_Y.output", |value| value == 42.0);
}

#[test]
fn a_group_is_applied_whole_or_not_at_all() {
    let site = Site::up(SITE, "counter");
    let set = |variable: &str, value: &str| Change {
        kind: ChangeKind::Set,
        variable: variable.to_owned(),
        value: Some(value.to_owned()),
        allow_nan: false,
    };
    let group = [set("counter_U.input", "3"), set("counter_P.gian", "4")];
    let refused =
        site.client().ask::<Applied>("axis", Verb::write(group.to_vec())).unwrap_err().to_string();
    assert!(refused.contains("perhaps `gain`"), "the nearest name: {refused}");
    assert_eq!(site.value("counter_U.input"), 0.0);
    let refused = site
        .client()
        .ask::<Applied>("axis", Verb::write([set("counter_P.misbehave", "x")]))
        .unwrap_err();
    assert!(refused.to_string().contains("`x`"), "{refused}");
    let group = [set("counter_U.input", "3"), set("counter_P.gain", "4")];
    site.client().ask::<Applied>("axis", Verb::write(group.to_vec())).unwrap();
    site.wait_for_value("counter_Y.doubled", |value| value == 24.0);
}

#[test]
fn a_crash_is_named_and_the_program_restarts_with_what_it_retains() {
    let site = Site::up(SITE, "counter");
    let before = site.wait_for_value("counter_DW.total", |value| value > 50.0);
    site.change(ChangeKind::Set, "counter_P.misbehave", Some("1"));
    let text = site.wait_for_event("crash");
    assert!(text.contains("SIGFPE") && text.contains("counter_step"), "{text}");
    assert!(text.contains("counter.c:"), "with file and line: {text}");
    let text = site.wait_for_event("restarted");
    let cycles = text.strip_prefix("the program was started anew after its fault, ");
    let cycles = cycles.and_then(|rest| rest.strip_suffix(" cycles without it"));
    let cycles: Option<u64> = cycles.and_then(|count| count.parse().ok());
    // It waits for 10 ms, which are two cycles.
    assert!(cycles.is_some_and(|cycles| cycles >= 2), "{text}");
    let events = site.client().events(0).unwrap();
    assert!(!events.iter().any(|event| event.text.contains("build 2")), "it is the same program");
    site.wait_for("running", |state| *state == Activity::Running);
    assert_eq!(site.value("counter_P.misbehave"), 0.0, "not retained");
    site.wait_for_value("counter_DW.total", |value| value > before + 10.0);
    assert_eq!(site.client().list().unwrap()[0].restarts, 1);
}

#[test]
fn a_step_that_never_ends_is_ended_and_named() {
    let site = Site::up(SITE, "counter");
    site.change(ChangeKind::Set, "counter_P.misbehave", Some("2"));
    let text = site.wait_for_event("loop");
    assert!(text.contains("did not return") && text.contains("counter_step"), "{text}");
    site.wait_for_event("restarted");
    site.wait_for("running", |state| *state == Activity::Running);
}

/// Goal: a change says what it has changed, and whoever reads the events sees who asked.
/// Method: a parameter, a variable that is forced, and an output that the program writes.
#[test]
fn what_was_set_is_told_with_who_asked_and_acts_on_the_value_before() {
    let site = Site::up(SITE, "counter");
    let set = |variable: &str, value: &str| Change {
        kind: ChangeKind::Set,
        variable: variable.to_owned(),
        value: Some(value.to_owned()),
        allow_nan: false,
    };
    site.wait_for_value("counter_DW.total", |value| value > 5.0);
    site.change(ChangeKind::Force, "counter_Y.doubled", Some("7"));
    let changes = vec![
        set("counter_U.input", "21"),
        set("counter_Y.doubled", "8"),
        set("counter_Y.output", "-3"),
    ];
    let verb = Verb::Write { changes, confirm: true };
    let applied: Applied = site.client().ask("axis", verb).unwrap();
    let [input, doubled, output] = &applied.effects[..] else { panic!("{applied:?}") };
    assert_eq!((input.old.as_deref(), input.new.as_deref()), (Some("0.0"), Some("21.0")));
    assert_eq!(input.without_effect, None);
    assert_eq!(doubled.old.as_deref(), Some("7.0"));
    assert_eq!(doubled.without_effect, Some(WhyNoEffect::HeldByForce));
    assert_eq!(output.without_effect, None, "it follows the input that was set");
    let told = site.client().events(0).unwrap().into_iter().find(|event| event.kind == "set");
    let by = told.and_then(|event| event.by).expect("somebody asked");
    let own = StartedBy::this_process().user;
    assert!(by.contains(&own), "{by}");
    let told = site.client().events(0).unwrap().into_iter().find(|event| event.kind == "asked");
    let told = told.expect("somebody asked for the force");
    assert_eq!(told.text, "to hold by force: `counter_Y.doubled`");
    assert_eq!(told.by.as_ref(), Some(&by));
    let released: Applied = site.client().ask("axis", Verb::UnforceAll).unwrap();
    let names: Vec<_> = released.effects.iter().map(|it| it.change.variable.as_str()).collect();
    assert_eq!(
        (names, released.effects[0].old.as_deref()),
        (vec!["counter_Y.doubled"], Some("7.0"))
    );
}

/// Goal: a program is held between two cycles, can be looked at, and goes on as if nothing was.
#[test]
fn a_paused_program_stands_between_two_cycles_and_goes_on() {
    let site = Site::up(SITE, "counter");
    site.wait_for_value("counter_DW.total", |value| value > 5.0);
    let mut client = site.client();
    let begin = Instant::now();
    client.ask::<Paused>("axis", Verb::Pause).unwrap();
    client.ask::<Paused>("axis", Verb::Pause).expect("it is so already");
    site.wait_for("paused", |state| *state == Activity::Paused);
    let held = site.value("counter_DW.total");
    let trace = Trace { variables: vec!["counter_Y.output".to_owned()], every: 1, task: 0 };
    let refused = client
        .ask::<TraceStarted>("axis", Verb::TraceStart { trace: trace.clone() })
        .unwrap_err()
        .to_string();
    assert!(refused.contains("paused") && refused.contains("quietcore resume axis"), "{refused}");
    // A value that is set meanwhile is seen, and holds in the first step.
    site.change(ChangeKind::Set, "counter_U.input", Some("21"));
    site.change(ChangeKind::Force, "counter_Y.doubled", Some("7"));
    assert_eq!((site.value("counter_U.input"), site.value("counter_Y.doubled")), (21.0, 7.0));
    assert_eq!(site.wait_for_event("set"), "`counter_U.input` is set to 21.0");
    assert_eq!(site.value("counter_Y.output"), 0.0, "no step was run");
    // This is longer than a partition may stand still unasked.
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(site.value("counter_DW.total"), held);
    client.ask::<Paused>("axis", Verb::Resume).unwrap();
    site.wait_for_value("counter_DW.total", |value| value > held + 5.0);
    site.wait_for("running", |state| *state == Activity::Running);
    assert_eq!((site.value("counter_Y.output"), site.value("counter_Y.doubled")), (42.0, 7.0));
    let state = client.list().unwrap().remove(0);
    assert_eq!(state.restarts, 0);
    assert!(state.missed_cycles < 500, "the pause is none: {}", state.missed_cycles);
    let resumed = site.wait_for_event("resumed");
    let pause = resumed.rsplit("after a pause of ").next().unwrap().parse::<Nanos>().unwrap();
    // It is rounded to 10 ms.
    let possible = Duration::from_millis(2490)..begin.elapsed() + Duration::from_millis(10);
    assert!(possible.contains(&Duration::from_nanos(pause.get())), "{resumed}: {possible:?}");
}

#[test]
fn a_program_that_fails_again_and_again_is_not_restarted_for_ever() {
    let site = Site::up(SITE, "counter");
    for attempt in 1..=4_u32 {
        site.wait_for("running", |state| *state == Activity::Running);
        site.change(ChangeKind::Set, "counter_P.misbehave", Some("4"));
        let end = Instant::now() + PATIENCE;
        let expected = attempt.min(3);
        while site.client().list().unwrap()[0].restarts < expected {
            assert!(Instant::now() < end, "no restart number {expected}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let state = site.wait_for("in fault", |state| matches!(state, Activity::Fault { .. }));
    assert!(state.to_string().contains("error status"), "{state}");
    site.client().ask::<Done>("axis", Verb::Restart { how: Restart::Cold }).unwrap();
    site.wait_for("running", |state| *state == Activity::Running);
}

/// Goal: a program that fails in its first step after a restart has its limit, too.
/// Method: it crashes at a count that it retains, so that each restart swaps in a build which
/// crashes in the very same cycle.
#[test]
fn a_program_that_fails_in_its_first_step_is_not_restarted_for_ever() {
    let site = Site::up(SITE, "counter");
    let changed = site.folder.path().join("changed");
    copy_model(
        "counter",
        &changed,
        &[("counter_DW.total++;", "counter_DW.total++; if (counter_DW.total > 500) *nowhere = 1;")],
    );
    site.client()
        .ask::<Deployed>("axis", Verb::deploy(&changed, DeployPatience::UntilItRuns))
        .unwrap();
    site.wait_for_value("counter_DW.total", |value| value > 498.0);
    let state = site.wait_for("in fault", |state| matches!(state, Activity::Fault { .. }));
    assert!(state.to_string().contains("SIGSEGV"), "{state}");
    assert_eq!(site.client().list().unwrap()[0].restarts, 3);
    let events = site.client().events(0).unwrap();
    let crashes = events.iter().filter(|event| event.kind == "crash");
    assert_eq!(crashes.count(), 4, "the first, and one after each restart");
}

/// Goal: a restart after a fault that can't be done is tried again.
/// Method: the site's builds are away while the program crashes, and come back.
#[test]
fn a_restart_that_is_refused_is_tried_again() {
    let patient = SITE.replace("limit = 3, wait = \"10 ms\"", "limit = 100, wait = \"200 ms\"");
    let site = Site::up(&patient, "counter");
    let away = site.builds.with_extension("away");
    std::fs::rename(&site.builds, &away).unwrap();
    site.change(ChangeKind::Set, "counter_P.misbehave", Some("1"));
    let text = site.wait_for_event("restart-refused");
    assert!(text.starts_with("the program could not be started anew after its fault: "), "{text}");
    std::fs::rename(&away, &site.builds).unwrap();
    site.wait_for("running", |state| *state == Activity::Running);
    assert!(site.client().list().unwrap()[0].restarts >= 2);
}

#[test]
fn a_deploy_carries_the_state_over_and_loses_no_cycle() {
    let site = Site::up(SITE, "counter");
    site.change(ChangeKind::Set, "counter_U.input", Some("10"));
    let before = site.wait_for_value("counter_DW.total", |value| value > 30.0);
    let (header, changed) = (site.folder.path().join("g.h"), site.folder.path().join("changed"));
    std::fs::write(&header, "#define GAIN 3.0\n").unwrap();
    let include = format!("#include \"{}\"\n#include \"counter.h\"", header.display());
    let replacements = [("= {2.0, 0}", "= {GAIN, 0}"), ("#include \"counter.h\"", &include)];
    copy_model("counter", &changed, &replacements);
    let mut progress = Vec::new();
    let mut deploy = || {
        let deploy = Verb::deploy(&changed, DeployPatience::UntilProven);
        let mut hear = |line: &str| progress.push(line.to_owned());
        let deployed = site.client().ask_hearing::<Deployed>("axis", deploy, &mut hear);
        deployed.unwrap_or_else(|error| panic!("{error}"))
    };
    let deployed = deploy();
    assert_eq!(deployed.generation, 2);
    assert!(deployed.carried >= 6, "{deployed:?}");
    site.wait_for_value("counter_Y.output", |value| value == 30.0);
    std::fs::write(&header, "#define GAIN 4.0\n").unwrap();
    deploy();
    site.wait_for_value("counter_Y.output", |value| value == 40.0);
    let remark = format!("remark: it reads `{}` outside of its folder", header.display());
    assert!(progress.iter().any(|line| line.starts_with(&remark)), "{progress:?}");
    assert!(site.value("counter_DW.total") > before, "the count goes on");
    // The machine is shared, so the gap is shown, but need not be zero.
    println!("the swap lost {} cycles", deployed.gap_cycles);
    let broken = site.folder.path().join("broken");
    copy_model("counter", &broken, &[("= {2.0, 0}", "= {no number, 0}")]);
    let refused = site
        .client()
        .ask::<Deployed>("axis", Verb::deploy(&broken, DeployPatience::UntilItRuns))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("counter.c"), "as the compiler said it: {refused}");
    let begin = "axis: the old program runs on, as the one in `";
    assert!(refused.starts_with(begin) && !refused.contains(".toml"), "{refused}");
    assert_eq!(site.client().list().unwrap()[0].generation, 3);
}

/// Goal: what is done to a partition and what happens to it can be read afterwards, by name.
/// Method: the same from another client, of a site whose segment loses a SubDevice for a while.
#[test]
fn what_has_happened_is_told_by_name() {
    let segment = r#"
[fieldbus.ec0]
partition = "axis"
interface = "sim"
cycle = "5 ms"

[[fieldbus.ec0.subdevice]]
name = "head"
device = "coupler"

[[fieldbus.ec0.subdevice]]
name = "keys"
device = "digital-input-8"

[[fieldbus.ec0.fault]]
at = "200 ms"
duration = "300 ms"
kind = "unplug"
subdevice = "keys"
"#;
    let site = Site::up(&format!("{SITE}{segment}"), "counter");
    site.change(ChangeKind::Force, "counter_Y.output", Some("7.5"));
    assert_eq!(site.wait_for_event("force"), "`counter_Y.output` is held by force");
    site.client().ask::<Applied>("axis", Verb::UnforceAll).unwrap();
    assert!(site.wait_for_event("unforce").contains("1 of them"));
    site.client().ask::<Done>("axis", Verb::Restart { how: Restart::Warm }).unwrap();
    assert!(site.wait_for_event("restarted").contains("as asked"));
    let changed = site.folder.path().join("changed");
    copy_model("counter", &changed, &[("= {2.0, 0}", "= {3.0, 0}")]);
    site.client()
        .ask::<Deployed>("axis", Verb::deploy(&changed, DeployPatience::UntilItRuns))
        .unwrap();
    let text = site.wait_for_event("deployed");
    assert!(text.starts_with("build 3 was deployed: ") && text.contains("carried over"), "{text}");
    let text = site.wait_for_event("subdevice-lost");
    assert_eq!(text, "SubDevice 1 `keys` does not answer");
    let text = site.wait_for_event("subdevice-recovered");
    assert_eq!(text, "SubDevice 1 `keys` is in OP again");
}

#[test]
fn a_deploy_that_fails_is_taken_back() {
    let site = Site::up(SITE, "counter");
    site.change(ChangeKind::Set, "counter_U.input", Some("10"));
    let changed = site.folder.path().join("changed");
    copy_model("counter", &changed, &[("= {2.0, 0}", "= {5.0, 0}")]);
    let source = changed.join("counter.c");
    let text = std::fs::read_to_string(&source).unwrap();
    let text = text.replace("counter_DW.total++;", "counter_DW.total++; *nowhere = 3;");
    std::fs::write(&source, text).unwrap();
    let deployed =
        site.client().ask::<Deployed>("axis", Verb::deploy(&changed, DeployPatience::UntilItRuns));
    println!("{deployed:?}");
    site.wait_for_event("reverted");
    site.wait_for_value("counter_Y.output", |value| value == 20.0);
    site.wait_for("running", |state| *state == Activity::Running);
    copy_model("counter", &changed, &[("= {2.0, 0}", "= {3.0, 0}")]);
    let deployed =
        site.client().ask::<Deployed>("axis", Verb::deploy(&changed, DeployPatience::UntilItRuns));
    let deployed = deployed.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(deployed.generation, 3, "no two builds have one number");
}

/// Halts a process and waits until none of its threads runs: one may finish a cycle until then.
fn halt(process: Pid) {
    kill_process(process, Signal::STOP).expect("a process of this test");
    let tasks = format!("/proc/{}/task", process.as_raw_nonzero());
    let stands_still = |task: &Path| {
        let stat = std::fs::read_to_string(task.join("stat")).expect("a thread that was listed");
        stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('T'))
    };
    let end = Instant::now() + PATIENCE;
    let threads = || std::fs::read_dir(&tasks).expect("a process that runs");
    while !threads().all(|task| stands_still(&task.expect("a thread").path())) {
        assert!(Instant::now() < end, "a thread of {tasks} goes on");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn process_of(site: &Site) -> Pid {
    let pid = site.client().list().expect("the site answers")[0].pid.expect("a process");
    Pid::from_raw(pid.cast_signed()).expect("a number")
}

#[test]
fn a_killed_partition_comes_back_with_its_retained_values() {
    let site = Site::up(SITE, "counter");
    let before = site.wait_for_value("counter_DW.total", |value| value > 40.0);
    let process = process_of(&site);
    kill_process(process, Signal::KILL).unwrap();
    site.wait_for_event("process-lost");
    site.wait_for("running", |state| *state == Activity::Running);
    let after = site.value("counter_DW.total");
    assert!(after >= before, "{after} after {before}");
}

/// Returns the site with a watchdog that tolerates a process which is halted in the middle of a
/// step.
fn unwatched() -> String {
    let text = SITE.replace("watchdog = \"1 s\"", "watchdog = \"10 s\"");
    assert_ne!(text, SITE);
    text
}

/// Goal: what was not taken in time says whether it may come later, and a recording does not.
/// Method: a process that is halted for a while, whose watchdog outlasts the halt.
#[test]
fn what_is_not_taken_in_time_says_what_becomes_of_it() {
    let site = Site::up(&unwatched(), "counter");
    let process = process_of(&site);
    halt(process);
    let change = Change {
        kind: ChangeKind::Set,
        variable: "counter_U.input".to_owned(),
        value: Some("21".to_owned()),
        allow_nan: false,
    };
    let mut client = site.client();
    let late = client.ask::<Applied>("axis", Verb::write([change])).unwrap_err().to_string();
    let trace = Trace { variables: vec!["counter_Y.output".to_owned()], every: 1, task: 0 };
    let refused = client
        .ask::<TraceStarted>("axis", Verb::TraceStart { trace: trace.clone() })
        .unwrap_err()
        .to_string();
    kill_process(process, Signal::CONT).unwrap();
    assert!(late.contains("within 2.0 s; it may still be applied"), "{late}");
    assert!(refused.contains("the task runs no cycles"), "{refused}");
    site.wait_for_value("counter_Y.output", |value| value == 42.0);
    let monitor = Monitor::open(&mut client, "axis").unwrap();
    let mut reader = monitor.trace(0).unwrap();
    assert_eq!(reader.step(&mut [0; TRACE_VARIABLES_MAX]), TraceStep::Configured);
    assert!(reader.configuration().places().is_empty(), "it was withdrawn");
}

#[test]
fn a_site_that_comes_up_again_is_warm_and_a_cold_one_is_not() {
    let mut site = Site::up(SITE, "counter");
    let before = site.wait_for_value("counter_DW.total", |value| value > 100.0);
    site.running = None;
    assert!(Client::connect(&site.places(), None).is_err(), "nothing runs");
    site.start(Restart::Warm).unwrap();
    assert!(site.value("counter_DW.total") >= before);
    let told = site.wait_for_event("retained");
    assert!(told.contains("others than the program begins with: `counter_DW.total`; `quietcore"));
    site.running = None;
    site.start(Restart::Cold).unwrap();
    assert!(site.value("counter_DW.total") < before);
    let refused = site.start(Restart::Warm).unwrap_err();
    assert!(refused.contains("runs already"), "{refused}");
    let unknown =
        site.client().ask::<Done>("axle", Verb::Restart { how: Restart::Warm }).unwrap_err();
    assert!(unknown.to_string().contains("`axis`"), "the nearest name: {unknown}");
}

#[test]
fn retained_values_of_another_type_are_refused_and_not_guessed() {
    let mut site = Site::up(SITE, "counter");
    site.wait_for_value("counter_DW.total", |value| value > 30.0);
    site.running = None;
    let model = site.folder.path().join("counter");
    copy_model("counter", &model, &[("uint32_t total;", "float total;")]);
    let refused = site.start(Restart::Warm).unwrap_err();
    assert!(refused.contains("counter_DW.total") && refused.contains("--cold"), "{refused}");
    site.start(Restart::Cold).unwrap();
    site.wait_for_value("counter_DW.total", |value| value > 3.0);
}

/// Goal: a force is held or refused, and never let go by a build that was on its way already.
/// Method: the process is halted, so that the build which was ordered stays on its way.
#[test]
fn a_force_is_refused_while_a_build_is_on_its_way() {
    let site = Site::up(&unwatched(), "counter");
    let process = process_of(&site);
    halt(process);
    let force = Change {
        kind: ChangeKind::Force,
        variable: "counter_Y.output".to_owned(),
        value: Some("7.5".to_owned()),
        allow_nan: false,
    };
    let restarted = std::thread::scope(|scope| {
        let restart =
            scope.spawn(|| site.client().ask::<Done>("axis", Verb::Restart { how: Restart::Warm }));
        let end = Instant::now() + PATIENCE;
        loop {
            let refused =
                site.client().ask::<Applied>("axis", Verb::write([force.clone()])).unwrap_err();
            if refused.to_string().contains("its swap would end the force") {
                break;
            }
            assert!(Instant::now() < end, "{refused}");
        }
        kill_process(process, Signal::CONT).unwrap();
        restart.join().unwrap()
    });
    restarted.unwrap();
    site.change(ChangeKind::Force, "counter_Y.output", Some("7.5"));
    site.wait_for_value("counter_Y.output", |value| value == 7.5);
}

#[test]
fn an_origin_restart_forgets_what_is_retained_and_lets_forces_go() {
    let site = Site::up(SITE, "counter");
    let before = site.wait_for_value("counter_DW.total", |value| value > 300.0);
    site.change(ChangeKind::Force, "counter_U.input", Some("5"));
    site.client().ask::<Done>("axis", Verb::Restart { how: Restart::Warm }).unwrap();
    assert!(site.value("counter_DW.total") >= before);
    assert_eq!(site.value("counter_U.input"), 5.0, "a force outlives a restart");
    site.client().ask::<Done>("axis", Verb::Restart { how: Restart::Origin }).unwrap();
    assert!(site.value("counter_DW.total") < before);
    site.wait_for_value("counter_U.input", |value| value == 0.0);
}
