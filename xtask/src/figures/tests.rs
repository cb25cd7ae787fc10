//! Tables of figures on a document of a few lines, and runs that may or may not claim something.

use super::*;

const ROWS: &str = r#"
[[speed]]
bench = "queue"
what = "a queue"
beside = ["`rtrb` {peer rtrb}: {rtrb}", "another {other}"]
result = ["{own}, ratio {own / rtrb} ({own / rtrb|range})"]
typed.result = "42 million/s"
"#;

const DOCUMENT: &str = "# A\n\n<!-- figures: speed -->\n| stale |\n<!-- figures end -->\n\nB.\n";

/// A run with its `not_measured` and a change to its text.
fn run(not_measured: &str, change: (&str, &str)) -> String {
    let text = format!(
        r#"{{"schema": "quietcore.bench/1", "bench": "queue", "method": "m", "quick": false,
        "rounds": 100, "date": "2026-11-24T19:00:00Z", "command": "quietcore-bench queue",
        "build": "release", "machine": {{"cpu_model": "AMD EPYC", "cpus_online": "0-1",
        "kernel": "6.18.5", "hypervisor": "KVM"}}, "peers": {{"rtrb": "0.4.1"}}, "figures": [
        {{"name": "own", "unit": "M/s", "value": 44.93, "low": 44.8, "high": 45.0}},
        {{"name": "rtrb", "unit": "M/s", "value": 45.2, "low": 45.1, "high": 45.3}},
        {{"name": "own / rtrb", "unit": "times", "value": 0.995, "low": 0.99, "high": 0.998}}],
        "remarks": [], "not_measured": [{not_measured}]}}"#
    );
    assert!(text.contains(change.0), "{} stands there", change.0);
    text.replace(change.0, change.1)
}

fn read(run: Option<&str>) -> Result<Tables, FiguresError> {
    let files = run.map(|text| ("bench/figures/queue.json", text));
    tables(ROWS, files.into_iter().chain([("bench/figures/rows.toml", ROWS)]))
}

fn written(run: Option<&str>) -> Result<String, FiguresError> {
    rewritten("A.md", DOCUMENT, &read(run)?).map(|(text, _)| text)
}

#[test]
fn a_table_is_what_the_benches_recorded() {
    let run = run("\"other: no licence\"", ("m", "m"));
    let text = written(Some(&run)).unwrap();
    let row = "| a queue | `rtrb` 0.4.1: 45.2 million/s | 44.9 million/s, ratio 0.995 (0.990 to \
               0.998) | 2026-11-24, 100 rounds, A |\n";
    assert!(text.contains(row), "{text}");
    assert!(text.contains("- Machine A: AMD EPYC, CPUs 0-1, Linux 6.18.5, virtualised (KVM)\n"));
    assert!(text.starts_with("# A\n\n") && text.ends_with("\nB.\n"), "{text}");
    let tables = read(Some(&run)).unwrap();
    let again = rewritten("A.md", &text, &tables).unwrap();
    assert_eq!(again, (text, None), "what is written is not written again");
    let remarks = tables.remarks().join("\n");
    assert!(remarks.contains("left out of `a queue`, not measured: another {other}"), "{remarks}");
    assert!(remarks.contains("`typed` can be taken from the row `a queue`"), "{remarks}");
}

#[test]
fn a_row_without_a_run_says_that_it_was_typed() {
    let text = written(None).unwrap();
    assert!(
        text.contains("| a queue |  | 42 million/s | typed by hand, not recorded yet"),
        "{text}"
    );
    assert!(!text.contains("Machine"), "{text}");
}

#[test]
fn a_figure_that_no_bench_has_is_an_error() {
    let error = written(Some(&run("", ("m", "m")))).unwrap_err().to_string();
    assert!(error.contains("the row `a queue` asks for `other`"), "{error}");
    assert!(error.contains("own; rtrb; own / rtrb; peer rtrb"), "{error}");
}

#[test]
fn a_run_that_may_claim_nothing_is_refused() {
    for (change, expected) in [
        (("bench/1", "bench/9"), "its schema is `quietcore.bench/9`"),
        (("\"quick\": false", "\"quick\": true"), "it is of a quick run"),
        (("release", "debug"), "it is of a build `debug`"),
        (("\"rounds\": 100", "\"rounds\": 5"), "it has 5 rounds"),
        (("\"kernel\"", "\"kernels\""), "it does not say its `kernel`"),
        (("2026-11-24T19:00:00Z", ""), "it does not say its `date`"),
        (("\"command\"", "\"commands\""), "missing field `command`"),
    ] {
        let error = written(Some(&run("", change))).unwrap_err().to_string();
        assert!(error.starts_with("bench/figures/queue.json: "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_table_that_is_not_there_or_has_no_end_is_an_error() {
    let tables = read(None).unwrap();
    let of = |text: &str| rewritten("A.md", text, &tables).unwrap_err().to_string();
    let unknown = "a\n<!-- figures: spped -->\n<!-- figures end -->\n";
    assert_eq!(of(unknown), "A.md:2: no such table stands in rows.toml");
    assert_eq!(of("<!-- figures: speed -->\n| a |\n"), "A.md:1: the table has no end");
}

/// Goal: the command writes the table of a document on the disk, and the rule is content then.
#[test]
fn the_command_writes_what_the_rule_asks_for() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(FOLDER)).unwrap();
    let write = |path: &str, text: &str| fs::write(folder.path().join(path), text).unwrap();
    let run = run("\"other\"", ("m", "m"));
    write(super::ROWS, ROWS);
    write("bench/figures/queue.json", &run);
    write("A.md", DOCUMENT);
    let findings = || {
        let text = fs::read_to_string(folder.path().join("A.md")).unwrap();
        crate::rules::documents::figures::check(&crate::tree::Tree::of(&[
            ("A.md", &text),
            (super::ROWS, ROWS),
            ("bench/figures/queue.json", &run),
        ]))
    };
    let [stale] = &findings()[..] else { panic!("one table is stale: {:?}", findings()) };
    assert_eq!((stale.rule, stale.path.as_str(), stale.line), ("figures", "A.md", 3));
    let told = rewrite(folder.path(), &["A.md".to_owned()]).unwrap();
    assert_eq!(told[0], "A.md: rewritten");
    assert_eq!(findings(), []);
}
