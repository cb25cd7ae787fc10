//! `quietcore compare`, as a person types it: which folder is which, and the published tables.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::command::{call, quietcore};

/// Writes evidence of ten values, as cyclictest would have left them.
fn import(folder: &Path, name: &str, latency: u64) {
    let text = format!(
        "# Histogram\n{latency:06} 000010\n# Total: 000000010\n# Min Latencies: {latency:05}\n# \
         Avg Latencies: {latency:05}\n# Max Latencies: {latency:05}\n# Histogram Overflows: 00000\n"
    );
    let file = format!("{name}.txt");
    fs::write(folder.join(&file), text).unwrap();
    let said = call(folder, &["import", "cyclictest", &file, "--interval", "1ms", "--out", name]);
    assert_eq!(said.status, Some(0), "{}", said.err);
}

#[test]
fn it_is_said_which_folder_is_which() {
    let folder = tempfile::tempdir().unwrap();
    import(folder.path(), "before", 40);
    import(folder.path(), "after", 20);
    let said = call(folder.path(), &["compare", "before", "after"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert!(said.out.starts_with("A is before\nB is after\n"), "{}", said.out);
    for columns in ["80", "100", "120"] {
        let compare = ["compare", "before", "after"];
        let output = quietcore(folder.path()).args(compare).env("COLUMNS", columns).output();
        let text = crate::command::said(&output.unwrap()).out;
        let width = columns.parse().unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= width), "{columns}: {text}");
    }
    let said = call(folder.path(), &["compare", "before", "after", "--json"]);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&document["a"], &document["b"]), (&"before".into(), &"after".into()));
    assert!(document["comparisons"].is_array(), "{document}");
}

/// Goal: the first of several folders is the reference that each of the others is compared with, as
/// if there were no more.
#[test]
fn more_than_two_folders_are_each_compared_with_the_first() {
    let folder = tempfile::tempdir().unwrap();
    for (name, latency) in [("bare", 20), ("kvm", 40), ("qemu", 80)] {
        import(folder.path(), name, latency);
    }
    let compare = |names: &[&str]| {
        let said = call(folder.path(), &[&["compare"], names].concat());
        assert_eq!(said.status, Some(0), "{}", said.err);
        said.out
    };
    let pairs = [compare(&["bare", "kvm"]), compare(&["bare", "qemu"])];
    assert_eq!(compare(&["bare", "kvm", "qemu"]), pairs.join("\n"));
    let json = |names: &[&str]| -> Value {
        serde_json::from_str(&compare(&[names, &["--json"]].concat())).unwrap()
    };
    let document = json(&["bare", "kvm", "qemu"]);
    let pairs = [json(&["bare", "kvm"]), json(&["bare", "qemu"])];
    assert_eq!(document, serde_json::json!({ "pairs": pairs }));
    let said = call(folder.path(), &["compare", "bare", "kvm", "queiroz2023/table-3"]);
    assert!(said.err.contains("compare bare --with queiroz2023/table-3"), "{}", said.err);
    let said = call(folder.path(), &["compare", "bare", "kvm", "nowhere"]);
    assert!(said.status == Some(2) && said.err.contains("nowhere"), "{}", said.err);
    assert_eq!(said.out, "", "nothing is told by halves");
}

#[test]
fn a_table_in_the_place_of_a_folder_is_answered_with_the_option() {
    let folder = tempfile::tempdir().unwrap();
    import(folder.path(), "imp", 20);
    for id in ["000/table-3", "queiroz2023/table-3"] {
        let said = call(folder.path(), &["compare", "imp", id]);
        assert_eq!(said.status, Some(2), "{}", said.out);
        assert!(said.err.contains("compare imp --with queiroz2023/table-3"), "{}", said.err);
    }
}

#[test]
fn a_run_stands_beside_every_table_of_release_latencies() {
    let folder = tempfile::tempdir().unwrap();
    import(folder.path(), "imp", 20);
    let listed = call(folder.path(), &["compare", "--tables"]).out;
    for words in ["Queiroz", "hofer2019/figure-1", "mahmud2014/figure-2", "kong2021/figure-6"] {
        assert!(listed.contains(words), "`{words}` in {listed}");
    }
    for id in ["000/table-4", "queiroz2023/table-4", "hofer2019/figure-1", "hofer2019/table-1"] {
        let said = call(folder.path(), &["compare", "imp", "--with", id]);
        assert_eq!(said.status, Some(0), "{id}: {}", said.err);
        assert!(said.out.contains("published"), "{id}: {}", said.out);
        assert!(said.out.lines().count() < 100, "few lines a row: {}", said.out);
    }
    let refused = call(folder.path(), &["compare", "imp", "--with", "queiroz2023/table-2"]);
    assert!(refused.err.contains("conditions of measurements"), "{}", refused.err);
}
