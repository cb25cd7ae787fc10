//! Accesses to memory, as a person has them measured. Structure is looked at and no time: a
//! machine that runs tests measures nothing.

use std::collections::BTreeSet;
use std::fs;

use quietcore_skip::skip;
use serde_json::Value;

use crate::command::call;

/// Returns `true` if there is a CPU for neighbours.
pub(super) fn has_another_cpu() -> bool {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    online.trim().contains(['-', ','])
}

/// Returns the options of the smallest possible run of these parts.
fn small<'a>(parts: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec![
        "probe",
        "memory",
        "--parts",
        parts,
        "--to",
        "16 KiB",
        "--per-octave",
        "1",
        "--rounds",
        "6",
        "--block",
        "200 us",
        "--warm-up",
        "20 ms",
        "--steps",
        "3",
        "--loops",
        "40",
        "--neighbour-size",
        "4 MiB",
        "--json",
    ];
    arguments.extend(more);
    arguments
}

/// Checks that a curve is whole and says whether neighbours worked.
fn check_curve(curve: &Value) {
    let (name, memory) = (&curve["name"], &curve["memory"]);
    let points = memory["points"].as_array().unwrap();
    let sizes: Vec<u64> =
        points.iter().map(|it| it["working_set_bytes"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10], "{name}");
    assert_eq!(curve["statistics"]["count"], 30, "{name}: five sets in six rounds");
    let beside = name.as_str().unwrap().contains("neighbours");
    assert_eq!(memory["interference"].is_object(), beside, "{name}");
    assert!(memory["pages"].as_str().unwrap().contains("4 KiB"), "{memory}");
    for point in points {
        assert!(point["access_ns"]["median"].as_f64().unwrap() > 0.0);
        assert_eq!(point["access_ns"]["count"], 6);
        // On a busy machine neighbours may have no processor during a short block.
        let load = point["load_bytes_per_second"].as_f64().unwrap();
        assert!(if beside { load >= 0.0 } else { load.abs() < 1e-9 }, "{point}");
    }
    let loads = curve["conditions"]["loads"].as_array().unwrap();
    assert_eq!(loads.len(), usize::from(beside));
    assert!(
        loads
            .iter()
            .all(|load| load["working"] == 3 && load["bytes_per_second"].as_f64() > Some(0.0))
    );
    let because = curve["invalid_because"].to_string();
    assert!(!because.contains("worked while") && !because.contains("add up"), "{because}");
}

