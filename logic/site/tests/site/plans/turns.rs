//! Campaigns that measure each partition alone: what shares a CPU, and what is left out.

use quietcore_site::{
    ExportKind, ExportMachine, ExportPaths, Machine, Refusal, Site, Step, export, plan, plan_run,
    plan_turns, turns,
};
use quietcore_units::Nanos;

use crate::support::{machine, no_guests, read_text};

/// Returns a site with three systems on one CPU: the host, a guest of ours and one of QEMU.
fn systems(rest: &str) -> Result<Site, String> {
    let one = |name: &str, lines: &str, model: &str| {
        format!(
            "[[partition]]\nname = \"{name}\"\nclass = \"factory-automation\"\n{lines}\n\
             [partition.vcr]\ncpus = [1]\n[partition.program]\n{model}\n"
        )
    };
    let text = format!(
        "[site]\nname = \"s\"\n{}{}{}{rest}",
        one("bare", "", ""),
        one("osek", "backend = \"kvm\"", "model = \"m\""),
        one("linux", "backend = \"qemu\"\nguest = { system = \"linux\", image = \"g\" }", ""),
    );
    read_text(&text).map_err(|problems| problems.to_string())
}

const ALONE: &str = "[campaign]\nalone = true\nprofiles = [\"tp1\", \"tp5\"]\n\
                     duration = \"1 min\"\nwarm_up = \"1 s\"\n";

/// Goal: partitions have one CPU in turns only where the campaign says so, and then nothing runs
/// them at the same time.
#[test]
fn partitions_that_are_measured_alone_may_have_the_same_cpu() {
    let refused = systems("").unwrap_err();
    assert!(refused.contains("CPU 1 is also claimed by partition `bare`"), "{refused}");
    let site = systems(ALONE).unwrap();
    let able = Machine { kvm: Ok(()), qemu: Ok(()), ..machine(2) };
    let all = plan_run(&site, &able).unwrap_err();
    let keys: Vec<&str> = all.iter().map(|it| it.place.key.as_str()).collect();
    assert_eq!(keys, ["partition.osek.vcr.cpus", "partition.linux.vcr.cpus"]);
    assert!(plan_run(&site.turn_of("linux"), &able).is_ok());
    let (one, of_qemu) = (site.turn_of("osek"), site.turn_of("linux"));
    assert_eq!((one.partitions().len(), one.partitions()[0].name.as_str()), (1, "osek"));
    assert_eq!(one.neighbour_image(), None, "the image is that of another system");
    assert_eq!(of_qemu.neighbour_image(), Some("g"));
    let usual = read_text(
        "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\n\
        class = \"motion-control\"\n[partition.vcr]\ncpus = [1]\n[[partition]]\nname = \"b\"\n\
        class = \"motion-control\"\n[partition.vcr]\ncpus = [2]\n",
    )
    .unwrap();
    assert_eq!(usual.turn_of("a").partitions().len(), 2, "these run together");
    assert_eq!((usual.turns().len(), site.turns().len()), (1, 3));
}

