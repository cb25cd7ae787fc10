//! Probes that a campaign names: checked, planned, refused.

use quietcore_site::{Backend, Machine, Obstacle, ProbeName, Step};
use quietcore_units::Nanos;

use super::{read_text, refused, site_with};
use crate::support::{expect_problem, machine};

/// A campaign of half a minute under one profile, with these probes.
fn campaign(probes: &str) -> String {
    format!("[campaign]\nprofiles = [\"tp2\"]\nduration = \"40 s\"\nprobes = {probes}\n")
}

#[test]
fn a_probe_is_run_after_the_profiles_on_the_first_cpu_of_each_partition() {
    let site = site_with("cpus = [1, 2]", &campaign("[\"memory\"]"));
    let plan = quietcore_site::plan(&site, &machine(4)).unwrap();
    let expected = Nanos::from_secs(40);
    let (partition, cpu) = ("a".to_owned(), "1".parse().unwrap());
    let step = Step::Probe { probe: ProbeName::Memory, partition, cpu, expected };
    let place = plan.steps.iter().position(|it| *it == step).unwrap();
    let judged = plan.steps.iter().position(|it| matches!(it, Step::Judge { .. })).unwrap();
    assert!(judged < place && place + 3 == plan.steps.len(), "{:#?}", plan.steps);
    let words = "measure with probe `memory` on CPU 1 of partition `a`, which takes about 40.0 s";
    assert_eq!(step.to_string().replace('\u{a0}', " "), words);
    assert!(plan.expected >= Nanos::from_secs(81), "{}: the profile, too", plan.expected);
}

#[test]
fn the_warm_up_of_the_campaign_precedes_probes_that_measure_in_cycles() {
    let probes = "[\"osek\", \"irq\"]\nwarm_up = \"2 s\"";
    let machine = Machine { kvm: Ok(()), ..machine(4) };
    let plan = quietcore_site::plan(&site_with("cpus = [1]", &campaign(probes)), &machine);
    let expected = plan.unwrap().steps.into_iter().filter_map(|step| match step {
        Step::Probe { probe, expected, .. } => Some((probe, expected)),
        _ => None,
    });
    let times = [(ProbeName::Osek, Nanos::from_secs(40)), (ProbeName::Irq, Nanos::from_secs(42))];
    assert_eq!(expected.collect::<Vec<_>>(), times);
}

/// Goal: the kernel's routines, and a MainDevice on it, are measured in the partition's own backend
/// where that has our kernel, and all else where it always is.
#[test]
fn routines_of_the_kernel_are_measured_in_the_partitions_own_backend() {
    let site = |backend: &str| {
        let text = format!(
            "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \"motion-control\"\n\
             backend = \"{backend}\"\n[partition.vcr]\ncpus = [1]\n[partition.program]\n\
             model = \"m\"\n"
        );
        read_text(&text).unwrap_or_else(|problems| panic!("{problems}"))
    };
    for (backend, measured) in [
        ("process", Backend::Process),
        ("container", Backend::Process),
        ("kvm", Backend::Kvm),
        ("qemu", Backend::Qemu),
        ("xen", Backend::Xen),
    ] {
        let site = site(backend);
        let partition = &site.partitions()[0];
        assert_eq!(ProbeName::Osek.backend_for(partition), measured, "{backend}");
        assert_eq!(ProbeName::Ethercat.backend_for(partition), measured, "{backend}");
        assert_eq!(ProbeName::Memory.backend_for(partition), Backend::Process, "{backend}");
        assert_eq!(ProbeName::Irq.backend_for(partition), Backend::Kvm, "{backend}");
    }
}

#[test]
fn a_probe_that_is_unknown_or_named_twice_is_a_problem() {
    let text = |probes: &str| {
        let site = "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \
                    \"motion-control\"\n[partition.vcr]\ncpus = [1]\n";
        format!("{site}{}", campaign(probes))
    };
    expect_problem(&text("[\"memry\"]"), "campaign.probes[0]", "`memory`");
    expect_problem(&text("[\"memory\", \"memory\"]"), "campaign.probes[1]", "is named twice");
}

#[test]
fn neighbours_without_a_cpu_of_their_own_are_refused() {
    let site = site_with("cpus = [0, 1]", &campaign("[\"memory\"]"));
    refused(&site, &machine(2), "campaign.probes", "need CPUs other than the partitions'");
}

#[test]
fn round_trips_are_measured_of_partitions_that_drive_a_fieldbus() {
    let line = "[fieldbus.ec0]\npartition = \"a\"\ninterface = \"sim\"\ncycle = \"1 \
                ms\"\n[[fieldbus.ec0.subdevice]]\nname = \"head\"\ndevice = \"coupler\"\n";
    let probes = campaign("[\"ethercat\"]");
    let site = site_with("cpus = [1]", &format!("{probes}{line}"));
    let measured: Vec<_> = site.probed().map(|(probe, it)| (probe, it.name.as_str())).collect();
    assert_eq!(measured, [(ProbeName::Ethercat, "a")]);
    let without = "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \
                   \"motion-control\"\n[partition.vcr]\ncpus = [1]\n";
    let what = "measures the fieldbus of a partition, and none has one";
    expect_problem(&format!("{without}{probes}"), "campaign.probes[0]", what);
}

#[test]
fn interrupts_in_a_guest_are_refused_where_no_guest_can_be() {
    let site = site_with("cpus = [1]", &campaign("[\"irq\"]"));
    let without = Machine {
        kvm: Err(Obstacle { what: "no KVM".to_owned(), remedy: "load it".to_owned() }),
        ..machine(4)
    };
    refused(&site, &without, "campaign.probes", "probe `irq`: no KVM");
    refused(
        &site_with("cpus = [0, 1]", &campaign("[\"irq\"]")),
        &machine(2),
        "campaign.probes",
        "need CPUs",
    );
}
