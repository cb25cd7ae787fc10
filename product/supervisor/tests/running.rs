//! A site with a real program in a real process: written to, forced, deployed to, crashed, killed.
//!
//! Method: a small C program in the generator's style runs at 5 ms; a client on the control socket
//! does what `quietcore set`, `force` and `deploy` do, and the exchange is read from outside.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quietcore_record::class::catalogue;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::{Activity, Change, ChangeKind, ErrorKind, Restart};
use quietcore_supervisor::live::{Plan, Running};
use quietcore_supervisor::monitor::Monitor;
use quietcore_supervisor::places::Places;

const SITE: &str = r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "fast-control-loop"

[partition.vcr]
cpus = [0]

[partition.program]
model = "counter"
period = "5 ms"
policy = "other"
watchdog = "4 ms"
sensitivity = 25
retain = ["counter_DW.total"]
restart = { limit = 3, wait = "10 ms" }
"#;

/// Long enough for the busiest machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn runtime() -> PathBuf {
    let own = std::env::current_exe().expect("a test has a path");
    let folder = own.parent().and_then(Path::parent).expect("target/debug/deps/running");
    folder.join("examples/partition")
}

struct Site {
    folder: tempfile::TempDir,
    running: Option<Running>,
}

impl Site {
    fn up() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        copy_model(&folder.path().join("counter"), "2.0");
        let mut site = Self { folder, running: None };
        site.start(Restart::Warm).unwrap_or_else(|error| panic!("{error}"));
        site
    }

    fn places(&self) -> Places {
        Places::new(self.folder.path().join("run"), self.folder.path().join("state"))
    }

    fn start(&mut self, start: Restart) -> Result<(), String> {
        let site = quietcore_site::read("press.toml", SITE.as_bytes(), &catalogue());
        let plan = Plan {
            site: Arc::new(site.expect("a good site file")),
            site_file: self.folder.path().join("press.toml"),
            runtime: runtime(),
            start,
        };
        let running = Running::up(plan, &self.places(), &mut |line| println!("{line}"));
        self.running = Some(running.map_err(|error| error.to_string())?);
        self.wait_for("running", |state| *state == Activity::Running);
        Ok(())
    }

    fn client(&self) -> Client {
        Client::connect(&self.places(), None).expect("the site answers")
    }

    fn wait_for(&self, what: &str, is: impl Fn(&Activity) -> bool) -> Activity {
        let end = Instant::now() + PATIENCE;
        loop {
            let state = self.client().list().expect("the site answers").remove(0).state;
            if is(&state) {
                return state;
            }
            let events = self.client().events(0).expect("the site answers");
            let told: Vec<_> = events.iter().map(|event| (&event.kind, &event.text)).collect();
            assert!(Instant::now() < end, "not {what} after 20 s: {state}: {told:#?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn value(&self, path: &str) -> f64 {
        let monitor = Monitor::open(&mut self.client(), "axis").expect("an exchange");
        let mut selection = monitor.select(&[path.to_owned()]).expect("a variable");
        monitor.read(&mut selection).expect("a reading");
        selection.value(&selection.variables()[0]).as_f64().expect("a number")
    }

    fn wait_for_value(&self, path: &str, is: impl Fn(f64) -> bool) -> f64 {
        let end = Instant::now() + PATIENCE;
        loop {
            let value = self.value(path);
            if is(value) {
                return value;
            }
            assert!(Instant::now() < end, "`{path}` is {value} after 20 s");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn change(&self, kind: ChangeKind, variable: &str, value: Option<&str>) -> u64 {
        let change =
            Change { kind, variable: variable.to_owned(), value: value.map(str::to_owned) };
        self.client().write("axis", &[change]).unwrap_or_else(|error| panic!("{error}")).cycle
    }

    fn told(&self, kind: &str) -> Option<String> {
        let events = self.client().events(0).expect("the site answers");
        events.into_iter().find(|event| event.kind == kind).map(|event| event.text)
    }

    fn wait_for_event(&self, kind: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(text) = self.told(kind) {
                return text;
            }
            let events = self.client().events(0).expect("the site answers");
            assert!(Instant::now() < end, "no event `{kind}` in {events:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Writes the program with another initial gain.
fn copy_model(to: &Path, gain: &str) {
    std::fs::create_dir_all(to).expect("a folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/counter");
    for entry in std::fs::read_dir(from).expect("the model").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("a source");
        let text = text.replace("= {2.0, 0}", &format!("= {{{gain}, 0}}"));
        std::fs::write(to.join(entry.file_name()), text).expect("a copy");
    }
}

#[test]
fn a_set_acts_once_and_a_force_until_it_is_released() {
    let site = Site::up();
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
    let site = Site::up();
    let set = |variable: &str, value: &str| Change {
        kind: ChangeKind::Set,
        variable: variable.to_owned(),
        value: Some(value.to_owned()),
    };
    let group = [set("counter_U.input", "3"), set("counter_P.gian", "4")];
    let refused = site.client().write("axis", &group).unwrap_err().to_string();
    assert!(refused.contains("perhaps `gain`"), "the nearest name: {refused}");
    assert_eq!(site.value("counter_U.input"), 0.0);
    let refused = site.client().write("axis", &[set("counter_P.misbehave", "x")]).unwrap_err();
    assert!(refused.to_string().contains("`x`"), "{refused}");
    let group = [set("counter_U.input", "3"), set("counter_P.gain", "4")];
    site.client().write("axis", &group).unwrap();
    site.wait_for_value("counter_Y.doubled", |value| value == 24.0);
}

#[test]
fn a_crash_is_named_and_the_program_restarts_with_what_it_retains() {
    let site = Site::up();
    let before = site.wait_for_value("counter_DW.total", |value| value > 50.0);
    site.change(ChangeKind::Set, "counter_P.misbehave", Some("1"));
    let text = site.wait_for_event("crash");
    assert!(text.contains("SIGFPE") && text.contains("counter_step"), "{text}");
    assert!(text.contains("counter.c:"), "with file and line: {text}");
    site.wait_for_event("swapped");
    site.wait_for("running", |state| *state == Activity::Running);
    assert_eq!(site.value("counter_P.misbehave"), 0.0, "not retained");
    site.wait_for_value("counter_DW.total", |value| value > before + 10.0);
    assert_eq!(site.client().list().unwrap()[0].restarts, 1);
}

#[test]
fn a_step_that_never_ends_is_ended_and_named() {
    let site = Site::up();
    site.change(ChangeKind::Set, "counter_P.misbehave", Some("2"));
    let text = site.wait_for_event("loop");
    assert!(text.contains("did not return") && text.contains("counter_step"), "{text}");
    site.wait_for_event("swapped");
    site.wait_for("running", |state| *state == Activity::Running);
}

#[test]
fn a_program_that_fails_again_and_again_is_not_restarted_for_ever() {
    let site = Site::up();
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
    site.client().restart("axis", quietcore_supervisor::control::Restart::Cold).unwrap();
    site.wait_for("running", |state| *state == Activity::Running);
}

#[test]
fn a_deploy_carries_the_state_over_and_loses_no_cycle() {
    let site = Site::up();
    site.change(ChangeKind::Set, "counter_U.input", Some("10"));
    let before = site.wait_for_value("counter_DW.total", |value| value > 30.0);
    let changed = site.folder.path().join("changed");
    copy_model(&changed, "3.0");
    let mut progress = Vec::new();
    let deployed = site
        .client()
        .deploy("axis", &changed, &mut |line: &str| progress.push(line.to_owned()))
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(!progress.is_empty());
    assert_eq!(deployed.generation, 2);
    assert!(deployed.carried >= 6, "{deployed:?}");
    site.wait_for_value("counter_Y.output", |value| value == 30.0);
    assert!(site.value("counter_DW.total") > before, "the count goes on");
    // The machine is shared, so the gap is seen and not demanded to be zero.
    println!("the swap lost {} cycles", deployed.gap_cycles);
    let broken = site.folder.path().join("broken");
    copy_model(&broken, "no number");
    let refused = site.client().deploy("axis", &broken, &mut |_| {}).unwrap_err().to_string();
    assert!(refused.contains("counter.c"), "as the compiler said it: {refused}");
    assert_eq!(site.client().list().unwrap()[0].generation, 2);
}

#[test]
fn a_deploy_that_fails_is_taken_back() {
    let site = Site::up();
    site.change(ChangeKind::Set, "counter_U.input", Some("10"));
    let changed = site.folder.path().join("changed");
    copy_model(&changed, "5.0");
    let source = changed.join("counter.c");
    let text = std::fs::read_to_string(&source).unwrap();
    let text = text.replace("counter_DW.total++;", "counter_DW.total++; *nowhere = 3;");
    std::fs::write(&source, text).unwrap();
    let deployed = site.client().deploy("axis", &changed, &mut |_| {});
    println!("{deployed:?}");
    site.wait_for_event("reverted");
    site.wait_for_value("counter_Y.output", |value| value == 20.0);
    site.wait_for("running", |state| *state == Activity::Running);
}

#[test]
fn a_killed_partition_comes_back_with_its_retained_values() {
    let site = Site::up();
    let before = site.wait_for_value("counter_DW.total", |value| value > 40.0);
    let pid = site.client().list().unwrap()[0].pid.expect("a process");
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a number");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    site.wait_for_event("process-lost");
    site.wait_for("running", |state| *state == Activity::Running);
    let after = site.value("counter_DW.total");
    assert!(after >= before, "{after} after {before}");
}

#[test]
fn a_site_that_comes_up_again_is_warm_and_a_cold_one_is_not() {
    let mut site = Site::up();
    let before = site.wait_for_value("counter_DW.total", |value| value > 100.0);
    site.running = None;
    assert!(Client::connect(&site.places(), None).is_err(), "nothing runs");
    site.start(Restart::Warm).unwrap();
    assert!(site.value("counter_DW.total") >= before);
    site.running = None;
    site.start(Restart::Cold).unwrap();
    assert!(site.value("counter_DW.total") < before);
    let second = Running::up(
        Plan {
            site: Arc::new(
                quietcore_site::read("press.toml", SITE.as_bytes(), &catalogue()).unwrap(),
            ),
            site_file: site.folder.path().join("press.toml"),
            runtime: runtime(),
            start: Restart::Warm,
        },
        &site.places(),
        &mut |_| {},
    );
    let refused = second.expect_err("it runs already").to_string();
    assert!(refused.contains("runs already"), "{refused}");
    let unknown = site.client().restart("axle", Restart::Warm).unwrap_err();
    println!("{unknown} {:?}", ErrorKind::NoPartition);
}
