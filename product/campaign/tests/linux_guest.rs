//! The probe in a Linux guest of QEMU or of Xen, as a campaign measures it.
//!
//! `QUIETCORE_TEST_IMAGE` is the folder of an image that `quietcore guest build` has made. The
//! guest is one of QEMU, or a domain where `QUIETCORE_TEST_BACKEND` is `xen-linux`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use quietcore_assembly::Workshop;
use quietcore_campaign::{
    Advance, Live, Machine, Observer, Programs, Progress, Run, measure, runs,
};
use quietcore_record::class::catalogue;
use quietcore_record::reason::{NotInForce, Reason};
use quietcore_record::record::{Platform, Record, TimeReality};
use quietcore_units::CpuSet;

const SITE: &str = r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "process-control"
backend = "BACKEND"
guest = { system = "linux", image = "IMAGE"ACCELERATOR }

[partition.vcr]
cpus = [0, 1]

[partition.program]
period = "20 ms"
policy = "other"

[campaign]
profiles = ["tp2"]
cycles = 100
warm_up = "100 ms"
explain = "1 us"
"#;
const CYCLES: u64 = 100;

struct Silent;

impl Observer for Silent {
    fn step(&mut self, _: &str) {}
    fn tell(&mut self, _: &str) {}
    fn begin(&mut self, _: &Run) {}
    fn progress(&mut self, _: Progress) {}
    fn advance(&mut self, _: &Advance<'_>) {}
    fn fault(&mut self, _: &Run, partition: &str, because: &str) {
        panic!("{partition}: {because}");
    }
    fn end(&mut self, _: &Run, _: &[Record]) {}
    fn failed(&mut self, _: &Run, because: &str) {
        panic!("{because}");
    }
}

/// The hypervisor that runs the guest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hypervisor {
    Qemu { has_kvm: bool },
    Xen,
}

/// Measures the site with this image; returns its records.
fn measured(image: &str, hypervisor: Hypervisor) -> Vec<Record> {
    let (backend, accelerator) = match hypervisor {
        Hypervisor::Qemu { has_kvm: true } => ("qemu", ", accelerator = \"kvm\""),
        Hypervisor::Qemu { has_kvm: false } => ("qemu", ", accelerator = \"tcg\""),
        Hypervisor::Xen => ("xen", ""),
    };
    let text = SITE.replace("IMAGE", image).replace("ACCELERATOR", accelerator);
    let text = text.replace("BACKEND", backend);
    let site = quietcore_site::read("press.toml", text.as_bytes(), &catalogue()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (site_folder, build_folder) = (folder.path().to_owned(), folder.path().join("builds"));
    let programs = Programs::build(&site, &Workshop { site_folder, build_folder }, &mut |_| {});
    let programs = programs.unwrap_or_else(|error| panic!("{error}"));
    let runs = runs(&site, "", "0-1".parse::<CpuSet>().unwrap(), &programs);
    let own = std::env::current_exe().unwrap();
    let runtime = own.parent().and_then(Path::parent).unwrap().join("examples/partition");
    let (platform, conditions) = (Platform::default(), BTreeMap::new());
    let machine = Machine {
        world: &Live,
        runtime: &runtime,
        conditions: &conditions,
        platform: &platform,
        time: &TimeReality::Native,
        emulated: None,
        guests_interpreted: None,
        dma_latency_held: false,
        container_folder: None,
        controls: None,
        time_of_day: || "2026-01-02T03:04:05Z".to_owned(),
    };
    measure(&runs[0], &machine, &mut Silent, &AtomicBool::new(false)).unwrap().records
}

/// Goal: a guest with two processors has a task on each, and each processor is a thread on its CPU
/// of the host; the records name image and kernel, and say what can't be had.
/// Method: the tasks' affinity is read back from the host's threads, and the CPU of each spike is
/// the guest's own number of the processor.
#[test]
fn a_linux_guest_with_two_processors_has_a_task_on_each() {
    let Ok(image) = std::env::var("QUIETCORE_TEST_IMAGE") else {
        quietcore_skip::skip!("there is no image; name one by QUIETCORE_TEST_IMAGE");
        return;
    };
    if std::thread::available_parallelism().unwrap().get() < 2 {
        quietcore_skip::skip!("there is no second CPU");
        return;
    }
    quietcore_skip::need_locked_memory!(64 << 20);
    // A KVM that interprets its guests is none for QEMU.
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let has_kvm = processor.contains(" svm") || processor.contains(" vmx");
    let is_domain = std::env::var("QUIETCORE_TEST_BACKEND").is_ok_and(|it| it == "xen-linux");
    let hypervisor = if is_domain { Hypervisor::Xen } else { Hypervisor::Qemu { has_kvm } };
    let records = measured(&image, hypervisor);
    assert_eq!(records.len(), 2);
    for (number, record) in records.iter().enumerate() {
        let cpu = u32::try_from(number).unwrap();
        assert_eq!((record.cpu, record.release.count()), (Some(cpu), CYCLES), "{}", record.name);
        if !is_domain {
            let affinity = record.conditions.affinity.to_string();
            assert_eq!(affinity, number.to_string(), "the host's thread of this processor");
        }
        assert_eq!(record.counters.migrations, 0, "in the guest");
        assert!(!record.spikes.is_empty());
        assert!(record.spikes.iter().all(|spike| spike.cpu == cpu), "{:?}", record.spikes);
        let remarks = record.conditions.activity.get("remarks").cloned().unwrap_or_default();
        assert!(!remarks.contains("shared memory is slow"), "it is cached: {remarks}");
        let guest = record.conditions.platform.as_ref().unwrap().guest.as_ref().unwrap();
        assert_eq!((guest.sha256.len(), guest.kernel_in_short().contains("amd64")), (64, true));
        let ledgers = record.ledgers.as_ref().unwrap();
        assert!(ledgers.above > 0 && ledgers.kept.is_empty(), "late ones are counted: {ledgers:?}");
        assert!(ledgers.not_observed[0].because.contains("own kernel releases the tasks"));
        if is_domain {
            assert_eq!(record.degraded, [], "Xen has the memory, and runs the processors");
            continue;
        }
        let unlocked = Reason::from(NotInForce::LeftUnlocked);
        assert_eq!(record.degraded.contains(&unlocked), !has_kvm, "{:?}", record.degraded);
        assert!(!record.degraded.contains(&NotInForce::Unlocked.into()));
        assert_eq!(record.invalid_because.is_empty(), has_kvm, "{:?}", record.invalid_because);
    }
}
