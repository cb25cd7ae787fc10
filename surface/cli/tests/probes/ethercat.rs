//! Round trips of EtherCAT, as a person has them measured, on the simulated segment.

use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use quietcore_skip::skip;
use serde_json::Value;

use crate::command::call;
use crate::osek::{guests, hypervisor, is_missing};

/// Goal: what is kept is the same evidence as what is printed, and it can be read and compared.
#[test]
fn round_trips_are_measured_kept_shown_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let run = call(folder.path(), &["probe", "ethercat", "--cycles", "2000", "--out", "run"]);
    assert_eq!(run.status, Some(0), "{}", run.err);
    assert!(run.out.contains("EtherCAT on sim") && run.out.contains("Scordino"), "{}", run.out);
    let shown = call(folder.path(), &["show", "run", "--json"]);
    assert_eq!(shown.status, Some(0), "{}", shown.err);
    let document: Value = serde_json::from_str(&shown.out).unwrap();
    let record = &document["records"][0];
    assert_eq!(
        (&record["probe"], &record["statistics"]["count"]),
        (&"ethercat".into(), &2000.into())
    );
    assert_eq!(record["round_trip"]["cycles"], 2000);
    assert!(record["conditions"]["machine"]["kernel"].is_string(), "{record}");
    assert!(document["verdicts"].as_array().unwrap().is_empty(), "no class judges a round trip");
    assert_eq!(call(folder.path(), &["report", "run"]).status, Some(0));
    let with = call(folder.path(), &["compare", "run", "--with", "scordino2020/table-1"]);
    assert_eq!(with.status, Some(0), "{}", with.err);
    assert!(with.out.contains("ERIKA"), "{}", with.out);
    let refused = call(folder.path(), &["compare", "run", "--with", "queiroz2023/table-4"]);
    assert!(refused.err.contains("there are: ethercat"), "{}", refused.err);
}

/// Goal: a MainDevice in a guest of another hypervisor than ours brings the same segment to OP, and
/// what is kept says where it ran. Frames may be late where an emulator shares this machine, so the
/// figures are not looked at.
#[test]
fn round_trips_are_measured_in_a_guest_of_another_hypervisor() {
    let (chosen, backend) = hypervisor();
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["probe", "ethercat", "--cycles", "1200", "--timeout", "50ms", "--out", "run"];
    let run = call(folder.path(), &[&arguments[..], &chosen].concat());
    if backend == "xen" {
        assert_eq!(run.status, Some(2), "{}", run.err);
        assert!(run.err.contains("--backend xen: its guests have no network"), "{}", run.err);
        return;
    }
    if is_missing(&run.err) {
        skip!("no guest of QEMU can be had: {}", run.err);
        return;
    }
    assert!(run.out.contains("EtherCAT on sim"), "{} {}", run.out, run.err);
    let shown = call(folder.path(), &["show", "run", "--json"]);
    let document: Value = serde_json::from_str(&shown.out).unwrap();
    let record = &document["records"][0];
    let round_trip = &record["round_trip"];
    assert_eq!(round_trip["cycles"], 1_200, "{record}");
    assert_eq!(round_trip["subdevices"], 6, "{record}");
    let (count, lost) = (&record["statistics"]["count"], &round_trip["lost"]);
    assert_eq!(count.as_u64().unwrap() + lost.as_u64().unwrap(), 1_200, "{record}");
    assert!(record["statistics"]["min_ns"].as_u64().unwrap() > 0, "{record}");
    assert!(round_trip["sustained_cycles_per_second"].as_f64().unwrap() > 0.0, "{record}");
    assert_eq!(record["conditions"]["machine"]["backend"], backend, "{record}");
    // Wherever this test runs, an emulator is in the path.
    let because = record["invalid_because"].to_string();
    assert!(because.contains("timing not valid"), "{because}");
    assert!(guests(backend, std::process::id()).is_empty(), "a guest is left");
}

/// Goal: what keeps a MainDevice in a guest from its SubDevices is told in words, and nothing that
/// looks like evidence is left.
#[test]
fn a_guest_without_a_way_to_its_subdevices_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (["--accelerator", "tcg"], "--accelerator: the backend `process` leaves no choice"),
        (["--backend", "container"], "process, kvm, qemu, xen"),
        (["--backend", "xen"], "no MainDevice in them has SubDevices; choose process, kvm, qemu"),
    ] {
        let arguments = [&["probe", "ethercat", "--out", "run"], &arguments[..]].concat();
        let said = call(folder.path(), &arguments);
        assert_eq!(said.status, Some(2), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(words), "`{words}` in {}", said.err);
    }
    let (chosen, backend) = hypervisor();
    let unknown = ["probe", "ethercat", "--interface", "nosuch", "--out", "run"];
    let said = call(folder.path(), &[&unknown[..], &chosen].concat());
    if backend != "xen" && !is_missing(&said.err) {
        assert_eq!(said.status, Some(2), "{}", said.err);
        assert!(said.err.contains("nosuch"), "{}", said.err);
    }
    assert!(!folder.path().join("run").exists(), "it looks like evidence");
}

/// Goal: every probe takes a time, in place of a number.
#[test]
fn a_time_may_stand_for_a_number_of_cycles() {
    let folder = tempfile::tempdir().unwrap();
    let timed = ["probe", "ethercat", "--duration", "200ms", "--period", "1ms", "--json"];
    let run = call(folder.path(), &timed);
    assert_eq!(run.status, Some(0), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document["cycles"], 200);
    for probe in ["latency", "exec", "ethercat", "irq", "osek", "memory"] {
        let help = call(folder.path(), &["probe", probe, "--help"]).out;
        assert!(help.contains("--duration <D>") && help.contains("--out <DIR>"), "{probe}: {help}");
    }
    let short = ["probe", "ethercat", "--duration", "1us", "--period", "1ms"];
    let refused = call(folder.path(), &short);
    assert!(refused.status == Some(2) && refused.err.contains("shorter than the period"));
}

/// Goal: who ends a run by a time with Ctrl-C finds that it was ended early.
#[test]
fn a_run_by_a_time_that_is_interrupted_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["probe", "ethercat", "--duration", "10min", "--period", "1ms", "--out", "run"];
    let mut command = crate::command::quietcore(folder.path());
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // The folder is there before anything is measured: from then on Ctrl-C ends a measurement.
    while !folder.path().join("run").exists() {
        thread::sleep(Duration::from_millis(10));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let run = child.wait_with_output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = fs::read_to_string(folder.path().join("run/records/ethercat.by-hand.sim.json"));
    let record: Value = serde_json::from_str(&text.unwrap()).unwrap();
    assert_eq!(record["interrupted"], true);
    let shown = call(folder.path(), &["show", "run"]);
    assert!(shown.out.contains("nterrupted") || shown.err.contains("nterrupted"), "{}", shown.out);
}
