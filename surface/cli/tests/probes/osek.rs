//! The routines of the kernel, as a person has them measured. The figures are not looked at: a
//! machine that runs tests measures nothing.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::command::{call, quietcore, said};

/// The longest wait for a process to begin or to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts a measurement that takes a while; returns it with the process that measures.
fn measuring(folder: &std::path::Path) -> (Child, Pid) {
    let mut command = quietcore(folder);
    command.args(["probe", "osek", "--loops", "10000000", "--out", "run"]);
    let tool = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = measuring_process_of(tool.id());
    (tool, process)
}

/// Waits until a process of `tool` has the thread of the kernel, and returns it.
fn measuring_process_of(tool: u32) -> Pid {
    let begin = Instant::now();
    loop {
        let children = fs::read_to_string(format!("/proc/{tool}/task/{tool}/children")).unwrap();
        let measures = |process: &&str| {
            let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
            let names = threads.flatten().map(|thread| thread.path().join("comm"));
            names.filter_map(|comm| fs::read_to_string(comm).ok()).any(|name| name == "osek\n")
        };
        if let Some(process) = children.split_whitespace().find(measures) {
            return Pid::from_raw(process.parse().unwrap()).unwrap();
        }
        assert!(begin.elapsed() < PATIENCE, "nothing measures");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Goal: a measuring process that is killed is told with what ended it.
#[test]
fn a_measuring_process_that_is_killed_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (tool, process) = measuring(folder.path());
    kill_process(process, Signal::KILL).unwrap();
    let ended = said(&tool.wait_with_output().unwrap());
    assert_eq!(ended.status, Some(2), "{}", ended.err);
    assert!(ended.err.contains("the partition ended: signal: 9"), "{}", ended.err);
    assert!(!folder.path().join("run/manifest.json").exists(), "it looks like evidence");
}

/// Goal: no real-time thread is left by a tool that is killed.
#[test]
fn a_measuring_process_ends_with_the_tool_that_started_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut tool, process) = measuring(folder.path());
    tool.kill().unwrap();
    tool.wait().unwrap();
    let begin = Instant::now();
    while test_kill_process(process).is_ok() {
        assert!(begin.elapsed() < PATIENCE, "{process:?} is left behind");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Goal: what is printed, kept and shown again is the same evidence.
#[test]
fn the_routines_are_measured_kept_and_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = call(
        folder.path(),
        &["probe", "osek", "--loops", "100,2000", "--other-tasks", "4", "--out", "run", "--json"],
    );
    assert_eq!(run.status, Some(0), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document["schema"], "quietcore.evidence/1");
    assert_eq!(document["verdicts"].as_array().unwrap().len(), 0, "no class judges a routine");
    let records = document["records"].as_array().unwrap();
    let names: BTreeSet<&str> =
        records.iter().map(|record| record["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 32, "{names:?}");
    for record in records {
        let routine = &record["routine"];
        let name = record["name"].as_str().unwrap();
        let (count, median) = (&record["statistics"]["count"], &routine["figures"]["median_ns"]);
        let loops = if name.contains("loops-100.") { 100 } else { 2_000 };
        assert_eq!(count, loops, "{name}");
        assert!(median.as_f64().is_some_and(|median| median >= 0.0), "{name}: {routine}");
        assert!(record["conditions"]["machine"]["clock_of_routines"].is_string());
        assert!(routine["kernel"].as_str().unwrap().contains("standard status, 8 tasks"));
        let is_empty = routine["routine"] == "empty";
        assert_eq!(routine["offset"] == 0, is_empty, "{name}: {routine}");
    }
    let shown = call(folder.path(), &["show", "run", "--json"]);
    assert_eq!(shown.out, run.out);
    let text = call(folder.path(), &["show", "run"]).out;
    for words in ["hosted port", "class ECC2", "100 loops, as published", "2 000 loops", "clamped"]
    {
        assert!(text.contains(words), "`{words}` in {text}");
    }
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("id=\"routines\"") && page.contains("isrentry, signal"));
}

#[test]
fn what_cannot_be_measured_is_refused_before_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (["--cpu", "1000"], "--cpu 1000: it is not online"),
        (["--loops", "0"], "--loops"),
        (["--loops", "100,100"], "stands there twice"),
        (["--other-tasks", "252"], "252"),
        (["--load", "sleep"], "--load sleep"),
    ] {
        let said =
            call(folder.path(), &["probe", "osek", "--out", "run", arguments[0], arguments[1]]);
        assert_eq!(said.status, Some(2), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(words), "`{words}` in {}", said.err);
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left behind");
    }
}
