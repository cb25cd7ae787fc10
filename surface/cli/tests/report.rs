//! A report that is made anew leaves the evidence as it was.

#[expect(dead_code, reason = "this test needs no site file")]
mod command;

use std::fs;
use std::process::Command;

use command::call;

const HISTOGRAM: &str = "# Histogram\n000000 000000\n000001 000004\n# Total: 000000004\n# Min \
                         Latencies: 00001\n# Avg Latencies: 00001\n# Max Latencies: 00001\n# \
                         Histogram Overflows: 00000\n";

/// Goal: a newer version may make its report in an older folder without damaging the evidence.
/// Method: the folder is sealed with another page, the report is made, the evidence shown.
#[test]
fn a_report_by_another_version_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good"), HISTOGRAM).unwrap();
    call(folder.path(), &["import", "cyclictest", "good", "--out", "run"]);
    let before = call(folder.path(), &["show", "run", "--json"]);
    let run = folder.path().join("run");
    fs::write(run.join("report.html"), "the page of an older version").unwrap();
    let sum = Command::new("sha256sum").arg("report.html").current_dir(&run).output().unwrap();
    let sums = fs::read_to_string(run.join("SHA256SUMS")).unwrap();
    let others = sums.lines().filter(|line| !line.ends_with("  report.html"));
    let others: Vec<&str> = others.collect();
    let text = format!("{}\n{}", others.join("\n"), String::from_utf8(sum.stdout).unwrap());
    fs::write(run.join("SHA256SUMS"), text).unwrap();

    let report = call(folder.path(), &["report", "run"]);
    assert_eq!(report.status, Some(0), "{}", report.err);
    assert_eq!(report.err, "");
    let after = call(folder.path(), &["show", "run", "--json"]);
    assert_eq!((after.status, after.out), (Some(0), before.out));
    // What was damaged before stays damaged, whatever is made anew.
    fs::write(
        run.join("manifest.json"),
        fs::read_to_string(run.join("manifest.json")).unwrap() + " ",
    )
    .unwrap();
    let report = call(folder.path(), &["report", "run"]);
    assert!(report.err.contains("`manifest.json` was changed after the run"), "{}", report.err);
    let report = call(folder.path(), &["report", "run"]);
    assert!(report.err.contains("`manifest.json` was changed after the run"), "{}", report.err);
}
