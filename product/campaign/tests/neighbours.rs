//! Neighbours for real: processes and containers that run loads beside a measured partition.
//!
//! Method: the probe is released every 5 ms in `tp5` and `tp6` of a small profile's loads, without
//! real-time priority. The tests look at who the neighbours were and what they did, never at how
//! fast the machine is.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use quietcore_assembly::Workshop;
use quietcore_campaign::{
    Advance, Live, Machine, Measured, Observer, Programs, Progress, Run, measure, runs,
};
use quietcore_record::class::catalogue;
use quietcore_record::record::{AffinityInForce, Platform, Record, TimeReality};
use quietcore_site::ContainerRuntime;
use quietcore_skip::skip;
use quietcore_units::CpuSet;

const SITE: &str = r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "process-control"
backend = "BACKEND"

[partition.vcr]
cpus = [1]

[partition.program]
period = "5 ms"
policy = "other"
early_wake = "off"

[[profile]]
name = "moving"
like = "tp5"

[[profile.neighbours.load]]
kind = "sqrt"
workers = 2

[[profile.neighbours.load]]
kind = "malloc"
workers = 1
size = "1 MB"

[[profile]]
name = "pinned"
like = "moving"
pinned = true

[campaign]
profiles = ["moving", "pinned"]
duration = "2 s"
warm_up = "50 ms"
exceedance = 1e-1
"#;

/// An observer that may kill a process that is a neighbour while the run is on.
#[derive(Debug, Default)]
struct Watching {
    kills: bool,
    looks: u32,
}

impl Observer for Watching {
    fn step(&mut self, _: &str) {}
    fn tell(&mut self, _: &str) {}
    fn begin(&mut self, _: &Run) {}
    fn progress(&mut self, _: Progress) {
        self.looks += 1;
        if self.kills && self.looks == 5 {
            let own = rustix::process::getpid();
            let neighbour = neighbour_of(own.as_raw_nonzero().get());
            rustix::process::kill_process(neighbour, rustix::process::Signal::KILL).unwrap();
        }
    }
    fn advance(&mut self, _: &Advance<'_>) {}
    fn fault(&mut self, _: &Run, _: &str, _: &str) {}
    fn end(&mut self, _: &Run, _: &[Record]) {}
    fn failed(&mut self, _: &Run, because: &str) {
        panic!("{because}");
    }
}

/// Finds a child of this process that has children: the partition has none, workers neither.
fn neighbour_of(own: i32) -> rustix::process::Pid {
    let children = |pid: i32| -> Vec<i32> {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let lists = tasks.filter_map(|it| std::fs::read_to_string(it.path().join("children")).ok());
        lists
            .flat_map(|it| it.split_whitespace().map(|it| it.parse().unwrap()).collect::<Vec<_>>())
            .collect()
    };
    let found = children(own).into_iter().find(|child| !children(*child).is_empty()).unwrap();
    rustix::process::Pid::from_raw(found).unwrap()
}

fn runtime() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(std::path::Path::parent).unwrap().join("examples/partition")
}

/// Measures the run of a profile of the site above.
fn measured(backend: &str, profile: usize, kills: bool) -> Measured {
    let text = SITE.replace("BACKEND", backend);
    let site = quietcore_site::read("press.toml", text.as_bytes(), &catalogue());
    let site = site.unwrap_or_else(|problems| panic!("{problems}"));
    let folder = tempfile::tempdir().unwrap();
    let workshop =
        Workshop { site_folder: folder.path().to_owned(), build_folder: folder.path().join("b") };
    let programs = Programs::build(&site, &workshop, &mut |_| {}).unwrap();
    let run = runs(&site, "", "0-1".parse().unwrap(), &programs).remove(profile);
    let (runtime, platform) = (runtime(), Platform::default());
    let containers = folder.path().join("containers");
    let machine = Machine {
        world: &Live,
        runtime: &runtime,
        conditions: &BTreeMap::new(),
        platform: &platform,
        time: &TimeReality::Native,
        emulated: None,
        guests_interpreted: None,
        dma_latency_held: false,
        container_folder: Some(&containers),
        controls: None,
        time_of_day: || "2026-01-02T03:04:05Z".to_owned(),
    };
    let mut watching = Watching { kills, looks: 0 };
    measure(&run, &machine, &mut watching, &AtomicBool::new(false)).unwrap()
}

/// Returns `true` if this machine has the two CPUs of the site.
fn has_both_cpus() -> bool {
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let online: CpuSet = online.parse().unwrap();
    "0-1".parse::<CpuSet>().unwrap().without(&online).is_empty()
}

/// Checks who was beside a partition, and what they did.
fn check(measured: &Measured, kind: &str) {
    let record = &measured.records[0];
    let of_neighbours = |reason: &&String| reason.contains("neighbour");
    let reasons: Vec<String> = record.invalid_because.iter().map(ToString::to_string).collect();
    assert_eq!(reasons.iter().find(of_neighbours), None);
    let neighbours = &record.conditions.neighbours;
    let names: Vec<_> = neighbours.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["neighbour-1", "neighbour-2"]);
    for neighbour in neighbours {
        assert_eq!((neighbour.kind.as_str(), neighbour.cpus.to_string()), (kind, "0".to_owned()));
        let [sqrt, malloc] = &neighbour.loads[..] else { panic!("{neighbour:?}") };
        assert_eq!((sqrt.working, malloc.working), (2, 1));
        let rates = [sqrt.operations_per_second, malloc.operations_per_second, sqrt.cpu_share];
        assert!(rates.iter().all(|rate| *rate > 0.0), "{neighbour:?}");
    }
    // All six workers share one CPU.
    let shares: f64 = neighbours.iter().flat_map(|it| &it.loads).map(|it| it.cpu_share).sum();
    assert!(shares < 1.3, "{shares} CPUs");
    assert!(record.release.count() > 300, "{} releases", record.release.count());
}

/// Goal: a partition that is not pinned keeps to its own CPUs while its neighbours float over the
/// others; one that is pinned has the same neighbours.
#[test]
fn processes_beside_a_process_load_the_cpus_that_it_leaves() {
    if !has_both_cpus() {
        skip!("needs two CPUs");
        return;
    }
    let moving = measured("process", 0, false);
    check(&moving, "process");
    let own = AffinityInForce::ReadBack("1".parse().unwrap());
    assert_eq!(moving.records[0].conditions.affinity, own);
    assert_eq!(moving.records[0].cpu, None, "it is not pinned");
    let pinned = measured("process", 1, false);
    check(&pinned, "process");
    assert_eq!(pinned.records[0].cpu, Some(1));
}

/// Goal: containers stand beside a container.
#[test]
fn containers_beside_a_container_load_the_cpus_that_it_leaves() {
    let wanted = Some(ContainerRuntime::Runc);
    if !has_both_cpus() || quietcore_backend::container::Containers::runtime_here(wanted).is_none()
    {
        skip!("needs two CPUs and `runc`");
        return;
    }
    check(&measured("container", 0, false), "container");
}

/// Goal: a run whose neighbour is killed is kept, and is no evidence.
#[test]
fn a_killed_neighbour_makes_the_run_no_evidence() {
    if !has_both_cpus() {
        skip!("needs two CPUs");
        return;
    }
    let measured = measured("process", 1, true);
    let record = &measured.records[0];
    let reasons: Vec<String> = record.invalid_because.iter().map(ToString::to_string).collect();
    let killed = |reason: &String| {
        reason.starts_with("neighbour-") && reason.contains("process ended (signal: 9")
    };
    assert!(reasons.iter().any(killed), "{reasons:?}");
    assert!(!record.is_valid());
}
