//! `tune`, `disturb` and `cost` on this machine, short: what is compared, what is kept, and that
//! every setting is put back. The findings themselves are not checked.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests call it in other ways")]
mod command;

use std::fs;
use std::path::Path;

use command::{call, site};
use serde_json::Value;

const TIMERS: &str = "/proc/sys/kernel/timer_migration";
const STATISTICS: &str = "/proc/sys/vm/stat_interval";

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns a site; skips the test on a machine where settings can't be changed.
fn site_or_skip(folder: &Path) -> Option<String> {
    let Some(site) = site(folder, "profiles = [\"tp2\"]\nduration = \"500 ms\"") else {
        quietcore_skip::skip!("one CPU only");
        return None;
    };
    if !is_root() {
        quietcore_skip::skip!("settings are changed by root alone");
        return None;
    }
    Some(site)
}

/// Makes a site whose partition runs the tank, and adds `rest` to it; `None` with one CPU only.
fn site_with_program(folder: &Path, rest: &str) -> Option<String> {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tank");
    let program = format!("[partition.program]\nmodel = \"{model}\"\nwatchdog = \"1 s\"");
    let site = site(folder, "profiles = [\"tp2\"]\nduration = \"500 ms\"")?;
    let path = folder.join(&site);
    let text = fs::read_to_string(&path).expect("the site file was written");
    let text = text.replace("[partition.program]", &program) + rest;
    fs::write(&path, text).expect("the site file can be written");
    Some(site)
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn profiles(document: &Value) -> Vec<&str> {
    let records = document["records"].as_array().unwrap();
    records.iter().map(|record| record["profile"].as_str().unwrap()).collect()
}

/// Goal: each control is left out of all in every round, sets are tried against the class, and the
/// settings are as they were.
#[test]
fn controls_are_tried_and_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = site_or_skip(folder.path()) else { return };
    let read = || [TIMERS, STATISTICS].map(|path| fs::read_to_string(path).unwrap_or_default());
    let before = read();
    if before.iter().any(String::is_empty) {
        quietcore_skip::skip!("this kernel has no {TIMERS} or no {STATISTICS}");
        return;
    }
    let run = call(
        folder.path(),
        &[
            "tune",
            &site,
            "--control",
            "timers,statistics",
            "--rounds",
            "2",
            "--block",
            "150ms",
            "--warm-up",
            "20ms",
            "--confirm",
            "300ms",
            "--out",
            "run",
            "--json",
        ],
    );
    assert!(matches!(run.status, Some(0 | 1)), "{}", run.err);
    assert_eq!(read(), before);
    let document = document(&run.out);
    let profiles = profiles(&document);
    assert_eq!(
        profiles[..5],
        ["all", "none", "without-timers", "without-statistics", "set-1"],
        "{profiles:?}"
    );
    let tuning = &document["tunings"][0];
    assert_eq!(tuning["controls"], serde_json::json!(["timers", "statistics"]));
    assert_eq!((&tuning["rounds"], &tuning["partition"]), (&2.into(), &"axis".into()));
    for effect in tuning["effects"].as_array().unwrap() {
        // Two rounds are sure of nothing.
        assert_eq!(effect["effect"], "not-shown", "{effect}");
        assert_eq!(effect["ratios"][0]["ratio"]["count"], 2, "{effect}");
    }
    let sets = tuning["confirmed"].as_array().unwrap();
    assert_eq!(sets[0]["on"], serde_json::json!([]), "nothing is tried first");
    assert_eq!(tuning.get("smallest").is_some_and(Value::is_array), run.status == Some(0));
    if sets[0]["reached"] == true {
        assert_eq!(tuning["smallest"], serde_json::json!([]));
    }
    for part in ["run/report.html", "run/site.toml", "run/SHA256SUMS"] {
        assert!(folder.path().join(part).is_file(), "{part}");
    }
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("What each control does") && page.contains("without-timers"));
    assert_genuine(folder.path());
}