/// Goal: what is printed, kept, shown again and written as a table is the same evidence.
/// Method: all three parts, as small as they can be.
#[test]
fn accesses_are_measured_in_turns_kept_and_shown_again() {
    if !has_another_cpu() {
        skip!("there is one CPU, and neighbours need another one");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = small("curves,pressure,routines", &["--no-ways", "--out", "run"]);
    let run = call(folder.path(), &arguments);
    assert_eq!(run.status, Some(0), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document["verdicts"].as_array().unwrap().len(), 0, "no class judges an access");
    let records = document["records"].as_array().unwrap();
    let curves: Vec<&Value> = records
        .iter()
        .filter(|it| it["memory"]["points"].as_array().is_some_and(|it| !it.is_empty()))
        .collect();
    let names: BTreeSet<&str> = curves.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(
        names.into_iter().collect::<Vec<_>>(),
        [
            "process.alone.random",
            "process.alone.sequential",
            "process.neighbours.random",
            "process.neighbours.sequential"
        ]
    );
    curves.iter().for_each(|curve| check_curve(curve));
    let slowdowns = document["memory_slowdowns"].as_array().unwrap();
    assert_eq!(slowdowns.len(), 2);
    assert!(slowdowns.iter().all(|it| it["points"][0]["ratio"]["low"].is_f64()), "six rounds");
    let pressure = &document["pressures"][0];
    let asked: Vec<u64> = pressure["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["asked_permille"].as_u64().unwrap())
        .collect();
    assert_eq!(asked.into_iter().collect::<BTreeSet<_>>(), [333, 666, 1000].into());
    let routines = document["routine_slowdowns"].as_array().unwrap();
    assert_eq!(routines.len(), 15, "ten, and five by a signal");
    assert_eq!(routines.iter().filter(|it| it["published"].is_object()).count(), 10);

    let shown = call(folder.path(), &["show", "run", "--json"]);
    assert_eq!(shown.out, run.out);
    let text = call(folder.path(), &["show", "run"]).out;
    for words in
        ["random access", "pressure, neighbours", "routine beside", "scordino2020, figure 6"]
    {
        assert!(text.contains(words), "`{words}` in {text}");
    }
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("<section id=\"memory\"") && page.contains("Slowdown by neighbours"));
    assert_eq!(call(folder.path(), &["report", "run", "--csv", "tables"]).status, Some(0));
    let table = fs::read_to_string(folder.path().join("tables/memory.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 4 * 5);
    let beside = call(folder.path(), &["compare", "run", "--with", "scordino2020/figure-6"]);
    assert_eq!(beside.status, Some(2));
    assert!(beside.err.contains("`show` and the report put them beside"), "{}", beside.err);
}

/// Measures curves and the pressure beside two neighbours of a backend, keeps them in `run`, and
/// checks who worked. Returns the reason where this machine runs no such neighbours.
fn check_beside(backend: &str, more: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--neighbours", "2", "--neighbour-backend", backend, "--out", "run"];
    let options = [&["--no-ways"][..], &options, more].concat();
    let run = call(folder.path(), &small("curves,pressure", &options));
    if run.err.contains("are left out: ") {
        assert_eq!(run.status, Some(2), "{}", run.err);
        assert!(!folder.path().join("run").exists(), "nothing was made");
        return Some(run.err);
    }
    assert_eq!(run.status, Some(0), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let records = document["records"].as_array().unwrap();
    assert_eq!(records.len(), 5, "two patterns alone and beside neighbours, and the pressure");
    for record in records {
        let (name, who) = (record["name"].as_str().unwrap(), &record["memory"]["interference"]);
        let because = record["invalid_because"].to_string();
        assert!(!because.contains("neighbour"), "{name}: {because}");
        let loads = record["conditions"]["loads"].as_array().unwrap();
        if name.contains("alone") {
            assert!(who.is_null() && loads.is_empty(), "{name}");
            continue;
        }
        assert_eq!((&who["backend"], &who["workers"]), (&backend.into(), &2.into()), "{name}");
        let [load] = &loads[..] else { panic!("{name}: {loads:?}") };
        assert_eq!((&load["working"], &load["cpus"]), (&2.into(), &who["cpus"]), "{name}");
        assert!(load["bytes_per_second"].as_f64() > Some(0.0), "{name}: {load}");
    }
    let slowdowns = document["memory_slowdowns"].as_array().unwrap();
    assert!(slowdowns.iter().all(|it| it["points"][0]["ratio"]["low"].is_f64()), "six rounds");
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains(&format!("2 × memory-bandwidth ({backend}) over ")), "who they were");
    None
}

/// Goal: containers rest and work in turns beside a process, as its like do.
#[test]
fn accesses_are_measured_beside_containers() {
    if !has_another_cpu() {
        skip!("there is one CPU, and neighbours need another one");
        return;
    }
    if let Some(why) = check_beside("container", &[]) {
        skip!("no container runs here: {why}");
    }
}

/// Goal: the same of Linux guests of QEMU, whose image `QUIETCORE_TEST_IMAGE` names and whose
/// processors QEMU emulates; without an image they are refused before anything starts.
#[test]
fn accesses_are_measured_beside_linux_guests() {
    if !has_another_cpu() {
        skip!("there is one CPU, and neighbours need another one");
        return;
    }
    let emulated = ["--neighbour-accelerator", "tcg"];
    assert!(check_beside("qemu", &emulated).is_some(), "there is no image");
    let Ok(image) = std::env::var("QUIETCORE_TEST_IMAGE") else {
        skip!("QUIETCORE_TEST_IMAGE names no image of a Linux guest");
        return;
    };
    let beside = check_beside("qemu", &[&emulated[..], &["--neighbour-image", &image]].concat());
    assert_eq!(beside, None);
}

/// Goal: ways that can't be had are no failure unless they were asked for, and their absence is
/// said with its reason.
#[test]
fn a_cache_that_can_not_be_divided_is_said() {
    if !has_another_cpu() {
        skip!("there is one CPU, and neighbours need another one");
        return;
    }
    if fs::exists("/sys/fs/resctrl/schemata").unwrap() {
        skip!("this machine's cache can be divided; unmount /sys/fs/resctrl");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = call(folder.path(), &small("curves", &["--out", "run"]));
    assert_eq!(run.status, Some(0), "{}", run.err);
    let manifest = fs::read_to_string(folder.path().join("run/manifest.json")).unwrap();
    assert!(manifest.contains("no curve with ways of the cache of its own was measured"));
    assert!(manifest.contains("mount -t resctrl"), "{manifest}");
    let asked = call(folder.path(), &small("curves", &["--ways", "4"]));
    assert_eq!(asked.status, Some(2));
    assert!(asked.err.contains("--ways 4: `/sys/fs/resctrl`"), "{}", asked.err);
}

#[test]
fn what_cannot_be_measured_is_refused_before_it_begins() {
    if !has_another_cpu() {
        skip!("there is one CPU, and neighbours need another one");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (["--cpu", "1000"], "--cpu 1000: CPU 1000 is not online"),
        (["--from", "100 B"], "too small to be measured; use 1.00 KiB at least"),
        (["--to", "8000 GiB"], "it is too large; use "),
        (["--from", "64 MiB"], "exchange them"),
        (["--stride", "48"], "use one of 8, 64, 128"),
        (["--per-octave", "99"], "use 1 to 16"),
        (["--block", "1 s"], "--block 1.00 s: out of range"),
        (["--warm-up", "5 min"], "--warm-up 5"),
        (["--neighbour-kind", "sleep"], "`sleep` is no kind of load"),
        (["--neighbour-kind", "sqrt"], "it counts no bytes"),
        (["--neighbour-cpus", "0-1023"], "is the partition's"),
        (["--neighbour-size", "1 KiB"], "is outside"),
        (["--neighbour-backend", "kvm"], "process, container, qemu"),
        (["--working-set", "9 B"], "--working-set: a working set of 9 B"),
        (["--parts", "dance"], "dance"),
    ] {
        let mut all = vec!["probe", "memory", "--out", "run", "--rounds", "1"];
        if !arguments[0].starts_with("--to") {
            all.extend(["--to", "32 MiB"]);
        }
        let said = call(folder.path(), &[&all[..], &arguments[..]].concat());
        assert_eq!(said.status, Some(2), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(words), "`{words}` in {}", said.err);
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left behind");
    }
}
