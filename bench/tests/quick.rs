//! That the comparisons which need nothing but two CPUs run to their end. Their figures are not
//! looked at: a machine that runs tests measures nothing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;
use std::thread::available_parallelism;

use quietcore_skip::skip;

/// Returns the JSON that a comparison prints.
fn quick(bench: &str) -> serde_json::Value {
    quick_with(bench, &[])
}

fn quick_with(bench: &str, arguments: &[&str]) -> serde_json::Value {
    let run = Command::new(env!("CARGO_BIN_EXE_quietcore-bench"))
        .args([bench, "--quick", "--json"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap()
}

/// Goal: the kernel, its variants and the hand-overs of Linux run to their end, and instructions
/// are counted where there is a Valgrind.
#[test]
fn the_kernel_is_compared_with_its_peers() {
    if available_parallelism().map_or(1, usize::from) < 2 {
        skip!("needs two CPUs; this machine has one");
        return;
    }
    let findings = quick("osek");
    assert_eq!((&findings["bench"], &findings["quick"]), (&"osek".into(), &true.into()));
    let figures = findings["figures"].as_array().unwrap();
    let value = |name: &str| {
        let found = figures.iter().find(|found| found["name"] == name)?;
        found["value"].as_f64()
    };
    for name in ["act, median", "terml, median", "istexit, mean", "act, 255 tasks / 8 tasks"] {
        assert!(value(name).unwrap() > 0.0, "{name}");
    }
    assert!(value("actl, jobs accounted / as published").unwrap() > 0.0);
    let missing = findings["not_measured"].to_string();
    assert!(missing.contains("--freertos"), "{missing}");
    match value("swapcontext / act") {
        Some(times) => assert!(times > 0.0),
        None => skip!("no hand-overs of Linux: {missing}"),
    }
    match value("act, instructions") {
        Some(count) => assert!((10.0..10_000.0).contains(&count), "{count}"),
        None => skip!("no instructions: {missing}"),
    }
}

#[test]
fn signals_and_queues_are_compared_with_their_peers() {
    if available_parallelism().map_or(1, usize::from) < 2 {
        skip!("needs two CPUs; this machine has one");
        return;
    }
    for (bench, figure) in [
        ("signal", "one way, signal / bare cache line"),
        ("queue", "throughput, queue of a channel / rtrb"),
    ] {
        let findings = quick(bench);
        assert_eq!(findings["schema"], "quietcore.bench/1");
        assert_eq!(findings["quick"], true, "so that nobody takes it for a result");
        assert!(!findings["machine"]["kernel"].as_str().unwrap().is_empty());
        let figures = findings["figures"].as_array().unwrap();
        let found = figures.iter().find(|found| found["name"] == figure).unwrap();
        assert!(found["value"].as_f64().unwrap() > 0.0, "{found}");
    }
}

#[test]
fn a_trace_is_compared_with_none() {
    let findings = quick("trace");
    let figures = findings["figures"].as_array().unwrap();
    for figure in ["warm cycle, no trace", "warm cycle, traced", "cold cycle, traced"] {
        let found = figures.iter().find(|found| found["name"] == figure).unwrap();
        assert!(found["value"].as_f64().unwrap() > 0.0, "{found}");
    }
}

/// Goal: a run says all that a table of figures needs to name it, on paper and in the file.
#[test]
fn a_run_says_where_its_figures_come_from() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.json");
    let out = format!("--out={}", file.display());
    let findings = quick_with("record", &[&out]);
    let text = |name: &str| findings[name].as_str().unwrap_or_default().to_owned();
    assert_eq!(text("bench"), "record");
    assert!(text("command").starts_with("quietcore-bench record --quick"), "{}", text("command"));
    assert!(text("date").starts_with("20") && text("date").ends_with('Z'), "{}", text("date"));
    assert!(["debug", "release"].contains(&text("build").as_str()));
    assert!(findings["peers"]["hdrhistogram"].as_str().unwrap().starts_with("7."));
    for fact in ["cpu_model", "cpus_online", "kernel", "hypervisor", "load_average"] {
        assert!(!findings["machine"][fact].as_str().unwrap().is_empty(), "{fact}");
    }
    let figures = findings["figures"].as_array().unwrap();
    let names: Vec<_> = figures.iter().map(|figure| figure["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"one value / hdrhistogram"), "{names:?}");
    let kept = std::fs::read(&file).unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&kept).unwrap(), findings);
}

/// Goal: a daemon is started, answers and ends; what is missing of the peer is named.
#[test]
fn the_daemon_is_started_and_looked_at() {
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_quietcore-bench"));
    if !own.with_file_name("quietcored").is_file() {
        skip!("needs `quietcored` beside the program; build all of the workspace");
        return;
    }
    let findings = quick_with("daemon", &["--only=idle"]);
    let figures = findings["figures"].as_array().unwrap();
    for name in ["start to the first answer, quietcored", "resident memory, quietcored"] {
        let found = figures.iter().find(|figure| figure["name"] == name).unwrap();
        assert!(found["value"].as_f64().unwrap() > 0.0, "{found}");
        assert_eq!(found["answer"], "open", "a quick run answers for no goal");
    }
    if std::env::var_os("QUIETCORE_ASYNCUA_PYTHON").is_none() {
        assert!(findings["not_measured"].to_string().contains("QUIETCORE_ASYNCUA_PYTHON"));
    }
}

/// Goal: the page is opened in a browser, draws, and shows what is written beside it.
#[test]
fn the_page_is_opened_and_shows_a_change() {
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_quietcore-bench"));
    let web = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../web");
    if !own.with_file_name("quietcored").is_file() || !web.join("dist/app.js").is_file() {
        skip!("needs `quietcored` with the page beside the program; run `./test`");
        return;
    }
    let chromium = std::env::var("PUPPETEER_EXECUTABLE_PATH");
    if !std::path::Path::new(chromium.as_deref().unwrap_or("/usr/bin/chromium")).is_file() {
        skip!("needs a browser; install `chromium`");
        return;
    }
    if !rustix::process::geteuid().is_root() {
        skip!("a partition at a real-time priority needs root");
        return;
    }
    let findings = quick_with("page", &["--web", web.to_str().unwrap()]);
    let figures = findings["figures"].as_array().unwrap();
    let value = |name: &str| {
        let found = figures.iter().find(|figure| figure["name"] == name).unwrap();
        found["value"].as_f64().unwrap()
    };
    assert!(value("drawings of 16 traces") > 0.0);
    assert!(value("a change is seen, p50") > 0.0);
    assert!((100.0..200.0).contains(&value("the page's files")), "{findings}");
}
