//! A test of promise P23: a cycle makes one system call, the sleep, and no other.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

const CYCLES: usize = 2_000;

/// Goal: a measured cycle makes one system call.
/// Method: trace the partition's process and count the calls of its measuring thread between the
/// first and the last sleep.
#[test]
fn a_cycle_makes_one_system_call() {
    let folder = tempfile::tempdir().unwrap();
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-o", "trace", env!("CARGO_BIN_EXE_quietcore")])
        .args(["probe", "latency", "--warm-up", "10 ms", "--cycles", &CYCLES.to_string()])
        .current_dir(folder.path());
    if let Err(reason) = quietcore_skip::strace(&mut strace) {
        return quietcore_skip::skip!("{reason}");
    }
    let trace = fs::read_to_string(folder.path().join("trace")).unwrap();
    let mut sleeps: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in trace.lines() {
        if let Some((thread, call)) = line.split_once(char::is_whitespace) {
            sleeps.entry(thread).or_default().push(call.trim_start());
        }
    }
    // The measuring thread is the one that sleeps on the absolute monotonic clock.
    let is_sleep = |call: &&str| call.starts_with("clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME");
    let calls = sleeps
        .values()
        .max_by_key(|calls| calls.iter().filter(|call| is_sleep(call)).count())
        .unwrap();
    let first = calls.iter().position(is_sleep).unwrap();
    let last = calls.iter().rposition(is_sleep).unwrap();
    let measured = &calls[first..=last];
    let others: Vec<_> = measured
        .iter()
        .filter(|call| !is_sleep(call))
        // Where two threads call at once, the trace splits a call into two lines.
        .filter(|call| !call.starts_with("<... clock_nanosleep resumed>"))
        .collect();
    assert!(measured.len() - others.len() >= CYCLES, "{} sleeps", measured.len());
    assert_eq!(others, Vec::<&&str>::new());
}
