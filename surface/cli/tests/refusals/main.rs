//! The command line: its own description, and its answer to bad input: a clear error that names the
//! place, exit status 2, and no half-written file.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod calls;
#[expect(dead_code, reason = "other tests call it in other ways")]
#[path = "../command/mod.rs"]
mod command;
mod plan;
#[path = "../stored/mod.rs"]
mod stored;

use std::fs;
use std::time::Instant;

use command::call;

/// Returns the names of everything in a folder, to check that nothing was left behind.
fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_site_file_that_is_none_is_refused_with_its_place() {
    let cases: [(&str, Vec<u8>, &[&str]); 6] = [
        ("empty.toml", Vec::new(), &["empty.toml", "empty"]),
        ("binary.toml", vec![b'[', 0xff, 0xfe], &["binary.toml", "UTF-8"]),
        ("huge.toml", vec![b'#'; 100 << 20], &["huge.toml", "1 MiB"]),
        ("cyclic.toml", CYCLIC.into(), &["cyclic.toml:", "`class.a.like`", "a"]),
        ("negative.toml", NEGATIVE.into(), &["negative.toml:11", "-1 ms", "positive"]),
        ("unknown.toml", UNKNOWN.into(), &["unknown.toml:2:1", "`nam`", "`name`"]),
    ];
    for (name, bytes, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), bytes).unwrap();
        for verb in ["plan", "qualify"] {
            let begin = Instant::now();
            let said = call(folder.path(), &[verb, name]);
            assert_eq!(said.status, Some(2), "{verb} {name}: {}", said.err);
            assert_eq!(said.out, "", "{verb} {name}");
            for word in expected {
                assert!(said.err.contains(word), "{verb} {name}: `{word}` in {}", said.err);
            }
            assert!(begin.elapsed().as_secs() < 5, "{verb} {name} took too long");
            assert_eq!(names(folder.path()), [name], "{verb} left something behind");
        }
    }
}

const CYCLIC: &str = "[site]\nname = \"x\"\n[[class]]\nname = \"a\"\nlike = \
                      \"b\"\n[[class]]\nname = \"b\"\nlike = \"a\"\n[[partition]]\nname = \
                      \"p\"\nclass = \"a\"\n[partition.vcr]\ncpus = \
                      [0]\n[partition.program]\nperiod = \"1 ms\"\n";
const NEGATIVE: &str = "[site]\nname = \"x\"\n[host]\nhousekeeping = []\n[[partition]]\nname = \
                        \"p\"\nclass = \"motion-control\"\n[partition.vcr]\ncpus = \
                        [0]\n[partition.program]\nperiod = \"-1 ms\"\n";
const UNKNOWN: &str = "[site]\nnam = \"x\"\n";

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in
        [["plan", "none.toml"], ["qualify", "none.toml"], ["show", "none"], ["report", "none"]]
    {
        let said = call(folder.path(), &arguments);
        assert_eq!(said.status, Some(2), "{arguments:?}");
        assert!(said.err.contains("none"), "{arguments:?}: {}", said.err);
        assert!(said.err.contains("No such file"), "{arguments:?}: {}", said.err);
    }
}

#[test]
fn a_cpu_that_does_not_exist_is_refused_before_anything_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let site = "[site]\nname = \"x\"\n[[partition]]\nname = \"p\"\nclass = \
                \"motion-control\"\n[partition.vcr]\ncpus = [1000]\n[partition.program]\nperiod = \
                \"1 ms\"\n";
    fs::write(folder.path().join("far.toml"), site).unwrap();
    let said = call(folder.path(), &["qualify", "far.toml"]);
    assert_eq!(said.status, Some(2));
    assert!(said.err.contains("far.toml:7") && said.err.contains("1000"), "{}", said.err);
    assert_eq!(names(folder.path()), ["far.toml"]);
    let said = call(folder.path(), &["probe", "latency", "--cpus", "1000"]);
    assert_eq!(said.status, Some(2));
    assert!(said.err.contains("CPU 1000 is not online"), "{}", said.err);
}

#[test]
fn absurd_options_of_a_probe_are_refused_all_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let said = call(
        folder.path(),
        &[
            "probe",
            "latency",
            "--period",
            "1 ns",
            "--margin",
            "5 s",
            "--inject",
            "11s@5",
            "--load",
            "gravity:2",
        ],
    );
    assert_eq!(said.status, Some(2));
    for word in ["--period 1 ns", "--margin 5.00 s", "--inject", "gravity"] {
        assert!(said.err.contains(word), "`{word}` in {}", said.err);
    }
    for absurd in [["--period=10 s", "--cycles=100000000000"], ["--warm-up=200000 d", "--cycles=5"]]
    {
        let said = call(folder.path(), &["probe", "latency", absurd[0], absurd[1]]);
        assert_eq!(said.status, Some(2), "{absurd:?}");
        assert!(said.err.contains("longer than"), "{}", said.err);
    }
    for (option, value) in [("--period", "-3 ms"), ("--priority", "100"), ("--share", "0")] {
        let said = call(folder.path(), &["probe", "latency", &format!("{option}={value}")]);
        assert_eq!(said.status, Some(2), "{option}");
        assert!(said.err.contains(option), "{}", said.err);
    }
}

