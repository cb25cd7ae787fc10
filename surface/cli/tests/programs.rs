//! The programs of the examples, measured short: structure is checked, speed is not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests call it in other ways")]
mod command;

use std::fs;
use std::path::Path;

use command::{Said, call, patient};
use serde_json::Value;

/// Writes an example with its program into `folder`, with patient watchdogs; returns `None` on a
/// machine without CPU 1.
fn example(folder: &Path, name: &str) -> Option<String> {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    if online.trim() == "0" {
        quietcore_skip::skip!("one CPU only");
        return None;
    }
    let init = call(folder, &["init", "--example", name]);
    assert_eq!(init.status, Some(0), "{}", init.err);
    let file = format!("{name}.toml");
    fs::write(folder.join(&file), patient(&init.out)).unwrap();
    Some(file)
}

/// Makes a call that measures. Repeats it if the machine stood still for as long as the outputs'
/// watchdog of a SubDevice allows, 100 ms: that is rightly told, but the program is not at fault.
fn measured(folder: &Path, arguments: &[&str]) -> Said {
    let mut run = call(folder, arguments);
    for _ in 0..4 {
        if !run.out.contains("the fieldbus was not whole") {
            break;
        }
        // Evidence that is there is not overwritten.
        let _ = fs::remove_dir_all(folder.join("run"));
        run = call(folder, arguments);
    }
    run
}

/// Returns the number of periods that passed in releases which the leading task left out: a
/// standstill of the machine, beside which the other tasks have fewer jobs, or more at the end.
fn lost(leader: &Value, period_ns: u64) -> u64 {
    let skipped = leader["scan_counters"]["skipped_releases"].as_u64().unwrap();
    (skipped * leader["period_ns"].as_u64().unwrap()).div_ceil(period_ns)
}

fn records(text: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(text).unwrap();
    document["records"].as_array().unwrap().clone()
}

/// Checks the parts of a record that every program leaves.
fn check(record: &Value, task: &str, cycles: std::ops::RangeInclusive<u64>) {
    let name = record["name"].as_str().unwrap();
    assert!(name.ends_with(task), "{name} is not of {task}");
    assert_eq!(record["probe"], "exec");
    assert_eq!(record["invalid_because"], Value::Array(Vec::new()), "{name}");
    let faults = record["faults"].as_array().unwrap();
    for fault in faults {
        // A machine that stands still for a while makes the watchdog right, and nothing else.
        let fault = fault.as_str().unwrap();
        assert!(fault.starts_with("the watchdog of task"), "{name}: {fault}");
    }
    let count = record["statistics"]["count"].as_u64().unwrap();
    // A fault ends the run.
    assert!(count > 0 && (cycles.contains(&count) || !faults.is_empty()), "{name}: {count} cycles");
    let figure = |of: &str, what: &str| record[of][what].as_u64().unwrap();
    let ran = figure("execution_statistics", "count");
    assert!(ran > 0 && ran <= count, "{name}: {ran} of {count}");
    assert_eq!(ran, figure("response_statistics", "count"), "{name}");
    assert!(
        figure("execution_statistics", "max_ns") <= figure("response_statistics", "max_ns"),
        "{name}"
    );
    assert!(record["scan_terms"]["deadline_ns"].as_u64().unwrap() > 0);
    let facts = &record["conditions"]["machine"];
    assert_eq!(facts["program_build"].as_str().unwrap().len(), 64, "{name}");
}

#[test]
fn the_servo_axis_is_qualified_with_its_own_program() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = example(folder.path(), "servo") else { return };
    let run = measured(
        folder.path(),
        &["qualify", &site, "--profile", "tp1,tp2", "--duration", "2 s", "--out", "run", "--json"],
    );
    assert!(matches!(run.status, Some(0 | 1)), "{}", run.err);
    assert!(run.err.contains("building program `models/servo`"), "{}", run.err);
    let records = records(&run.out);
    assert_eq!(records.len(), 2, "{}", run.err);
    for record in &records {
        check(record, ".main", 2000..=u64::MAX);
    }
    assert_eq!(records[0]["cpu"], Value::Null);
    assert_eq!(records[1]["cpu"], 1);
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("Execution time") && page.contains("Response time"));
}

