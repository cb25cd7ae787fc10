//! Guests that start from their disks: what they take in a site file, and what a plan makes of
//! them.

use quietcore_site::{
    Accelerator, DiskDevices, Firmware, Machine, ProgramForm, Scheduling, Site, Step, plan,
    plan_run,
};
use quietcore_units::Nanos;

use crate::support::{machine, read_text};

/// Returns the text of a site with a control program and a guest with these words.
fn text(guest: &str) -> String {
    format!(
        "[site]\nname = \"s\"\n[[partition]]\nname = \"axis\"\nclass = \"process-control\"\n\
         [partition.vcr]\ncpus = [1]\n[partition.program]\nmodel = \"m\"\n\
         [[partition]]\nname = \"desk\"\nclass = \"process-control\"\nbackend = \"qemu\"\n\
         guest = {{ system = \"disk\"{guest} }}\n[partition.vcr]\ncpus = [2, 3]\n"
    )
}

fn site(guest: &str) -> Site {
    read_text(&text(guest)).unwrap_or_else(|problems| panic!("{problems}"))
}

fn refused(text: &str) -> String {
    read_text(text).expect_err("it is refused").to_string()
}

fn with_qemu() -> Machine {
    Machine { qemu: Ok(()), kvm: Ok(()), ..machine(4) }
}

#[test]
fn a_guest_from_its_disk_has_a_machine_and_no_program() {
    let plain = site(", image = \"desk.img\"");
    let desk = &plain.partitions()[1];
    let disk = desk.disk().expect("it has a disk");
    assert_eq!((disk.image.as_str(), disk.vnc, &disk.tap), ("desk.img", false, &None));
    assert_eq!((disk.firmware, disk.devices), (Firmware::Bios, DiskDevices::Virtio));
    assert_eq!(disk.shutdown, Nanos::from_secs(30));
    assert_eq!(desk.program.scheduling, Scheduling::Other, "nobody has asked for a priority");
    assert_eq!(desk.cpus_in_use().len(), 2, "each of its processors has a CPU");
    assert_eq!(desk.declaration().program, ProgramForm::Nothing);
    assert!(plain.partitions()[0].is_measured() && !desk.is_measured());
    let all = site(
        ", image = \"d.qcow2\", firmware = \"uefi\", devices = \"plain\", priority = 20, \
         vnc = true, tap = \"tap0\", shutdown = \"5 s\", restart = { limit = 1, wait = \"1 s\" }, \
         accelerator = \"tcg\"",
    );
    let desk = &all.partitions()[1];
    let disk = desk.disk().expect("it has a disk");
    assert_eq!((disk.firmware, disk.devices), (Firmware::Uefi, DiskDevices::Plain));
    assert_eq!((disk.vnc, disk.tap.as_deref()), (true, Some("tap0")));
    assert_eq!(desk.program.scheduling, Scheduling::Fifo { priority: 20 });
    assert_eq!(desk.program.restart.limit, 1);
    assert_eq!(desk.accelerator, Accelerator::Tcg);
}

#[test]
fn words_that_say_nothing_about_such_a_guest_are_refused() {
    let program = refused(&(text(", image = \"d\"") + "[partition.program]\nmodel = \"m\"\n"));
    assert!(program.contains("runs no program of the site"), "{program}");
    let none = refused(&text(""));
    assert!(none.contains("no image of one is named"), "{none}");
    let linux = text(", image = \"d\", vnc = true").replace("\"disk\"", "\"linux\"");
    let linux = refused(&linux);
    assert!(linux.contains("only a guest that starts from its disk has it"), "{linux}");
    let firmware = refused(&text(", image = \"d\", firmware = \"efi\""));
    assert!(firmware.contains("uefi"), "{firmware}");
    let channel = "[[channel]]\nname = \"c\"\nfrom = \"axis\"\nto = \"desk\"\n\
                   signals = [{ name = \"x\", type = \"f64\" }]\n";
    let channel = refused(&(text(", image = \"d\"") + channel));
    assert!(channel.contains("`desk` starts from its disk, and knows no channels"), "{channel}");
}

#[test]
fn a_campaign_measures_the_others_and_says_so() {
    let site = site(", image = \"desk.img\"");
    assert!(plan_run(&site, &with_qemu()).is_ok());
    let plan = plan(&site, &with_qemu()).unwrap_or_else(|refusals| panic!("{refusals:?}"));
    let started: Vec<&str> = plan
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::StartPartition { partition, .. } => Some(partition.as_str()),
            _ => None,
        })
        .collect();
    assert!(!started.is_empty() && started.iter().all(|name| *name == "axis"), "{started:?}");
    let told = plan
        .degraded
        .iter()
        .any(|it| it.to_string().contains("leaves out partition `desk`, a guest from its disk"));
    assert!(told, "{:?}", plan.degraded);
}