#[test]
fn imports_that_are_broken_name_line_and_remedy_and_write_nothing() {
    let broken = [
        ("truncated", &HISTOGRAM[..26]),
        ("words", "hello\nworld\n"),
        ("nothing", ""),
        ("reordered", "# Histogram\n000002 000001\n000001 000004\n# Total: 000000005\n"),
        ("letters", "# Histogram\n000000 0000x0\n# Total: 000000000\n"),
    ];
    for (name, text) in broken {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), text).unwrap();
        let said = call(folder.path(), &["import", "cyclictest", name, "--out", "evidence"]);
        assert_eq!(said.status, Some(2), "{name}: {}", said.err);
        assert!(said.err.contains(&format!("{name}:")), "{name}: {}", said.err);
        assert_eq!(names(folder.path()), [name]);
    }
    let folder = imported();
    // A second import into the same folder would mix two pieces of evidence.
    let said = call(folder.path(), &["import", "cyclictest", "good", "--out", "evidence"]);
    assert_eq!(said.status, Some(2));
    assert!(said.err.contains("evidence") && said.err.contains("exists"), "{}", said.err);
}

const HISTOGRAM: &str = "# Histogram\n000000 000000\n000001 000004\n# Total: 000000004\n# Min \
                         Latencies: 00001\n# Avg Latencies: 00001\n# Max Latencies: 00001\n# \
                         Histogram Overflows: 00000\n";

/// Makes a folder `evidence` from a file `good`.
fn imported() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for files");
    fs::write(folder.path().join("good"), HISTOGRAM).expect("a file can be written");
    let said = call(folder.path(), &["import", "cyclictest", "good", "--out", "evidence"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    folder
}

/// Goal: where a file is read `-` is standard input; nobody gets a file or a folder of that name.
#[test]
fn a_dash_is_no_path_to_write_to() {
    let folder = imported();
    fs::write(folder.path().join("conf.oil"), "").unwrap();
    fs::write(folder.path().join("site.toml"), "").unwrap();
    let before = names(folder.path());
    let reports = ["--html", "--junit", "--csv", "--sections", "--cyclictest"];
    let mut calls = reports.map(|option| vec!["report", "evidence", option, "-"]).to_vec();
    calls.extend([
        vec!["report", ".", "--html", "-"],
        vec!["report", "evidence", "--html", "page.html", "--csv", "-"],
        vec!["import", "cyclictest", "good", "--out", "-"],
        vec!["export", "systemd", "site.toml", "--out", "-"],
        vec!["osek", "generate", "conf.oil", "--out", "-"],
        vec!["guest", "build", "--out", "-"],
        vec!["man", "--out", "-"],
    ]);
    for arguments in calls {
        let said = call(folder.path(), &arguments);
        assert_eq!(said.status, Some(2), "{arguments:?}: {}", said.err);
        let option = arguments[arguments.len() - 2];
        let told = format!("{option} -: `-` is no path to write to; for one of that very name");
        assert!(said.err.contains(&told), "{arguments:?}: {}", said.err);
        assert_eq!(names(folder.path()), before, "{arguments:?}");
    }
}

/// Goal: an error of the system is told with the path that it is about.
#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = imported();
    let Some(site) = command::site(folder.path(), "") else {
        return quietcore_skip::skip!("needs two CPUs; this machine has one");
    };
    for (arguments, path) in [
        (&["export", "systemd", &site, "--out", "good"][..], "good"),
        (&["report", "evidence", "--csv", "/dev/full/x"], "/dev/full/x"),
        (&["report", "evidence", "--sections", "good/x"], "good/x"),
        (&["man", "--out", "good"], "good"),
    ] {
        let said = call(folder.path(), arguments);
        assert_eq!(said.status, Some(2), "{arguments:?}: {}", said.err);
        let told = format!("`{path}` can't be made a folder; name another one: ");
        assert!(said.err.contains(&told), "{arguments:?}: {}", said.err);
    }
    let mut piped = command::quietcore(folder.path());
    piped.args(["export", "systemd", "-"]);
    piped.stdin(fs::File::open(folder.path().join(&site)).unwrap());
    let said = command::said(&piped.output().unwrap());
    assert_eq!(said.status, Some(2), "{}", said.out);
    assert!(said.err.contains("`-`: what is written names the site file"), "{}", said.err);
}

