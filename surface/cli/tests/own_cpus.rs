//! CPUs that a partition has for itself, and one that is taken offline while it runs there.
//!
//! These tests change the whole machine, so they run only if `QUIETCORE_OWN_MACHINE` says that it
//! is theirs alone: in the lab.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests look closer at a site")]
mod bench;
#[expect(dead_code, reason = "other tests call it in other ways")]
mod command;

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use bench::{Bench, PATIENCE};
use command::said;
use serde_json::Value;

const STATE: &str = "/sys/devices/system/cpu/cpu1/online";
/// Takes CPU 1 offline until this value is dropped, whatever fails.
struct Offline;

impl Offline {
    fn take() -> Self {
        let offline = Self;
        fs::write(STATE, "0").unwrap();
        offline
    }
}

impl Drop for Offline {
    fn drop(&mut self) {
        fs::write(STATE, "1").unwrap();
    }
}

macro_rules! need_own_machine {
    () => {
        if std::env::var_os("QUIETCORE_OWN_MACHINE").is_none() {
            quietcore_skip::skip!("takes CPUs of the whole machine; the lab has its own");
            return;
        }
    };
}

fn bench(program: &str, campaign: &str) -> Bench {
    let text = format!(
        "[site]\nname = \"press\"\n[host]\nhousekeeping = [0]\ncontrols = [\"standard\", \
         \"programs\"]\n[[partition]]\nname = \"axis\"\nclass = \"process-control\"\nbackend = \
         \"process\"\n[partition.vcr]\ncpus = [1]\n[partition.program]\nperiod = \"10 ms\"\n\
         {program}\n[campaign]\nwarm_up = \"100 ms\"\nexceedance = 1e-2\n{campaign}\n"
    );
    Bench::new(&text)
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the content of those kernel files that controls change and these tests can see.
fn machine() -> Vec<String> {
    let files = [
        "/proc/irq/default_smp_affinity",
        "/sys/devices/virtual/workqueue/cpumask",
        "/proc/sys/kernel/timer_migration",
        "/proc/sys/vm/stat_interval",
        "/sys/fs/cgroup/cgroup.subtree_control",
    ];
    files.iter().map(|file| fs::read_to_string(file).unwrap_or_default()).collect()
}

fn groups() -> Vec<String> {
    let entries = fs::read_dir("/sys/fs/cgroup").unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("quietcore")).collect()
}

/// Goal: what was measured while its CPU went away is no evidence, and says so; nothing hangs and
/// nothing is left.
#[test]
fn a_campaign_whose_cpu_goes_offline_is_invalid_and_says_why() {
    need_own_machine!();
    let before = machine();
    let bench = bench("priority = 50", "profiles = [\"tp2\"]\nduration = \"20 s\"");
    let mut command = bench.command(&["qualify", "press.toml", "--out", "out", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the group of the partition has a process", || {
        let group = groups().pop();
        let procs = group.map(|name| format!("/sys/fs/cgroup/{name}/processes/cgroup.procs"));
        procs.is_some_and(|procs| fs::read_to_string(procs).is_ok_and(|text| !text.is_empty()))
            || child.try_wait().unwrap().is_some()
    });
    thread::sleep(Duration::from_secs(5));
    let offline = Offline::take();
    let end = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() && Instant::now() < end {
        thread::sleep(Duration::from_millis(50));
    }
    let has_ended = child.try_wait().unwrap().is_some();
    let _ = child.kill();
    let ended = said(&child.wait_with_output().unwrap());
    assert!(has_ended, "it hangs: {}", ended.err);
    let evidence: Value = serde_json::from_str(&ended.out).unwrap_or_default();
    let record = &evidence["records"][0];
    assert!(record["statistics"]["count"].as_u64().unwrap_or_default() > 0, "{}", ended.err);
    let because = record["invalid_because"].to_string();
    eprintln!("{because}\n{}", ended.err);
    assert!(because.contains("CPU 1 was taken offline"), "{because}");
    assert!(because.contains("the settings drifted during the run"), "{because}");
    drop(offline);
    let down = bench.call(&["down"]);
    eprintln!("{}{}", down.out, down.err);
    assert_eq!(machine(), before);
    assert_eq!(groups(), Vec::<String>::new());
}

/// Goal: a site that is up tells that its CPU went and came back, and comes down whole.
#[test]
fn a_site_whose_cpu_goes_offline_tells_it() {
    need_own_machine!();
    let before = machine();
    let bench =
        bench("model = \"counter\"\nwatchdog = \"1 s\"\npriority = 50", "profiles = [\"tp2\"]");
    let mut up = bench.up();
    bench.wait_until_running();
    let offline = Offline::take();
    let told = |text: &str| bench.call(&["events", "press"]).out.contains(text);
    wait_until("it is told that the CPU is gone", || told("CPU 1 was taken offline"));
    assert_eq!(bench.partition().unwrap()["state"]["is"], "running");
    drop(offline);
    wait_until("it is told that the CPU is back", || told("CPU 1 is online again"));
    wait_until("the partition is on its CPU", || bench.partition().unwrap()["drift"].is_null());
    let down = bench.call(&["down", "press"]);
    assert_eq!(down.status, Some(0), "{}", down.err);
    up.wait().unwrap();
    assert_eq!(machine(), before);
    assert_eq!(groups(), Vec::<String>::new());
}