/// Checks that nothing in an honest folder contradicts it.
fn assert_genuine(folder: &Path) {
    let verified = call(folder, &["verify", "run"]);
    assert_eq!(verified.status, Some(0), "{}{}", verified.out, verified.err);
}

/// Goal: a partition is measured alone and beside each neighbour at each place that there is, and
/// places that there are not are said.
#[test]
fn neighbours_are_tried_at_every_place() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = site(folder.path(), "profiles = [\"tp2\"]\nduration = \"500 ms\"") else {
        quietcore_skip::skip!("one CPU only");
        return;
    };
    let run = call(
        folder.path(),
        &[
            "disturb",
            &site,
            "--aggressor",
            "sqrt,fork",
            "--place",
            "same-cpu,other-partition",
            "--rounds",
            "2",
            "--block",
            "150ms",
            "--warm-up",
            "20ms",
            "--out",
            "run",
            "--json",
        ],
    );
    assert_eq!(run.status, Some(0), "{}", run.err);
    assert!(run.err.contains("other partition is left out: there is no other"), "{}", run.err);
    let document = document(&run.out);
    assert_eq!(profiles(&document), ["quiet", "sqrt-same-cpu", "fork-same-cpu"]);
    let matrix = &document["disturbances"][0];
    assert_eq!((&matrix["partition"], &matrix["rounds"]), (&"axis".into(), &2.into()));
    let cells = matrix["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    for cell in cells {
        assert_eq!(cell["aggressor"]["placement"], "same-cpu");
        assert!(cell["achieved"][0]["operations_per_second"].as_f64().unwrap() > 0.0, "{cell}");
        assert!(cell["cycles"].as_u64().unwrap() >= 2, "{cell}");
    }
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("Disturbance matrix") && page.contains("same CPU"));
    assert_genuine(folder.path());
}

/// Disturbs the partition of a site by `network` and `disk` with neighbours of these backends.
fn disturb_beside(folder: &Path, site: &str, backends: &str, more: &[&str]) -> command::Said {
    let disturb = ["disturb", site, "--aggressor", "network,disk", "--place", "other-cpu"];
    let rounds = ["--rounds", "1", "--block", "150ms", "--warm-up", "20ms", "--no-causes"];
    let beside = ["--neighbour-backend", backends, "--out", "run", "--json"];
    call(folder, &[&disturb[..], &rounds, &beside, more].concat())
}

/// Checks the matrix of a load that works among the host's processes and in a neighbour of this
/// backend, which has no disk.
fn check_beside(folder: &Path, said: &command::Said, backend: &str) {
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert!(said.err.contains(" is left out: it has no disk"), "{}", said.err);
    let document = document(&said.out);
    let within = format!("network-{backend}-other-cpu");
    assert_eq!(profiles(&document), ["quiet", "network-other-cpu", &within, "disk-other-cpu"]);
    let cells = document["disturbances"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[0]["aggressor"].get("backend"), None, "a process of the host");
    assert_eq!(cells[1]["aggressor"]["backend"], backend);
    for cell in cells {
        assert_eq!(cell["achieved"].as_array().unwrap().len(), 1, "{cell}");
        assert!(cell["achieved"][0]["operations_per_second"].as_f64().unwrap() > 0.0, "{cell}");
    }
    let page = fs::read_to_string(folder.join("run/report.html")).unwrap();
    assert!(page.contains(&format!("network ({backend})")), "a row of the matrix");
    assert_genuine(folder);
}

/// Goal: the same load disturbs from among the host's processes and from a container.
#[test]
fn a_load_disturbs_from_a_container_too() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = site(folder.path(), "profiles = [\"tp2\"]\nduration = \"500 ms\"") else {
        quietcore_skip::skip!("one CPU only");
        return;
    };
    let said = disturb_beside(folder.path(), &site, "process,container", &[]);
    if said.err.contains("neighbours of the backend `container` are left out: ") {
        quietcore_skip::skip!("no container runs here: {}", said.err);
        return;
    }
    check_beside(folder.path(), &said, "container");
}

