//! A machine from its start to its end. Skipped where there is no QEMU, or no kernel can be
//! fetched.

#![forbid(unsafe_code)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Output;

use support::{can_run, lab, text};

/// Runs a machine that leaves its results in this folder.
fn run(out: &Path, arguments: &[&str]) -> Output {
    let out = out.to_str().expect("a name in UTF-8");
    lab(&[&["run", "--out", out], arguments].concat())
}

#[test]
fn a_machine_runs_a_command_and_brings_its_results_back() {
    if !can_run("rt") {
        return;
    }
    let out = tempfile::tempdir().expect("a scratch folder");
    let script = "uname -v >$OUT/version; ls lab/Cargo.toml && \
                  ! touch here /usr/x && echo $? >$OUT/last; exit 3";
    let output = run(out.path(), &["--kind", "rt", "--", "bash", "-c", script]);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("status 3 after"), "{said}");
    let read = |name| fs::read_to_string(out.path().join(name)).expect("a result");
    assert!(read("version").contains("PREEMPT_RT"), "{said}");
    assert_eq!(read("last"), "0\n", "the project and the system are there, read-only: {said}");
}

#[test]
fn a_machine_that_does_not_end_is_switched_off() {
    if !can_run("rt") {
        return;
    }
    let out = tempfile::tempdir().expect("a scratch folder");
    let output = run(out.path(), &["--limit", "1 s", "--", "sleep", "1000"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("did not end within 1 s; its console is in"), "{said}");
    assert!(!out.path().join("status").exists());
}

#[test]
fn a_machine_tells_what_hangs_before_its_limit() {
    if !can_run("rt") {
        return;
    }
    let out = tempfile::tempdir().expect("a scratch folder");
    let output = run(out.path(), &["--tell-after", "12 s", "--", "sleep", "20"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let hangs = said.lines().skip_while(|line| !line.ends_with("sleep 20 "));
    let hangs = hangs.take(4).collect::<Vec<_>>().join("\n");
    assert!(hangs.contains("thread sleep:\tS (sleeping), in "), "{said}");
    assert!(hangs.contains("nanosleep"), "the kernel function that it sleeps in: {said}");
    assert!(said.contains("sysrq: Show backtrace of all active CPUs"), "{said}");
}

/// Ends the machine in a triple fault, if it has not done so before.
const FALLS_ONCE: &str = "[ -s $OUT/fallen ] && exit 0; echo 1 >$OUT/fallen; sync
    echo triple >/sys/kernel/reboot/type; echo b >/proc/sysrq-trigger; sleep 60";

#[test]
fn a_machine_that_holds_guests_is_started_anew_after_a_triple_fault_and_no_other() {
    if !can_run("rt") {
        return;
    }
    for (kind, ends_with) in [("kvm", 0), ("rt", 2)] {
        let out = tempfile::tempdir().expect("a scratch folder");
        fs::write(out.path().join("fallen"), "").expect("a file that is there before the machine");
        let output = run(out.path(), &["--kind", kind, "--", "bash", "-c", FALLS_ONCE]);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(ends_with), "{kind}: {said}");
        let is_anew = said.contains("ended in a triple fault") && said.contains("anew (1 of 2)");
        assert_eq!(is_anew, kind == "kvm", "{kind}: {said}");
        assert_eq!(said.contains("ended before the scenario did"), kind == "rt", "{kind}: {said}");
    }
}

#[test]
fn what_is_not_there_is_named() {
    let out = tempfile::tempdir().expect("a scratch folder");
    let of = |arguments: &[&str]| text(&run(out.path(), arguments).stderr);
    assert!(of(&["nothing"]).contains("no scenario `nothing`"));
    assert!(of(&["--kind", "vax", "--", "true"]).contains("there are rt, kvm, vfio, stock, xen"));
    assert!(of(&["--processors", "0", "--", "true"]).contains("0 is not in 1..=16"));
    assert!(of(&[]).contains("required"));
}