#[test]
fn both_tasks_of_the_turbine_are_judged_each_by_its_own_period() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = example(folder.path(), "turbine") else { return };
    let run = measured(
        folder.path(),
        &["qualify", &site, "--profile", "tp2", "--duration", "2 s", "--out", "run", "--json"],
    );
    assert!(matches!(run.status, Some(0 | 1)), "{}", run.err);
    let records = records(&run.out);
    assert_eq!(records.len(), 2, "{}", run.err);
    check(&records[0], ".governor", 200..=u64::MAX);
    // The warm-up of 1 s is left out of the slower task's record as well.
    let lost = lost(&records[0], 100_000_000);
    check(&records[1], ".load", 17_u64.saturating_sub(lost)..=21 + lost);
    assert_eq!(records[1]["period_ns"], 100_000_000);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let limit = |record: &str| {
        let verdicts = document["verdicts"].as_array().unwrap();
        let of = |verdict: &&Value| {
            verdict["record"] == record && verdict["class"] == "fast-control-loop"
        };
        verdicts.iter().find(of).unwrap()["latency_limit_ns"].as_u64().unwrap()
    };
    assert_eq!(limit("governor.tp2.governor"), 1_000_000);
    assert_eq!(limit("governor.tp2.load"), 10_000_000);
}

/// Goal: a program whose processor is emulated runs as it does elsewhere, and no time of it counts.
#[test]
fn a_program_in_an_emulated_guest_runs_and_none_of_its_times_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let qemu = std::process::Command::new("qemu-system-x86_64").arg("--version").output();
    if qemu.is_err() {
        quietcore_skip::skip!("no QEMU; install Debian's qemu-system-x86");
        return;
    }
    let Some(site) = example(folder.path(), "osek") else { return };
    let file = folder.path().join(&site);
    let guest = "backend = \"qemu\"\nguest = { accelerator = \"tcg\" }";
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("backend = \"process\"", guest)).unwrap();
    let run = call(
        folder.path(),
        &["qualify", &site, "--profile", "tp2", "--duration", "2 s", "--out", "run", "--json"],
    );
    assert_eq!(run.status, Some(1), "{}", run.err);
    let records = records(&run.out);
    assert!(records[0]["statistics"]["count"].as_u64().unwrap() > 100, "{}", run.err);
    for record in &records {
        let reasons = record["invalid_because"].to_string();
        assert!(reasons.contains("guests here are emulated by QEMU (TCG)"), "{reasons}");
    }
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let verdicts = document["verdicts"].as_array().unwrap();
    assert!(!verdicts.is_empty() && verdicts.iter().all(|one| one["verdict"] != "pass"));
}

/// Goal: an OSEK program is qualified as any other, with a record of each task of its kernel.
#[test]
fn each_task_of_an_osek_program_has_a_record_that_is_judged_by_its_deadline() {
    // Where a page fault may be part of a value, nothing is proven.
    quietcore_skip::need_locked_memory!(64 << 20);
    let folder = tempfile::tempdir().unwrap();
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    if online.trim() == "0" {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("examples/osek.toml")).unwrap();
    let model = root.join("models/conveyor");
    let text = text.replace("\"../models/conveyor\"", &format!("{model:?}"));
    // No deadline of Report: nothing is asked of it.
    let text = text.replace(", Report = \"100 ms\"", "").replace("= 1e-2", "= 1e-1");
    fs::write(folder.path().join("osek.toml"), patient(&text)).unwrap();
    let run = measured(
        folder.path(),
        &[
            "qualify",
            "osek.toml",
            "--profile",
            "tp2",
            "--duration",
            "2 s",
            "--out",
            "run",
            "--json",
        ],
    );
    assert!(matches!(run.status, Some(0 | 1)), "{}", run.err);
    let records = records(&run.out);
    let named = |task: &str| {
        let name = format!("conveyor.tp2.{task}");
        records.iter().find(|record| record["name"] == *name).expect("a record")
    };
    assert_eq!(records.len(), 5, "{}", run.err);
    check(named("cycle"), ".cycle", 2000..=u64::MAX);
    let lost = |period_ns| lost(named("cycle"), period_ns);
    check(named("Drive"), ".Drive", 1000_u64.saturating_sub(lost(1_000_000))..=2100);
    check(named("Supervise"), ".Supervise", 80_u64.saturating_sub(lost(20_000_000))..=110);
    assert_eq!(named("Drive")["scan_terms"]["by_kernel"], true);
    assert_eq!(named("Report")["scan_terms"]["deadline_ns"], Value::Null);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let verdicts = document["verdicts"].as_array().unwrap();
    let judged = |task: &str| {
        let name = format!("conveyor.tp2.{task}");
        verdicts.iter().find(|verdict| verdict["record"] == *name)
    };
    assert!(judged("Report").is_none(), "it is held to nothing");
    let because = judged("Supervise").unwrap()["because"].as_str().unwrap();
    assert!(because.contains("deadline of 20.0 ms"), "{because}");
}