/// Goal: the same load disturbs from a Linux guest of QEMU, whose image `QUIETCORE_TEST_IMAGE`
/// names and whose processor QEMU emulates; without an image it is left out before anything starts.
#[test]
fn a_load_disturbs_from_a_linux_guest_too() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = site(folder.path(), "profiles = [\"tp2\"]\nduration = \"500 ms\"") else {
        quietcore_skip::skip!("one CPU only");
        return;
    };
    let emulated = ["--neighbour-accelerator", "tcg"];
    let said = disturb_beside(folder.path(), &site, "qemu", &emulated);
    assert_eq!(said.status, Some(2), "{}", said.err);
    let why = "neighbours of the backend `qemu` are left out: ";
    assert!(said.err.contains(why), "{}", said.err);
    assert!(!folder.path().join("run").exists(), "nothing was made");
    let Ok(image) = std::env::var("QUIETCORE_TEST_IMAGE") else {
        quietcore_skip::skip!("QUIETCORE_TEST_IMAGE names no image of a Linux guest");
        return;
    };
    let emulated = [&emulated[..], &["--neighbour-image", &image]].concat();
    let said = disturb_beside(folder.path(), &site, "process,qemu", &emulated);
    assert!(said.err.contains("neighbours of the backend `qemu` are emulated"), "{}", said.err);
    check_beside(folder.path(), &said, "qemu");
}

/// Goal: a process is measured beside a container and an emulated guest in every round, what this
/// machine can't run is left out with its reason, and no time of an emulator is judged.
#[test]
fn backends_are_compared_with_a_process() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = site_with_program(folder.path(), "") else {
        quietcore_skip::skip!("one CPU only");
        return;
    };
    let rounds = ["--rounds", "2", "--block", "150ms", "--warm-up", "20ms"];
    let cost = ["cost", &site, "--backend", "container,qemu,xen", "--accelerator", "tcg"];
    let all = [&cost[..], &rounds, &["--out", "run", "--json"]].concat();
    let run = call(folder.path(), &all);
    if run.err.contains("nothing is left to compare") {
        assert_eq!(run.status, Some(2), "{}", run.err);
        quietcore_skip::skip!("no backend but a process runs here: {}", run.err);
        return;
    }
    assert_eq!(run.status, Some(0), "{}", run.err);
    let document = document(&run.out);
    let cost = &document["costs"][0];
    assert_eq!((&cost["partition"], &cost["reference"]), (&"axis".into(), &"process".into()));
    assert_eq!((&cost["rounds"], &cost["seed"]), (&2.into(), &1.into()));
    let backends = cost["backends"].as_array().unwrap();
    let names: Vec<&str> = backends.iter().map(|it| it["backend"].as_str().unwrap()).collect();
    for backend in ["container", "qemu", "xen"] {
        let told = [format!("backend `{backend}` is left out: "), format!("{backend}: left out: ")];
        let is_told = told.iter().any(|words| run.err.contains(words));
        assert!(names.contains(&backend) || is_told, "{backend}: {}", run.err);
    }
    for backend in backends {
        assert_eq!(backend["figures"].as_array().unwrap().len(), 9, "{backend}");
        for figure in backend["figures"].as_array().unwrap() {
            // Two rounds are sure of nothing but of what does not matter, and of no emulator's.
            assert_ne!(figure["ratio"]["finding"], "more", "{figure}");
            assert!(figure["of_rounds"].as_array().unwrap().len() <= 2, "{figure}");
        }
        assert!(backend["backend"] != "qemu" || backend["valid"] == false, "{backend}");
    }
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("What each backend costs") && page.contains("Cost of backends"));
    assert_genuine(folder.path());
}