/// Goal: who imports without a period is told the option that gives it, last of all; and a stall
/// that no period excuses is a FAIL.
#[test]
fn an_import_without_a_period_asks_for_it_and_fails_what_no_period_excuses() {
    let folder = tempfile::tempdir().unwrap();
    let stalled = "# Histogram\n000000 000000\n000001 000004\n# Total: 000000004\n# Min Latencies: \
                   00001\n# Avg Latencies: 16200\n# Max Latencies: 81000\n# Histogram Overflows: \
                   00001\n";
    fs::write(folder.path().join("stalled"), stalled).unwrap();
    let said = call(folder.path(), &["import", "cyclictest", "stalled", "--out", "evidence"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert!(said.err.lines().last().unwrap().contains("--interval 1ms"), "{}", said.err);
    let shown = call(folder.path(), &["show", "evidence", "--json"]);
    let evidence: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    let verdicts = evidence["verdicts"].as_array().unwrap();
    let of = |class: &str| verdicts.iter().find(|verdict| verdict["class"] == class).unwrap();
    assert_eq!(of("motion-control")["verdict"], "FAIL", "{}", of("motion-control"));
    assert!(of("motion-control")["because"].as_str().unwrap().contains("whatever the period"));
    let zero = ["import", "cyclictest", "stalled", "--out", "other", "--interval", "0us"];
    let said = call(folder.path(), &zero);
    assert_eq!(said.status, Some(2), "{}", said.err);
    assert!(said.err.contains("--interval 0 is no time between two releases"), "{}", said.err);
    assert!(!folder.path().join("other").exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_before_measuring() {
    let folder = tempfile::tempdir().unwrap();
    if command::site(folder.path(), "duration = \"1 h\"").is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    let begin = Instant::now();
    let said = call(folder.path(), &["qualify", "site.toml", "--out", "/proc/nowhere/run"]);
    assert_eq!(said.status, Some(2));
    assert!(said.err.contains("/proc/nowhere"), "{}", said.err);
    assert!(begin.elapsed().as_secs() < 20);
}

/// Goal: an example with a program can be planned in an empty folder, from the one command.
/// Method: write what `init` prints, plan it, and see that a changed model is not written over.
#[test]
fn init_writes_the_model_beside_the_site_file_and_never_over_another_one() {
    let models = [("servo", "servo", 7), ("turbine", "turbine", 7), ("tank", "tank", 4)];
    for (example, name, files) in models.into_iter().chain([("osek", "conveyor", 4)]) {
        let folder = tempfile::tempdir().unwrap();
        let said = call(folder.path(), &["init", "--example", example]);
        assert_eq!(said.status, Some(0), "{}", said.err);
        assert!(
            said.err.contains(&format!("wrote `models/{name}` ({files} files)")),
            "{}",
            said.err
        );
        fs::write(folder.path().join("site.toml"), &said.out).unwrap();
        let planned = call(folder.path(), &["plan", "site.toml"]);
        assert_eq!(planned.status, Some(0), "{}", planned.err);
        assert!(planned.out.contains(&format!("build program `models/{name}`")), "{}", planned.out);
        let model = folder.path().join("models").join(name).join(format!("{name}.c"));
        fs::write(&model, "mine").unwrap();
        let again = call(folder.path(), &["init", "--example", example]);
        assert_eq!((again.status, again.out.as_str()), (Some(2), ""), "{}", again.err);
        assert!(again.err.contains(&format!("{name}.c` is not what")), "{}", again.err);
        assert_eq!(fs::read_to_string(&model).unwrap(), "mine");
    }
}

/// Goal: files for others are written once, and never over what is there and differs.
#[test]
fn an_export_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = command::site(folder.path(), "") else {
        return quietcore_skip::skip!("needs two CPUs; this machine has one");
    };
    let arguments = ["export", "podman", &site, "--out", "deploy"];
    let written = call(folder.path(), &arguments);
    assert_eq!(written.status, Some(0), "{}", written.err);
    let unit = folder.path().join("deploy/quietcore-test.container");
    let text = std::fs::read_to_string(&unit).unwrap();
    assert!(text.contains("--cap-add=SYS_NICE,IPC_LOCK --"), "{text}");
    assert_eq!(call(folder.path(), &arguments).status, Some(0), "the same again is no harm");
    std::fs::write(&unit, "somebody's own").unwrap();
    let refused = call(folder.path(), &arguments);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("is there and differs"), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(&unit).unwrap(), "somebody's own");
}

/// Goal: a file that grows beyond the limit of its user is an error with words, as any other.
/// Method: `init` writes its site file into standard output, which is a file that may hold nothing.
#[test]
fn a_file_beyond_the_limit_of_its_user_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let script = "ulimit -f 0; exec \"$0\" init >site.toml";
    let ran = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_quietcore")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.to_lowercase().contains("too large"), "{said}");
}