/// Goal: a load that is to disturb a partition on its CPU is let onto it although other programs
/// are kept off, and one that is to run anywhere is not.
#[test]
fn a_load_on_the_partitions_cpu_is_let_onto_it() {
    need_own_machine!();
    let before = machine();
    let campaign = "profiles = [\"beside\"]\nduration = \"5 s\"\n[[profile]]\nname = \"beside\"\n\
                    like = \"tp2\"\n[[profile.load]]\nkind = \"sqrt\"\nplace = \"same-cpu\"\n\
                    [[profile.load]]\nkind = \"sqrt\"\nplace = \"anywhere\"";
    let bench = bench("priority = 50", campaign);
    let measured = bench.call(&["qualify", "press.toml", "--out", "out", "--json"]);
    let evidence: Value = serde_json::from_str(&measured.out).unwrap_or_default();
    let loads = &evidence["records"][0]["conditions"]["loads"];
    let placed: Vec<_> = loads.as_array().unwrap_or(&Vec::new()).iter().map(cpus).collect();
    assert_eq!(placed, ["1", "0"], "{}\n{loads}", measured.err);
    assert!(!evidence.to_string().contains("did not run as asked"), "{evidence}");
    assert_eq!(machine(), before);
    assert_eq!(groups(), Vec::<String>::new());
}

fn cpus(load: &Value) -> String {
    load["cpus"].as_str().unwrap_or_default().to_owned()
}

/// Goal: all rows of the isolation matrix are measured, with all that they keep off.
#[test]
fn every_row_of_the_isolation_matrix_is_measured() {
    need_own_machine!();
    let before = machine();
    let bench = bench("priority = 50", "profiles = [\"isolation\"]\nduration = \"200 ms\"");
    let output = bench.command(&["qualify", "press.toml", "--out", "out", "--json"]).output();
    let ended = said(&output.unwrap());
    let evidence: Value = serde_json::from_str(&ended.out).unwrap_or_default();
    let rows = evidence["isolation"][0]["rows"].as_array().expect(&ended.err);
    let is_whole = rows.iter().all(|row| row["release"]["count"] == 20);
    assert!(is_whole, "{}\n{rows:?}", ended.err);
    let changed = evidence["records"][8]["conditions"]["machine"]["controls"].to_string();
    for control in ["interrupts", "kernel-threads", "workqueues", "programs", "load-balance"] {
        let reasons = rows[8]["not_as_asked"].to_string();
        assert!(changed.contains(control) || reasons.contains(control), "{control}: {reasons}");
    }
    assert_eq!(machine(), before);
    assert_eq!(groups(), Vec::<String>::new());
}

/// Goal: every probe of a campaign measures on the CPU that only partitions have.
/// Method: those that need no guest, each of which says where its thread was allowed to run.
#[test]
fn each_probe_of_a_campaign_measures_on_the_partitions_own_cpu() {
    need_own_machine!();
    let before = machine();
    let campaign = "profiles = [\"tp2\"]\nduration = \"200 ms\"\nprobes = [\"memory\", \"osek\", \
                    \"ethercat\"]\n[fieldbus.ec0]\npartition = \"axis\"\ninterface = \
                    \"sim\"\ncycle = \"10 ms\"\n[[fieldbus.ec0.subdevice]]\nname = \
                    \"head\"\ndevice = \"coupler\"";
    let bench = bench("priority = 50", campaign);
    let measured = bench.call(&["qualify", "press.toml", "--out", "out", "--json"]);
    let evidence: Value = serde_json::from_str(&measured.out).unwrap_or_default();
    let records = evidence["records"].as_array().expect(&measured.err);
    for probe in ["memory", "osek", "ethercat"] {
        let of_probe: Vec<_> = records.iter().filter(|record| record["probe"] == probe).collect();
        assert!(!of_probe.is_empty(), "{probe}: {}", measured.err);
        for record in of_probe {
            let name = &record["name"];
            assert!(record["statistics"]["count"].as_u64().unwrap_or_default() > 0, "{name}");
            assert_eq!(record["conditions"]["cpus_allowed"]["read_back"], "1", "{name}");
            let degraded = record["degraded"].to_string();
            assert!(!degraded.contains("CPU"), "{name}: {degraded}");
        }
    }
    assert_eq!(machine(), before);
    assert_eq!(groups(), Vec::<String>::new());
}