/// Goal: routines of the kernel and frames are measured in each backend that has them, in one
/// folder, and where one has not, it is said why.
#[test]
fn backends_are_compared_by_what_probes_measure() {
    let folder = tempfile::tempdir().unwrap();
    let bus = "\n[fieldbus.ec0]\npartition = \"axis\"\ninterface = \"sim\"\ncycle = \"1 ms\"\n\
               [[fieldbus.ec0.subdevice]]\nname = \"head\"\ndevice = \"coupler\"\n";
    let Some(site) = site_with_program(folder.path(), bus) else {
        quietcore_skip::skip!("one CPU only");
        return;
    };
    let rounds = ["--rounds", "2", "--block", "150ms", "--warm-up", "20ms"];
    let cost = ["cost", &site, "--backend", "container,qemu", "--accelerator", "tcg"];
    let measures = ["--measure", "routines,round-trips", "--out", "run", "--json"];
    let run = call(folder.path(), &[&cost[..], &rounds, &measures].concat());
    if run.err.contains("nothing is left to compare") {
        assert_eq!(run.status, Some(2), "{}", run.err);
        quietcore_skip::skip!("no backend but a process runs here: {}", run.err);
        return;
    }
    assert_eq!(run.status, Some(0), "{}", run.err);
    let document = document(&run.out);
    let costs = document["costs"].as_array().unwrap();
    assert_eq!(costs[0]["measure"], "routines");
    for backend in costs[0]["backends"].as_array().unwrap() {
        let is_emulated = backend["backend"] == "qemu";
        assert!(!is_emulated || backend["valid"] == false, "{backend}");
        let figures = backend["figures"].as_array().unwrap();
        let of = |routine: &str| figures.iter().filter(|it| it["routine"] == routine).count();
        assert_eq!((of("act"), of("terml"), of("empty")), (2, 2, 0), "{backend}");
        // A guest has no signals, so that there is nothing to compare those of a process with.
        assert_eq!(of("isrentry-signal"), if is_emulated { 0 } else { 2 }, "{backend}");
    }
    let of_frames = costs.iter().find(|cost| cost["measure"] == "round-trips");
    match of_frames {
        Some(cost) => {
            for backend in cost["backends"].as_array().unwrap() {
                assert_eq!(backend["figures"].as_array().unwrap().len(), 3, "{backend}");
                assert!(backend["backend"] != "qemu" || backend["valid"] == false, "{backend}");
            }
        }
        None => assert!(run.err.contains("`round-trips` is left out: no other"), "{}", run.err),
    }
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("axis · routines of the OSEK kernel"));
    assert_genuine(folder.path());
}

/// Goal: what can't be meant is refused at once, with what would be right.
#[test]
fn requests_that_can_not_be_meant_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = site_or_skip(folder.path()) else { return };
    let cases: [(&[&str], &str); 13] = [
        (&["tune", "--control", "governer"], "did you mean `governor`?"),
        (&["tune", "--profile", "tp1"], "does not pin"),
        (&["tune", "--profile", "tp9"], "there is no profile `tp9`"),
        (&["tune", "--block", "1ms"], "--block 1.00 ms: give 100 ms to"),
        (&["disturb", "--partition", "axes"], "did you mean `axis`?"),
        (&["disturb", "--place", "other-partition"], "there is no other partition"),
        (&["disturb", "--warm-up", "2h"], "--warm-up"),
        (&["cost", "--partition", "axes"], "did you mean `axis`?"),
        (&["cost", "--backend", "process"], "is what the others are compared with"),
        (&["cost", "--backend", "kvm"], "backend `kvm` is left out: "),
        (&["cost", "--within", "10s"], "60 blocks take"),
        (&["cost", "--profile", "tp1"], "does not pin"),
        (&["cost", "--measure", "round-trips"], "partition `axis` drives no fieldbus"),
    ];
    for (arguments, words) in cases {
        let mut all = vec![arguments[0], &*site];
        all.extend(&arguments[1..]);
        let said = call(folder.path(), &all);
        assert_eq!(said.status, Some(2), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(words), "{arguments:?}: {}", said.err);
    }
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "nothing is made: {names:?}");
}
