//! That the comparisons which need nothing but two CPUs run to their end. Their figures are not
//! looked at: a machine that runs tests measures nothing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;
use std::thread::available_parallelism;

use quietcore_skip::skip;

/// What a comparison prints as JSON.
fn quick(bench: &str) -> serde_json::Value {
    let run = Command::new(env!("CARGO_BIN_EXE_quietcore-bench"))
        .args([bench, "--quick", "--json"])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap()
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