/// Goal: a program that fails before anything is measured is a FAIL with its reason, and nobody is
/// told to go on with it as if the campaign had been interrupted.
/// Method: the first step of the tank's controller crashes.
#[test]
fn a_program_that_fails_in_the_warm_up_is_a_fail() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = example(folder.path(), "tank") else { return };
    let source = folder.path().join("models/tank/tank.c");
    let text = fs::read_to_string(&source).unwrap();
    let crashes = text.replace(
        "void tank_step(void)\n{\n",
        "void tank_step(void)\n{\n  *(volatile int *)16 = 1;\n",
    );
    assert_ne!(text, crashes);
    fs::write(&source, crashes).unwrap();
    let run = call(
        folder.path(),
        &["qualify", &site, "--profile", "tp2", "--duration", "1 s", "--out", "run", "--json"],
    );
    assert_eq!(run.status, Some(1), "{}", run.err);
    assert!(!run.err.contains("--resume"), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let verdicts = document["verdicts"].as_array().unwrap();
    assert!(!verdicts.is_empty());
    for verdict in verdicts {
        assert_eq!(verdict["verdict"], "FAIL", "{verdict}");
        assert!(verdict["because"].as_str().unwrap().contains("SIGSEGV"), "{verdict}");
    }
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("SIGSEGV"));
}

/// Goal: a fieldbus that was not whole never passes, and the record says what was wrong with it.
/// Method: the simulated segment loses a SubDevice for a while.
#[test]
fn a_subdevice_that_fell_out_makes_the_record_invalid() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = example(folder.path(), "servo") else { return };
    let mut text = fs::read_to_string(folder.path().join(&site)).unwrap();
    let fault = "\n[[fieldbus.ec0.fault]]\nat = \"500 ms\"\nduration = \"200 ms\"\nkind = \
                 \"unplug\"\nsubdevice = \"drive\"\n";
    text.push_str(fault);
    fs::write(folder.path().join(&site), text).unwrap();
    let run = call(
        folder.path(),
        &["probe", "exec", &site, "--duration", "1 s", "--warm-up", "100 ms", "--json"],
    );
    assert_eq!(run.status, Some(0), "{}", run.err);
    let record = &records(&run.out)[0];
    assert_eq!(record["valid"], false);
    let because = record["invalid_because"].to_string();
    assert!(because.contains("the fieldbus was not whole"), "{because}");
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let verdicts = document["verdicts"].as_array().unwrap();
    assert!(verdicts.iter().all(|verdict| verdict["verdict"] == "NOT PROVEN"), "{verdicts:?}");
}

/// Goal: a single frame that is lost is no outage and spoils nothing, and it is seen.
/// Method: a fault without a duration, which strikes one frame.
#[test]
fn a_single_lost_frame_is_counted_in_the_record() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = example(folder.path(), "servo") else { return };
    let mut text = fs::read_to_string(folder.path().join(&site)).unwrap();
    text.push_str("\n[[fieldbus.ec0.fault]]\nat = \"500 ms\"\nkind = \"lost-frame\"\n");
    fs::write(folder.path().join(&site), text).unwrap();
    let run = measured(
        folder.path(),
        &["probe", "exec", &site, "--duration", "1 s", "--warm-up", "100 ms", "--json"],
    );
    assert_eq!(run.status, Some(0), "{}", run.err);
    let record = &records(&run.out)[0];
    check(record, ".main", 1000..=1100 + lost(record, 1_000_000));
    // A machine that is stopped in the middle of a cycle may lose more than the one.
    let frames = record["scan_counters"]["lost_frames"].as_u64().unwrap();
    assert!((1..100).contains(&frames), "{frames}");
}

#[test]
fn a_partition_that_is_not_there_and_a_program_that_does_not_compile_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = example(folder.path(), "tank") else { return };
    let none = call(folder.path(), &["probe", "exec", &site, "--partition", "pump"]);
    assert_eq!(none.status, Some(2));
    assert!(none.err.contains("there are level"), "{}", none.err);
    for entry in fs::read_dir(folder.path().join("models/tank")).unwrap().flatten() {
        let broken = fs::read_to_string(entry.path()).unwrap() + "\nint broken = nonsense;\n";
        if entry.path().extension().is_some_and(|it| it == "c") {
            fs::write(entry.path(), broken).unwrap();
        }
    }
    let failed = call(folder.path(), &["qualify", &site, "--duration", "200 ms", "--out", "run"]);
    assert_eq!(failed.status, Some(2));
    assert!(failed.err.contains("nonsense") && failed.err.contains(".c:"), "{}", failed.err);
    assert!(!folder.path().join("run").exists());
}
