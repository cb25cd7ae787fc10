//! Tests of the counters: a tree as the kernel lays it out, and trees that lack parts of it.

use std::fs;

use super::*;

const SUBJECT: Subject = Subject { cpu: 1, process: 7, thread: 8 };

const INTERRUPTS: &str = "           CPU0       CPU1
  41:       7337         12 PCI-MSIX-0000:00:04.0   1-edge      virtio3-rx
 LOC:    8743049    9305438   Local timer interrupts
 ERR:          0
";

fn machine() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut smis = vec![0; 0x34];
    smis.extend(5_u64.to_ne_bytes());
    let files: [(&str, &[u8]); 7] = [
        ("proc/interrupts", INTERRUPTS.as_bytes()),
        ("proc/softirqs", b"   CPU0 CPU1\n  TIMER:  1 2\n"),
        ("proc/stat", b"cpu 1 1\ncpu1 1 2 3 4 5 6 7 9 0 0\n"),
        ("proc/7/task/8/schedstat", b"100 66991 3\n"),
        ("proc/7/task/8/stat", b"8 (a) b) S 1 2 3 4 5 6 77 0 3 0 0\n"),
        ("proc/7/task/8/status", b"Name:\tx\nnonvoluntary_ctxt_switches:\t4\n"),
        ("dev/cpu/1/msr", &smis),
    ];
    for (path, text) in files {
        let place = folder.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }
    folder
}

#[test]
fn each_counter_is_found_in_its_column() {
    let machine = machine();
    let counters = Reader::below(machine.path()).read(SUBJECT);
    assert_eq!(counters.run_delay, Some(Nanos::new(66_991)));
    assert_eq!(counters.steal, Some(Nanos::from_millis(90)));
    assert_eq!(counters.faults, Some((77, 3)));
    assert_eq!((counters.displaced, counters.smis), (Some(4), Some(5)));
    assert_eq!(counters.interrupts["41 virtio3-rx"], 12);
    assert_eq!(counters.interrupts["Local timer interrupts"], 9_305_438);
    assert_eq!(counters.softirqs["TIMER"], 2);
    let other = Reader::below(machine.path()).read(Subject { cpu: 7, ..SUBJECT });
    assert!(other.interrupts.is_empty() && other.steal.is_none() && other.smis.is_none());
}

#[test]
fn what_is_not_counted_is_named_with_its_reason() {
    let machine = machine();
    let missing = Reader::below(machine.path()).missing(SUBJECT);
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert!(missing[0].0 == "frequency" && missing[0].1.contains("scaling_cur_freq"));
    let empty = tempfile::tempdir().unwrap();
    let reader = Reader::below(empty.path());
    assert_eq!(reader.read(SUBJECT), Counters::default());
    assert_eq!(reader.missing(SUBJECT).len(), 6);
    fs::write(machine.path().join("proc/stat"), "cpu1 x y\n").unwrap();
    let missing = Reader::below(machine.path()).missing(SUBJECT);
    assert!(missing.iter().any(|(what, why)| *what == "steal" && why.contains("no such counter")));
}

#[test]
fn this_machine_counts_its_interrupts() {
    let process = std::process::id();
    let counters = Reader::live().read(Subject { cpu: 0, process, thread: process });
    assert!(!counters.interrupts.is_empty());
    assert!(counters.faults.is_some());
}
