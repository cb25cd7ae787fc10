//! A campaign that names a probe: planned, run after the profiles, interrupted, gone on with,
//! reported. Structure is looked at and no time.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use quietcore_skip::skip;
use serde_json::Value;

use super::memory::has_another_cpu;
use crate::command::{call, quietcore, said};

/// A site with one partition, on the last of two CPUs.
const SITE: &str = "[site]\nname = \"press\"\n[[partition]]\nname = \"axis\"\nclass = \
                    \"process-control\"\n[partition.vcr]\ncpus = [1]\n[campaign]\nprofiles = \
                    [\"tp2\"]\ncycles = 100\nwarm_up = \"50 ms\"\nexceedance = 1e-1\nprobes = \
                    [\"memory\", \"osek\"]\n";
/// The longest time that a campaign of 100 cycles may take until its probe begins.
const BEGIN_MAX: Duration = Duration::from_secs(60);

/// The same with another probe alone, and a cycle every 10 ms.
fn every_10_ms(probe: &str) -> String {
    let site = SITE.replace("[\"memory\", \"osek\"]", &format!("[\"{probe}\"]"));
    site.replace("[campaign]", "[partition.program]\nperiod = \"10 ms\"\n[campaign]")
}

/// The entry of a probe in the manifest.
fn entry(folder: &Path, index: usize) -> Value {
    let text = fs::read_to_string(folder.join("run/manifest.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["probes"][index].clone()
}

/// Starts a campaign and ends it as Ctrl-C does when its profile has been measured.
fn interrupted_at_the_probe(folder: &Path) -> String {
    let mut command = quietcore(folder);
    command.args(["qualify", "site.toml", "--out", "run"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while !folder.join("run/records/axis.tp2.cpu1.json").exists() {
        assert!(begin.elapsed() < BEGIN_MAX, "the profile is not measured");
        std::thread::sleep(Duration::from_millis(50));
    }
    let process = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
    said(&child.wait_with_output().unwrap()).err
}

/// Goal: probes are part of a campaign from its plan to its page, and no class judges them.
/// Method: the campaign is interrupted at the first of two; what goes on measures both whole.
#[test]
fn a_campaign_measures_with_its_probes_after_its_profiles_and_goes_on_with_them() {
    if !has_another_cpu() {
        skip!("there is one CPU, and neighbours need another one");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("site.toml"), SITE).unwrap();
    let plan = call(folder.path(), &["plan", "site.toml"]);
    assert!(plan.out.contains("measure with probe `memory` on CPU 1 of partition `axis`"));

    let told = interrupted_at_the_probe(folder.path());
    assert!(told.contains("probe memory of axis") && told.contains("--resume run"), "{told}");
    assert_eq!(entry(folder.path(), 0)["not_measured"], "interrupted; it is measured anew");
    assert_eq!(entry(folder.path(), 1)["not_measured"], "the campaign was ended before");
    let shown = call(folder.path(), &["show", "run"]).out;
    for words in ["A probe has not measured: interrupted", "Concerns axis · probe memory"] {
        assert!(shown.contains(words), "`{words}` in {shown}");
    }

    let resumed = call(folder.path(), &["qualify", "--resume", "run", "--json"]);
    assert!(resumed.status.is_some_and(|status| status < 2), "{}", resumed.err);
    let document: Value = serde_json::from_str(&resumed.out).unwrap();
    let records = document["records"].as_array().unwrap();
    let (of_kernel, records): (Vec<_>, Vec<_>) =
        records.iter().partition(|record| record["probe"] == "osek");
    let is_there = |record: &&Value| record["partition"] == "axis" && record["cpu"] == 1;
    assert!(of_kernel.len() > 10 && of_kernel.iter().all(is_there), "{of_kernel:?}");
    let names: Vec<&str> = records.iter().map(|it| it["name"].as_str().unwrap()).collect();
    let curves = ["alone.random", "alone.sequential", "neighbours.random", "neighbours.sequential"];
    let curves = curves.map(|name| format!("axis.{name}"));
    let pressure = ["axis.pressure.random", "axis.tp2.cpu1"].map(str::to_owned);
    assert_eq!(names, [&curves[..], &pressure[..]].concat());
    let verdicts = document["verdicts"].as_array().unwrap();
    assert!(verdicts.iter().all(|it| it["record"] == "axis.tp2.cpu1"), "no class judges more");
    assert_eq!(document["memory_slowdowns"].as_array().unwrap().len(), 2);
    let sum = |record: &Value| record["conditions"]["site_sha256"].clone();
    assert!(records.iter().all(|record| sum(record) == sum(records[5])), "one site file");
    let found = entry(folder.path(), 0);
    assert!(found["not_measured"].is_null() && found["profiles"][2][0] == "pressure", "{found}");
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    for anchor in ["classes", "memory", "routines"] {
        assert!(page.contains(&format!("<section id=\"{anchor}\"")), "{anchor}");
    }

    assert_eq!(call(folder.path(), &["verify", "run"]).status, Some(0));
    let compared = call(folder.path(), &["compare", "run", "run", "--json"]);
    assert_eq!(compared.status, Some(0), "{}", compared.err);
    assert!(compared.out.contains("axis.neighbours.random"), "{}", compared.out);
    let again = call(folder.path(), &["qualify", "--resume", "run"]);
    assert!(again.err.contains("is complete; nothing is left to be measured"), "{}", again.err);
}

/// Goal: a campaign measures the fieldbus that a partition drives.
/// Method: round trips on a simulated line of two, from the site file to the page, beside a
/// partition that drives none.
#[test]
fn a_campaign_measures_round_trips_on_the_fieldbus_of_a_partition() {
    let folder = tempfile::tempdir().unwrap();
    if !has_another_cpu() {
        skip!("there is one CPU, and the other partition needs another one");
        return;
    }
    let other = "[host]\nhousekeeping = []\n[[partition]]\nname = \"other\"\nclass = \
                 \"process-control\"\n[partition.vcr]\ncpus = [0]\n[partition.program]\nperiod = \
                 \"10 ms\"\n[[partition]]\nname = \"axis\"";
    let site = every_10_ms("ethercat").replace("[[partition]]\nname = \"axis\"", other);
    let line = "[fieldbus.ec0]\npartition = \"axis\"\ninterface = \"sim\"\ncycle = \"10 \
                ms\"\n[[fieldbus.ec0.subdevice]]\nname = \"head\"\ndevice = \
                \"coupler\"\n[[fieldbus.ec0.subdevice]]\nname = \"lamps\"\ndevice = \
                \"digital-output-8\"\n";
    fs::write(folder.path().join("site.toml"), format!("{site}{line}")).unwrap();
    let measured = call(folder.path(), &["qualify", "site.toml", "--out", "run", "--json"]);
    assert!(measured.status.is_some_and(|status| status < 2), "{}", measured.err);
    let document: Value = serde_json::from_str(&measured.out).unwrap();
    let records = document["records"].as_array().unwrap();
    let of_bus: Vec<_> = records.iter().filter(|it| it["probe"] == "ethercat").collect();
    let [of_bus] = of_bus[..] else { panic!("{document}") };
    assert_eq!(of_bus["name"], "axis.fieldbus-ec0.sim");
    assert_eq!(of_bus["round_trip"]["subdevices"], 2, "{of_bus}");
    assert_eq!(of_bus["statistics"]["count"], 100, "as many cycles as the profile has");
    assert_eq!((&of_bus["cpu"], &of_bus["period_ns"]), (&1.into(), &10_000_000.into()));
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("<section id=\"round-trips\""), "round trips on the page");
    let verified = call(folder.path(), &["verify", "run"]);
    assert_eq!(verified.status, Some(0), "{}{}", verified.out, verified.err);
}

/// Goal: a campaign measures interrupts in a guest, whatever realises the partition.
/// Method: one interrupt in each period of a partition, and no time is looked at.
#[test]
fn a_campaign_measures_interrupts_in_a_guest() {
    if !has_another_cpu() {
        skip!("there is one CPU, and the clock board needs another one");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("site.toml"), every_10_ms("irq")).unwrap();
    let planned = call(folder.path(), &["plan", "site.toml"]);
    if planned.status != Some(0) {
        assert!(planned.err.contains("probe `irq`: "), "{}", planned.err);
        skip!("no guest can be had: {}", planned.err.lines().next().unwrap_or_default());
        return;
    }
    let measured = call(folder.path(), &["qualify", "site.toml", "--out", "run", "--json"]);
    assert!(measured.status.is_some_and(|status| status < 2), "{}", measured.err);
    let document: Value = serde_json::from_str(&measured.out).unwrap();
    let records = document["records"].as_array().unwrap();
    let of_irq = records.iter().find(|record| record["probe"] == "irq");
    let of_irq = of_irq.unwrap_or_else(|| panic!("{document}"));
    assert!(of_irq["name"].as_str().unwrap().starts_with("axis.every-"), "{of_irq}");
    assert!(of_irq["statistics"]["count"].as_u64().unwrap() > 0, "{of_irq}");
    let words = "measured in a guest under KVM on the CPU of partition `axis`";
    let manifest = fs::read_to_string(folder.path().join("run/manifest.json")).unwrap();
    assert!(manifest.contains(words), "{manifest}");
}
