//! Tests of a running site and its supervisor, killed at random moments: nothing is left behind,
//! and retained values come back.
//!
//! Method: the program of the supervisor's own tests, which counts its cycles in a retained
//! variable. After each kill the count may have lost what was not on disk yet, but must be whole.

mod bench;
#[expect(dead_code, reason = "other tests call it in other ways")]
mod command;

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use bench::{Bench, PATIENCE, kill};
use serde_json::Value;

const SITE: &str = r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "process-control"

[partition.vcr]
cpus = [0]

[partition.program]
model = "counter"
period = "5 ms"
policy = "other"
watchdog = "1 s"
retain = ["counter_DW.total"]
"#;

/// The largest loss of counts when the supervisor is killed. It saves ten times a second; the rest
/// is for a machine that holds it up.
const LOST_MAX: f64 = 400.0;

/// Returns the count that is retained.
fn total(bench: &Bench) -> f64 {
    let read = bench.call(&["watch", "axis", "counter_DW.total", "--once", "--json"]);
    let reading: Value = serde_json::from_str(&read.out).unwrap_or_default();
    number(&reading).unwrap_or_else(|| panic!("no value in `{}`: {}", read.out, read.err))
}

/// Returns the value of the one variable that was read.
fn number(reading: &Value) -> Option<f64> {
    match reading {
        Value::Object(fields) => fields
            .get("value")
            .and_then(Value::as_f64)
            .or_else(|| fields.get("counter_DW.total").and_then(number))
            .or_else(|| fields.values().find_map(number_within)),
        other => other.as_f64(),
    }
}

fn number_within(value: &Value) -> Option<f64> {
    match value {
        Value::Object(_) => number(value),
        Value::Array(items) => items.iter().find_map(number_within),
        _ => None,
    }
}

/// Returns repeatable pseudo-random numbers below a thousand.
fn moments() -> impl Iterator<Item = u64> {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % 1000
    })
}

#[test]
fn a_supervisor_killed_at_any_moment_leaves_no_orphan_and_loses_no_retained_value() {
    let bench = Bench::new(SITE);
    let mut least = 0.0;
    for moment in moments().take(4) {
        let mut supervisor = bench.up();
        bench.wait_until_running();
        let found = total(&bench);
        assert!(found >= least, "{found} was retained, at least {least} was saved");
        thread::sleep(Duration::from_millis(moment));
        least = (total(&bench) - LOST_MAX).max(0.0);
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        let end = Instant::now() + PATIENCE;
        while !bench.processes().is_empty() {
            assert!(Instant::now() < end, "left behind: {:?}", bench.processes());
            thread::sleep(Duration::from_millis(10));
        }
    }
    assert!(!bench.call(&["ps"]).out.contains("axis"), "nothing runs any more");
}

#[test]
fn a_partition_killed_at_any_moment_is_restarted_and_loses_no_retained_value() {
    let bench = Bench::new(SITE);
    let mut supervisor = bench.up();
    for moment in moments().skip(10).take(4) {
        let partition = bench.wait_until_running();
        thread::sleep(Duration::from_millis(moment / 2));
        let before = total(&bench);
        let pid = partition["pid"].as_u64().unwrap();
        kill(pid);
        let end = Instant::now() + PATIENCE;
        while bench.partition().is_none_or(|partition| {
            partition["pid"].as_u64().is_none_or(|new| new == pid)
                || partition["state"]["is"] != "running"
        }) {
            assert!(Instant::now() < end, "not restarted");
            thread::sleep(Duration::from_millis(10));
        }
        assert!(total(&bench) >= before, "the exchange outlives its partition");
    }
    let down = bench.call(&["down"]);
    assert_eq!(down.status, Some(0), "{}", down.err);
    assert_eq!(supervisor.wait().unwrap().code(), Some(1), "it was killed, which is a fault");
    assert!(bench.processes().is_empty(), "{:?}", bench.processes());
    let left: Vec<_> = fs::read_dir(bench.folder.path().join("run")).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_site_in_the_background_runs_when_its_start_returns_and_leaves_nothing() {
    let bench = Bench::new(SITE);
    // Its output is a file, as the child in the background would keep a pipe open.
    let log = fs::File::create(bench.folder.path().join("detached.log")).unwrap();
    let mut command = bench.command(&["up", "press.toml", "--detach"]);
    let started = command.stdin(Stdio::null()).stdout(log).status().unwrap();
    assert!(started.success());
    let partition = bench.partition().unwrap();
    assert_eq!(partition["state"]["is"], "running");
    // The process in the background knows who started it, though it has left the terminal.
    let shown: Value = serde_json::from_str(&bench.call(&["ps", "--json"]).out).unwrap();
    let by = &shown["sites"][0]["started_by"];
    let own = bench.folder.path().canonicalize().unwrap();
    assert_eq!(by["folder"].as_str(), own.to_str(), "{by}");
    assert_ne!(by["command"].as_str(), Some("quietcore"), "{by}");
    let again = bench.call(&["up", "press.toml", "--detach"]);
    assert_eq!(again.status, Some(2), "{}", again.err);
    assert!(again.err.contains("runs already"), "{}", again.err);
    assert_eq!(bench.call(&["down"]).status, Some(0));
    let end = Instant::now() + PATIENCE;
    while !bench.processes().is_empty() {
        assert!(Instant::now() < end, "left behind: {:?}", bench.processes());
        thread::sleep(Duration::from_millis(10));
    }
}

/// Goal: a service manager sees that a site has nothing left that runs, and starts it anew.
/// Method: the process of the only partition is killed once more than it is restarted.
#[test]
fn a_site_comes_down_once_its_last_partition_is_given_up_where_that_is_asked() {
    let restart = "[partition.program.restart]\nlimit = 1\nwait = \"10 ms\"\n";
    let bench = Bench::new(&format!("{SITE}{restart}"));
    for (option, comes_down) in [("--until-stopped", true), ("--cold", false)] {
        let mut up = bench.command(&["up", "press.toml", option]);
        let mut up = up.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut killed = 0;
        for _ in 0..2 {
            let end = Instant::now() + PATIENCE;
            let pid = loop {
                let pid = bench.partition().and_then(|it| it["pid"].as_u64());
                if let Some(pid) = pid.filter(|pid| *pid != killed) {
                    break pid;
                }
                assert!(Instant::now() < end, "it is not started");
                thread::sleep(Duration::from_millis(20));
            };
            bench.wait_until_running();
            kill(pid);
            killed = pid;
        }
        if !comes_down {
            let end = Instant::now() + PATIENCE;
            while bench.partition().is_none_or(|it| it["state"]["is"] != "stopped") {
                assert!(Instant::now() < end, "it is not given up");
                thread::sleep(Duration::from_millis(20));
            }
            assert_eq!(up.try_wait().unwrap(), None, "it stays to be started again");
            assert_eq!(bench.call(&["down"]).status, Some(0));
        }
        let said = command::said(&up.wait_with_output().unwrap());
        assert_eq!(said.status, Some(1), "{}", said.err);
        let told = said.err.contains("no partition runs, and none is started again");
        assert_eq!(told, comes_down, "{}", said.err);
    }
}
