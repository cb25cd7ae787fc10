//! Interrupts of a clock board, as a person has them measured in a guest. The figures are not
//! looked at: a machine that runs tests measures nothing.

use std::fs;

use quietcore_skip::skip;
use serde_json::Value;

use crate::command::call;
use crate::osek::{guests, hypervisor, is_missing};

/// Goal: the same board interrupts a guest of another hypervisor than ours, and the record says by
/// which way; one that has no board is refused.
#[test]
fn interrupts_are_measured_in_a_guest_of_another_hypervisor() {
    let (chosen, backend) = hypervisor();
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["probe", "irq", "--period", "20ms", "--interrupts", "50", "--out", "run"];
    let run = call(folder.path(), &[&arguments[..], &chosen].concat());
    if backend == "xen" {
        assert_eq!(run.status, Some(2), "{}", run.err);
        assert!(run.err.contains("[possible values: kvm, qemu]"), "{}", run.err);
        return;
    }
    if is_missing(&run.err) {
        skip!("no guest of QEMU can be had: {}", run.err);
        return;
    }
    assert_eq!(run.status, Some(0), "{}", run.err);
    let shown = call(folder.path(), &["show", "run", "--json"]);
    let document: Value = serde_json::from_str(&shown.out).unwrap();
    let record = &document["records"][0];
    assert_eq!(record["statistics"]["count"], 50, "{record}");
    assert!(record["statistics"]["min_ns"].as_u64().unwrap() > 0, "{record}");
    assert_eq!(record["conditions"]["machine"]["backend"], backend, "{record}");
    let path = record["interrupt"]["path"].as_str().unwrap();
    assert!(path.contains("event file → ") && path.contains("ivshmem-doorbell"), "{path}");
    let board = record["conditions"]["activity"]["clock_board"].as_str().unwrap();
    assert!(board.contains("of which lost 0"), "{board}");
    // Wherever this test runs, an emulator is in the path.
    let because = record["invalid_because"].to_string();
    assert!(because.contains("timing not valid"), "{because}");
    assert!(guests(backend, std::process::id()).is_empty(), "a guest is left");
}

#[test]
fn what_a_backend_has_not_is_refused_before_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (&["--accelerator", "tcg"][..], "--accelerator: the backend `kvm` leaves no choice"),
        (&["--backend", "process"], "[possible values: kvm, qemu]"),
        (&["--backend", "qemu", "--polls"], "--polls: a guest of the backend `qemu`"),
    ] {
        let arguments = [&["probe", "irq", "--out", "run"], arguments].concat();
        let said = call(folder.path(), &arguments);
        assert_eq!(said.status, Some(2), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(words), "`{words}` in {}", said.err);
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left behind");
    }
}
