//! Plans of guests under QEMU: what they need of the machine, and what they can't have yet.

use quietcore_site::{
    Accelerator, CacheWays, GuestSystem, Interface, Machine, ProgramForm, Site, plan, plan_run,
};
use quietcore_units::ByteSize;

use super::{degraded, refused};
use crate::support::{machine, no_guests, read_text};

/// Returns a site with one partition under QEMU, with these lines in it.
fn site(lines: &str) -> Site {
    let text = format!(
        "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \"process-control\"\n\
         backend = \"qemu\"\n{lines}\n[partition.vcr]\ncpus = [1]\n\
         [partition.program]\nmodel = \"m\"\n"
    );
    read_text(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_guest_under_qemu_needs_qemu_and_kvm_unless_it_is_emulated() {
    const KEY: &str = "partition.a.backend";
    let (usual, emulated) = (site(""), site("guest = { accelerator = \"tcg\" }"));
    assert_eq!(usual.partitions()[0].accelerator, Accelerator::Kvm);
    assert!(usual.has_guests_under_kvm() && !emulated.has_guests_under_kvm());
    let bare = machine(2);
    refused(&usual, &bare, KEY, "`qemu-system-x86_64` is not installed");
    refused(&emulated, &bare, KEY, "`qemu-system-x86_64` is not installed");
    let without_kvm = Machine { qemu: Ok(()), kvm: Err(no_guests()), ..machine(2) };
    refused(&usual, &without_kvm, KEY, "/dev/kvm can't be opened here");
    let (shown, _) = degraded(&emulated, &without_kvm);
    assert!(shown.contains("QEMU emulates the processor of partition `a`"), "{shown}");
    let both = Machine { qemu: Ok(()), kvm: Ok(()), ..machine(2) };
    assert!(plan_run(&usual, &both).is_ok());
}

#[test]
fn a_domain_of_xen_needs_dom0_and_has_channels() {
    let text = "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \"process-control\"\n\
                backend = \"xen\"\n[partition.vcr]\ncpus = [1]\n[partition.program]\n\
                model = \"m\"\nperiod = \"10 ms\"\n";
    let alone = read_text(text).unwrap();
    assert!(!alone.has_guests_under_kvm());
    assert_eq!(alone.pools(), ["1".parse().unwrap()]);
    refused(&alone, &machine(2), "partition.a.backend", "this kernel is not dom0 of Xen");
    let dom0 = Machine { xen: Ok(()), ..machine(2) };
    assert!(plan_run(&alone, &dom0).is_ok());
    let unfit = Machine { fifo: false, memory_lock_limit: Some(ByteSize::new(1)), ..dom0.clone() };
    let degraded = plan_run(&alone, &unfit).unwrap();
    let told = |what: &str| degraded.iter().any(|it| it.what.contains(what));
    assert!(!told("SCHED_OTHER") && !told("is not locked"), "Xen runs it: {degraded:?}");
    let process = read_text(&text.replace("\"xen\"", "\"process\"")).unwrap();
    assert_eq!(process.pools(), []);
    let degraded = plan_run(&process, &unfit).unwrap();
    assert!(degraded.iter().any(|it| it.what.contains("is not locked")), "{degraded:?}");
    let resctrl = Machine {
        cache_ways: Ok(CacheWays { all: 8, least: 1 }),
        memory_bandwidth: Ok(10),
        ..dom0.clone()
    };
    let share = "cpus = [1]\ncache = { ways = 2 }\nmemory_bandwidth = 40";
    let with_share = read_text(&text.replace("cpus = [1]", share)).unwrap();
    for (key, command) in [("cache.ways", "cat"), ("memory_bandwidth", "mba")] {
        let reason = format!("Xen's own `xl psr-{command}-set` is not used yet");
        refused(&with_share, &resctrl, &format!("partition.a.vcr.{key}"), &reason);
    }
    let channel = "[[channel]]\nname = \"setpoint\"\nfrom = \"host\"\nto = \"a\"\n\
                   signals = [{ name = \"speed\", type = \"f64\" }]\n";
    let with_channel = read_text(&format!("{text}{channel}")).unwrap();
    assert!(plan_run(&with_channel, &dom0).is_ok());
}

#[test]
fn a_linux_domain_needs_dom0_and_an_image() {
    let text = "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \"process-control\"\n\
                backend = \"xen\"\nguest = { system = \"linux\", image = \"guest-rt\" }\n\
                [partition.vcr]\ncpus = [1]\n";
    let linux = read_text(text).unwrap();
    refused(&linux, &machine(2), "partition.a.backend", "this kernel is not dom0 of Xen");
    let dom0 = Machine { xen: Ok(()), ..machine(2) };
    assert!(plan_run(&linux, &dom0).is_ok(), "without a program the probe runs");
    let declaration = linux.partitions()[0].declaration();
    assert_eq!(declaration.program, ProgramForm::Module);
    assert_eq!(declaration.noun, "Linux domain of Xen");
    let small = read_text(&format!("{text}memory = \"64 MiB\"\n")).unwrap();
    refused(&small, &dom0, "partition.a.vcr.memory", "a guest has 160 MiB to 64 GiB of its own");
    let bus = "[fieldbus.bus]\npartition = \"a\"\ninterface = \"sim\"\ncycle = \"10 ms\"\n";
    let problems = read_text(&format!("{text}{bus}")).expect_err("it is refused").to_string();
    assert!(
        problems.contains("partition `a` of the backend `xen` drives no fieldbus"),
        "{problems}"
    );
    let from_disk = text.replace("\"linux\"", "\"disk\"");
    let problems = read_text(&from_disk).expect_err("it is refused").to_string();
    assert!(problems.contains("of the backend `xen` does not start from a disk"), "{problems}");
    assert!(problems.contains("choose the backend `qemu`"), "{problems}");
}

#[test]
fn a_choice_of_the_machine_and_a_fieldbus_are_refused_where_there_is_none() {
    let text = "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \"process-control\"\n\
                backend = \"BACKEND\"\nguest = { accelerator = \"tcg\" }\n[partition.vcr]\n\
                cpus = [1]\n[partition.program]\nmodel = \"m\"\nperiod = \"10 ms\"\n\
                [fieldbus.bus]\npartition = \"a\"\ninterface = \"sim\"\ncycle = \"10 ms\"\n";
    let problems = |backend: &str| {
        let problems = read_text(&text.replace("BACKEND", backend)).expect_err("it is refused");
        problems.to_string()
    };
    let kvm = problems("kvm");
    assert!(kvm.contains("of the backend `kvm` leaves no choice of its machine"), "{kvm}");
    assert!(kvm.contains("choose the backend `qemu`"), "{kvm}");
    let xen = problems("xen");
    assert!(xen.contains("partition `a` of the backend `xen` drives no fieldbus"), "{xen}");
    assert!(xen.contains("`process`, `container`, `kvm` or `qemu`"), "{xen}");
    assert!(xen.contains("the processor runs every guest of the backend `xen`"), "{xen}");
    let qemu = read_text(&text.replace("BACKEND", "qemu"));
    assert!(qemu.is_ok(), "a guest of QEMU has both: {qemu:?}");
}

#[test]
fn an_image_goes_with_a_linux_guest_and_nothing_else() {
    let linux = site("guest = { system = \"linux\", image = \"guest-rt\" }");
    let partition = &linux.partitions()[0];
    assert_eq!(partition.system, GuestSystem::Linux { image: "guest-rt".to_owned() });
    assert_eq!(partition.declaration().program, ProgramForm::Module, "it runs in a process");
    assert_eq!(site("").partitions()[0].declaration().program, ProgramForm::GuestImage);
    let both = Machine { qemu: Ok(()), kvm: Ok(()), ..machine(2) };
    assert!(plan_run(&linux, &both).is_ok());
    assert_eq!(partition.declaration().noun, "Linux guest of QEMU");
    let refused = |guest: &str| {
        let text = format!(
            "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \"process-control\"\n\
             backend = \"qemu\"\nguest = {guest}\n[partition.vcr]\ncpus = [1]\n"
        );
        read_text(&text).expect_err("it is refused").to_string()
    };
    let without = refused("{ system = \"linux\" }");
    assert!(without.contains("`quietcore guest build --out FOLDER` makes one"), "{without}");
    let needless = refused("{ image = \"guest-rt\" }");
    assert!(
        needless.contains("only a Linux guest, or one with a disk, starts from an image"),
        "{needless}"
    );
    let unknown = refused("{ system = \"linus\", image = \"guest-rt\" }");
    assert!(unknown.contains("linux"), "{unknown}");
}

#[test]
fn a_linux_guest_has_room_for_its_kernel() {
    let small = read_text(
        "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \"process-control\"\n\
         backend = \"qemu\"\nguest = { system = \"linux\", image = \"g\" }\n[partition.vcr]\n\
         cpus = [1]\nmemory = \"64 MiB\"\n",
    );
    let small = small.unwrap_or_else(|problems| panic!("{problems}"));
    let both = Machine { qemu: Ok(()), kvm: Ok(()), ..machine(2) };
    refused(&small, &both, "partition.a.vcr.memory", "a guest has 160 MiB to 64 GiB of its own");
}

#[test]
fn only_guests_whose_memory_lies_on_huge_pages_are_counted_for_them() {
    let [own, linux] =
        ["memory = \"32 MiB\"", "guest = { system = \"linux\", image = \"guest-rt\" }"];
    let pages = |backend: &str, memory: &str, guest: &str| {
        let text = format!(
            "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \"process-control\"\n\
             backend = \"{backend}\"\n{guest}\n[partition.vcr]\ncpus = [1]\n{memory}\n"
        );
        let site = read_text(&text).unwrap_or_else(|problems| panic!("{problems}"));
        site.huge_pages()
    };
    assert_eq!(pages("kvm", own, ""), 16);
    assert_eq!(pages("qemu", own, ""), 0, "QEMU takes its memory as any process does");
    assert_eq!(pages("qemu", "", linux), 0);
    assert_eq!(pages("process", own, ""), 0);
}

/// Returns a site whose partition, of this backend, drives a fieldbus over this interface.
fn with_interface(backend: &str, interface: &str, probes: &str) -> Result<Site, String> {
    let text = format!(
        "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \"process-control\"\n\
         {backend}\n[partition.vcr]\ncpus = [1]\n[partition.program]\nmodel = \"m\"\n\
         period = \"10 ms\"\n[fieldbus.ec0]\npartition = \"a\"\ninterface = \"{interface}\"\n\
         cycle = \"10 ms\"\n{probes}"
    );
    read_text(&text).map_err(|problems| problems.to_string())
}

#[test]
fn only_a_guest_with_our_kernel_drives_a_network_card_itself() {
    const CARD: &str = "0000:03:00.0";
    let site = with_interface("backend = \"qemu\"", CARD, "").unwrap();
    assert_eq!(site.fieldbuses()[0].interface, Interface::Card(CARD.to_owned()));
    let cards = site.cards();
    assert_eq!((cards.len(), &*cards[0].partition, &*cards[0].address), (1, "a", CARD));
    let linux = "backend = \"qemu\"\nguest = { system = \"linux\", image = \"g\" }";
    for backend in ["backend = \"process\"", "backend = \"container\"", linux] {
        let refused = with_interface(backend, CARD, "").unwrap_err();
        assert!(refused.contains("drives no network card itself"), "{refused}");
        assert!(refused.contains("or choose the backend `kvm` or `qemu`"), "{refused}");
        assert!(with_interface(backend, "eth0", "").unwrap().cards().is_empty());
    }
    for wrong in ["03:00.0", "0000:03:00", "0000:03:20.0", "0000:03:00.8", "0000:0A:00.0", "a:b"] {
        let refused = with_interface("backend = \"qemu\"", wrong, "").unwrap_err();
        assert!(refused.contains("a PCI address looks like `0000:03:00.0`"), "{wrong}: {refused}");
    }
}

#[test]
fn a_plan_names_the_cards_that_no_guest_can_have() {
    const KEY: &str = "fieldbus.ec0.interface";
    let site = |card: &str, more: &str| with_interface("backend = \"qemu\"", card, more).unwrap();
    let able = Machine { qemu: Ok(()), kvm: Ok(()), ..machine(2) };
    let good = site("0000:03:00.0", "");
    assert!(plan_run(&good, &able).is_ok());
    refused(&site("0000:04:00.0", ""), &able, KEY, "there is no IOMMU to keep it from the host");
    refused(&site("0000:05:00.0", ""), &able, KEY, "there is no network card at 0000:05:00.0");
    refused(&site("0000:05:00.0", ""), &able, KEY, "choose from `0000:03:00.0`, `0000:04:00.0`");
    let user = Machine { root: false, ..able.clone() };
    refused(&good, &user, KEY, "only root may give a network card to a guest");
    let measured = site("0000:03:00.0", "[campaign]\nprobes = [\"ethercat\"]\n");
    refused(&measured, &able, "campaign.probes", "the network card of fieldbus `ec0` is its");
    let plan = plan(&good, &able).unwrap();
    let steps: Vec<_> = plan.steps.iter().map(ToString::to_string).collect();
    let has = |text: &str| steps.iter().any(|step| step.contains(text));
    assert!(has("give the network card at 0000:03:00.0 to the guest of `a` (`vfio-pci`)"));
    assert!(has("on the network card at 0000:03:00.0, a frame every 10 ms"), "{steps:#?}");
    assert!(has("put the machine's settings back as they were"), "{steps:#?}");
}