/// Goal: what a machine can't do of a comparison is left out with its reason, a whole system or a
/// profile of it, and the rest is planned as if each were there alone.
#[test]
fn systems_that_a_machine_has_not_are_left_out_with_the_reason() {
    let site = systems(ALONE).unwrap();
    let able = Machine { kvm: Ok(()), ..machine(2) };
    let found = turns(&site, &able).unwrap();
    let of = |turn: &Site| {
        let profiles = turn.campaign().profiles.iter().map(|it| it.name.clone());
        (turn.partitions()[0].name.clone(), profiles.collect::<Vec<_>>().join(" "))
    };
    let possible: Vec<_> = found.possible.iter().map(of).collect();
    let expected = [("bare", "tp1 tp5"), ("osek", "tp1")];
    assert_eq!(possible, expected.map(|(name, all)| (name.to_owned(), all.to_owned())));
    let [osek, linux] = &found.left_out[..] else { panic!("{:?}", found.left_out) };
    assert_eq!((&*osek.partition, &*osek.profiles.join(" ")), ("osek", "tp5"));
    assert!(osek.because().contains("has Linux guests as neighbours"), "{}", osek.because());
    assert_eq!((&*linux.partition, &*linux.profiles.join(" ")), ("linux", "tp1 tp5"));
    let because = linux.because();
    assert!(linux.refusals[0].to_string().starts_with("site.toml:"));
    assert!(because.contains("`qemu-system-x86_64` is not installed"), "{because}");

    let plan = plan(&site, &able).unwrap();
    assert_eq!(plan.left_out, found.left_out);
    assert_eq!(plan.expected, Nanos::from_secs(3 * (61 + 2)), "three of six measurements");
    let started: Vec<&str> = plan
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::StartPartition { partition, .. } => Some(partition.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(started, ["bare", "bare", "osek"]);
    let written = |step: &&Step| matches!(step, Step::WriteEvidence { .. });
    assert_eq!(plan.steps.iter().filter(written).count(), 1);
}

/// Goal: an image that is not there takes away what needs it, and the plan is that of the rest.
#[test]
fn what_else_is_missing_is_left_out_of_the_turns() {
    let site = systems(ALONE).unwrap();
    let able = Machine { qemu: Ok(()), kvm: Ok(()), ..machine(2) };
    let mut found = turns(&site, &able).unwrap();
    let refusal = |key: &str| Refusal {
        place: site.place(key),
        reason: "no image".to_owned(),
        remedy: "build it".to_owned(),
    };
    found.leave_out("linux", |it| it.neighbours.is_some(), refusal("partition.linux.guest"));
    found.leave_out("osek", |_| true, refusal("partition.osek.backend"));
    let told = found.left_out.iter().map(|it| (it.partition.as_str(), it.profiles.join(" ")));
    let told: Vec<_> = told.collect();
    let expected = [("osek", "tp5"), ("linux", "tp5"), ("osek", "tp1")];
    assert_eq!(told, expected.map(|(it, all)| (it, all.to_owned())), "and nothing twice");
    assert_eq!(found.left_out[1].because(), "no image; build it");
    let planned = plan_turns(&site, found.clone(), &able);
    assert_eq!(planned.expected, Nanos::from_secs(3 * (61 + 2)));
    found.leave_out("linux", |_| true, refusal("partition.linux.guest"));
    assert_eq!((found.possible.len(), found.refusals().len()), (1, 3), "each reason once");
}

#[test]
fn a_comparison_of_which_nothing_is_possible_is_refused_with_all_reasons() {
    let host = "[host]\nhousekeeping = [7]\n";
    let site = systems(&format!("{host}{ALONE}")).unwrap();
    let refusals = plan(&site, &Machine { kvm: Err(no_guests()), ..machine(2) }).unwrap_err();
    let of_host = |it: &&Refusal| it.place.key == "host.housekeeping";
    assert_eq!(refusals.iter().filter(of_host).count(), 1, "once: {refusals:?}");
    assert!(refusals.iter().any(|it| it.reason.contains("/dev/kvm can't be opened")));
}

#[test]
fn the_time_of_a_comparison_is_that_of_all_systems() {
    let site = systems(ALONE).unwrap();
    assert_eq!(site.measured_in_all(), Nanos::from_secs(6 * 61));
    let together = ALONE.replace("alone = true\n", "");
    let budgets = systems(&together).unwrap_err();
    assert!(budgets.contains("also claimed"), "{budgets}");
}

#[test]
fn a_channel_between_partitions_that_are_measured_alone_is_refused() {
    let channel = "[[channel]]\nname = \"speed\"\nfrom = \"host\"\nto = \"osek\"\n\
                   signals = [{ name = \"rpm\", type = \"f64\" }]\n";
    // The name of a partition, and the word for programs of the host: the word comes first.
    assert!(systems(&format!("{channel}{ALONE}")).is_ok());
    let channel = channel.replace("\"host\"", "\"linux\"");
    let refused = systems(&format!("{channel}{ALONE}")).unwrap_err();
    assert!(refused.contains("campaign.alone") && refused.contains("only one"), "{refused}");
}

/// Goal: nobody gets a file that runs partitions at the same time which can't be; a guest that is
/// named is a domain of its own.
#[test]
fn partitions_that_are_measured_alone_are_not_exported_together() {
    let second = "[[partition]]\nname = \"rt\"\nclass = \"factory-automation\"\nbackend = \
                  \"qemu\"\nguest = { system = \"linux\", image = \"h\" }\n[partition.vcr]\n\
                  cpus = [1]\n[partition.program]\n";
    let paths = ExportPaths {
        program: "/usr/bin/quietcore".to_owned(),
        site_file: "/etc/quietcore/s.toml".to_owned(),
        variables: Vec::new(),
        machine: ExportMachine::default(),
    };
    let exported = |site: &Site, kind, partition| {
        let files = export(site, "", kind, partition, &paths);
        files.map(|files| files.into_iter().map(|it| it.name).collect::<Vec<_>>())
    };
    let site = systems(ALONE).unwrap();
    for kind in [ExportKind::Systemd, ExportKind::Podman, ExportKind::Kubernetes] {
        let refused = exported(&site, kind, None).unwrap_err().to_string();
        assert!(refused.contains("CPU 1 of `osek` belongs to another partition"), "{refused}");
        assert!(refused.contains("a site file of those that shall run together"), "{refused}");
    }
    let one = exported(&site, ExportKind::Libvirt, None).unwrap();
    assert_eq!(one.len(), 1, "the other partitions are no domains");
    let site = systems(&format!("{second}{ALONE}")).unwrap();
    let refused = exported(&site, ExportKind::Libvirt, None).unwrap_err().to_string();
    assert!(refused.contains("CPU 1 of `rt` belongs to another guest"), "{refused}");
    assert!(refused.contains("choose one with `--partition`"), "{refused}");
    let named = exported(&site, ExportKind::Libvirt, Some("rt")).unwrap();
    assert!(named.len() == 1 && named[0].contains("rt"), "{named:?}");
}
