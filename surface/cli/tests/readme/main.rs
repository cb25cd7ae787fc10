//! The commands of the pages for a running site and for an OSEK program, in their order, with a
//! check of the effect of each; and the site file that the README shows.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests call it in other ways")]
#[path = "../command/mod.rs"]
mod command;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use command::{Said, patient, quietcore, said};

/// The longest wait for the effect of a command, on a machine with much other work.
const EFFECT_MAX: Duration = Duration::from_secs(60);

const README: &str = include_str!("../../../../README.md");
const RUN_A_PROGRAM: &str = include_str!("../../../../docs/run-a-program.md");
const RUN_OSEK: &str = include_str!("../../../../docs/run-osek.md");

/// A copy of the files that the pages' commands need, with patient watchdogs, and a folder for
/// their sites.
struct Clone<'a> {
    folder: PathBuf,
    places: &'a Path,
}

/// Brings the site down, whatever the outcome of the test.
impl Drop for Clone<'_> {
    fn drop(&mut self) {
        self.call("quietcore down");
    }
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

impl<'a> Clone<'a> {
    fn new(places: &'a Path, name: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = places.join(name);
        copy(&root.join("models/servo"), &folder.join("models/servo"));
        copy(&root.join("examples"), &folder.join("examples"));
        let site = folder.join("examples/servo.toml");
        // At ordinary priority it also runs beside a site that somebody else has up on its CPU.
        let text = patient(&fs::read_to_string(&site).unwrap());
        let text = text.replace("priority = 90", "policy = \"other\"");
        fs::write(site, text).unwrap();
        Self { folder, places }
    }

    fn empty(places: &'a Path, name: &str) -> Self {
        let folder = places.join(name);
        fs::create_dir_all(&folder).unwrap();
        Self { folder, places }
    }

    fn call(&self, line: &str) -> Said {
        let arguments = line.strip_prefix("quietcore ").expect("a command").split(' ');
        let mut command = quietcore(&self.folder);
        command.args(arguments).env("QUIETCORE_RUN_DIR", self.places.join("run"));
        command.env("QUIETCORE_STATE_DIR", self.places.join("state"));
        said(&command.output().unwrap())
    }

    fn done(&self, line: &str) -> String {
        let Said { status, out, err } = self.call(line);
        assert_eq!(status, Some(0), "{line}: {out}{err}");
        out
    }

    /// Returns a value of a partition's program, and `true` if it is forced.
    fn value_in(&self, partition: &str, variable: &str) -> (serde_json::Value, bool) {
        let text = self.done(&format!("quietcore watch {partition} {variable} --once --json"));
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        let found = &read["values"][0];
        (found["value"].clone(), found["forced"].as_bool().unwrap())
    }

    fn value(&self, variable: &str) -> (serde_json::Value, bool) {
        self.value_in("axis", variable)
    }
}

