//! The routines of the kernel, as a person has them measured. The figures are not looked at: a
//! machine that runs tests measures nothing.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_skip::skip;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::command::{call, quietcore, said};

/// Returns the arguments for a guest of the hypervisor that the environment names, and its backend;
/// of QEMU's emulated processor, which every machine has that has QEMU, where it names none.
pub(crate) fn hypervisor() -> (Vec<&'static str>, &'static str) {
    match std::env::var("QUIETCORE_TEST_BACKEND").as_deref() {
        Ok("xen") => (vec!["--backend", "xen"], "xen"),
        Ok("qemu") => (vec!["--backend", "qemu"], "qemu"),
        _ => (vec!["--backend", "qemu", "--accelerator", "tcg"], "qemu"),
    }
}

/// Lists what runs guests of a backend for anybody: QEMU's processes below `tool`, or domains.
pub(crate) fn guests(backend: &str, tool: u32) -> Vec<String> {
    if backend == "xen" {
        let output = Command::new("xl").arg("list").stdin(Stdio::null()).output().unwrap();
        let list = String::from_utf8(output.stdout).unwrap();
        let ours = list.lines().filter(|line| line.starts_with("quietcore."));
        return ours.map(str::to_owned).collect();
    }
    let children = |process: &str| {
        let path = format!("/proc/{process}/task/{process}/children");
        fs::read_to_string(path).unwrap_or_default()
    };
    let below = children(&tool.to_string());
    let below: String = below.split_whitespace().map(children).collect();
    let is_qemu = |process: &&str| {
        let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
        name.starts_with("qemu")
    };
    below.split_whitespace().filter(is_qemu).map(str::to_owned).collect()
}

/// Returns whether a measurement was refused for want of QEMU or of an image.
pub(crate) fn is_missing(err: &str) -> bool {
    err.contains("`qemu-system-x86_64` is not installed") || err.contains("this build has no image")
}

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

/// Goal: the same routines are measured under another hypervisor than ours, and say under which;
/// the way of an interrupt that it does not have is left out with a word.
#[test]
fn the_routines_are_measured_in_a_guest_of_another_hypervisor() {
    let (chosen, backend) = hypervisor();
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["probe", "osek", "--loops", "20", "--out", "run", "--json"];
    let run = call(folder.path(), &[&arguments[..], &chosen].concat());
    if is_missing(&run.err) {
        skip!("no guest of QEMU can be had: {}", run.err);
        return;
    }
    assert_eq!(run.status, Some(0), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let records = document["records"].as_array().unwrap();
    assert_eq!(records.len(), 21, "6 routines, and 5 with an interrupt in 3 ways");
    for record in records {
        let name = record["name"].as_str().unwrap();
        assert!(!name.contains("doorbell"), "{name}");
        assert_eq!(record["statistics"]["count"], 20, "{name}");
        assert_eq!(record["conditions"]["machine"]["backend"], backend, "{name}");
        let kernel = record["routine"]["kernel"].as_str().unwrap();
        assert!(kernel.starts_with(&format!("bare port in a guest ({backend})")), "{kernel}");
        // Wherever this test runs, an emulator is in the path.
        let because = record["invalid_because"].to_string();
        assert!(because.contains("timing not valid"), "{name}: {because}");
    }
    let manifest = fs::read_to_string(folder.path().join("run/manifest.json")).unwrap();
    assert!(manifest.contains("brought no interrupt by a doorbell"), "{manifest}");
    assert!(guests(backend, std::process::id()).is_empty(), "a guest is left");
}

/// Goal: no guest is left by a tool that is killed while it measures. Method: killed as soon as
/// the guest is seen, which under Xen is while `xl` still makes it.
#[test]
fn a_guest_of_another_hypervisor_ends_with_the_tool_that_started_it() {
    let (chosen, backend) = hypervisor();
    let folder = tempfile::tempdir().unwrap();
    let mut command = quietcore(folder.path());
    command.args(["probe", "osek", "--loops", "10000000"]).args(chosen);
    let mut tool = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    let running = loop {
        let found = guests(backend, tool.id());
        if !found.is_empty() {
            break found;
        }
        if tool.try_wait().unwrap().is_some() {
            let err = said(&tool.wait_with_output().unwrap()).err;
            assert!(is_missing(&err), "{err}");
            skip!("no guest of QEMU can be had: {err}");
            return;
        }
        assert!(begin.elapsed() < PATIENCE * 2, "no guest begins");
        thread::sleep(Duration::from_millis(50));
    };
    tool.kill().unwrap();
    tool.wait().unwrap();
    let begin = Instant::now();
    let is_left = || match backend {
        "xen" => !guests(backend, 0).is_empty(),
        _ => running.iter().any(|process| fs::exists(format!("/proc/{process}/exe")).unwrap()),
    };
    while is_left() {
        assert!(begin.elapsed() < PATIENCE, "{running:?} is left behind");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn what_cannot_be_measured_is_refused_before_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (["--cpu", "1000"], "--cpu 1000: CPU 1000 is not online"),
        (["--loops", "0"], "--loops"),
        (["--loops", "100,100"], "stands there twice"),
        (["--other-tasks", "252"], "252"),
        (["--backend", "container"], "process, kvm, qemu, xen"),
        (["--accelerator", "tcg"], "--accelerator: the backend `process` leaves no choice"),
        (["--load", "sleep"], "--load sleep"),
    ] {
        let said =
            call(folder.path(), &["probe", "osek", "--out", "run", arguments[0], arguments[1]]);
        assert_eq!(said.status, Some(2), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(words), "`{words}` in {}", said.err);
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left behind");
    }
}