/// Reserves the CPU of the sites' partitions, so that they don't delay each other. Returns `None`
/// on a machine with one CPU.
fn cpu_for_partition() -> Option<MutexGuard<'static, ()>> {
    static CPU: Mutex<()> = Mutex::new(());
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    // Another test that has failed has brought its site down.
    (cpus >= 2).then(|| CPU.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the block of a page that begins with a line, its comments cut off.
fn block(page: &str, first: &str) -> Vec<String> {
    let start = page.find(first).expect("the page has the block");
    let block = page[start..].split("\n```").next().unwrap_or_default();
    let command = |line: &str| line.split("  ").next().unwrap_or_default().to_owned();
    block.lines().map(command).collect()
}

#[test]
fn the_site_file_of_the_readme_is_the_smallest_example() {
    let example = include_str!("../../../../examples/minimal.toml");
    let site = &example[example.find("[site]").unwrap()..];
    assert!(README.contains(&format!("```toml\n{site}```")), "the README has another one");
}

/// Goal: the sequence leaves the servo as it was found; a second clone begins anew.
#[test]
fn the_commands_for_a_running_site_do_what_they_say() {
    let Some(_cpu) = cpu_for_partition() else {
        quietcore_skip::skip!("a machine with one CPU has none for a partition");
        return;
    };
    let places = tempfile::tempdir().unwrap();
    let clone = Clone::new(places.path(), "first");
    let commands = block(RUN_A_PROGRAM, "quietcore up examples/servo.toml --detach\n");
    let [up, set, force, unforce, trace, deploy, down] = &commands[..] else {
        panic!("the block has other commands: {commands:#?}");
    };
    clone.done(up);
    clone.done(set);
    assert_eq!(clone.value("servo_P.Kv"), (50.0.into(), false));
    assert_eq!(clone.value("servo_P.Enable"), (true.into(), false));
    clone.done(force);
    assert_eq!(clone.value("servo_P.Enable"), (false.into(), true));
    clone.done(unforce);
    assert_eq!(clone.value("servo_P.Enable"), (true.into(), false), "as before the force");
    clone.done(trace);
    assert!(fs::read_to_string(clone.folder.join("run.svg")).unwrap().contains("<svg"));
    let said = clone.done(&deploy.replace("FOLDER", "models/servo"));
    assert!(said.contains("and has passed its probation"), "{said}");
    assert_eq!(clone.value("servo_P.Kv"), (50.0.into(), false), "tuned by hand");
    clone.done(down);
    clone.done(up);
    assert_eq!(clone.value("servo_P.Enable"), (true.into(), false), "nothing was left behind");
    assert_eq!(clone.value("servo_P.Kv"), (50.0.into(), false), "retained");
    clone.done(down);

    let second = Clone::new(places.path(), "second");
    let Said { status, err, .. } = second.call(up);
    assert_eq!(status, Some(0), "{err}");
    assert!(err.contains("has retained is not taken over"), "{err}");
    assert_ne!(second.value("servo_P.Kv").0, 50.0, "the other clone's");
    second.done(down);
}

/// Goal: in an empty folder the block gives an OSEK program that runs, and shows what a task that
/// is too long does: the services refuse an activation, and that is an event.
#[test]
fn the_commands_for_an_osek_program_do_what_they_say() {
    let Some(_cpu) = cpu_for_partition() else {
        quietcore_skip::skip!("a machine with one CPU has none for a partition");
        return;
    };
    let places = tempfile::tempdir().unwrap();
    let clone = Clone::empty(places.path(), "empty");
    let commands = block(RUN_OSEK, "quietcore init --example osek");
    let [init, check, up, top, set, events, down] = &commands[..] else {
        panic!("the block has other commands: {commands:#?}");
    };
    let (init, file) = init.split_once(" > ").expect("its output is the site file");
    let site = clone.done(init);
    // A machine that is held up is no fault of the program here.
    let patient = patient(&site);
    // At ordinary priority it also runs beside a site that somebody else has up on its CPU.
    let ordinary = patient.replace("priority = 90", "policy = \"other\"");
    assert_ne!(ordinary, patient);
    fs::write(clone.folder.join(file), ordinary).unwrap();
    let tasks = ["Drive", "Sort", "Supervise", "Report"];
    let checked = clone.done(check);
    assert!(tasks.iter().all(|task| checked.contains(&format!("\n{task} "))), "{checked}");
    clone.done(up);
    let shown = clone.done(top);
    let runs = |line: &str| line.split_whitespace().take(2).eq(["conveyor", "running"]);
    assert!(shown.lines().any(runs), "{shown}");
    assert!(tasks.iter().all(|task| shown.contains(&format!("\n{task} "))), "{shown}");
    clone.done(set);
    let rounds = || clone.value_in("conveyor", "conveyor_P.report_rounds");
    assert_eq!(rounds(), (300_000_000.into(), false));
    let end = Instant::now() + EFFECT_MAX;
    let is_told = || clone.done(events).contains("E_OS_LIMIT in ActivateTask");
    while !is_told() {
        assert!(Instant::now() < end, "no task was too long: {}", clone.done(events));
        std::thread::sleep(Duration::from_millis(100));
    }
    clone.done(down);
    assert_ne!(clone.call(top).status, Some(0), "nothing runs any more");
}
