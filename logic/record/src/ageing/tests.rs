//! Each dependency on its own, and what nobody knows.

use proptest::prelude::*;

use super::*;
use crate::record::{
    Core, FirmwareVersions, GuestImage, InterruptPlacement, KernelBuild, Limit, ProgramBuild,
    ReservationInForce, Topology, Versions,
};

/// The image of a guest, with a kernel's words about itself.
fn image(kernel: &str, sha256: &str) -> GuestImage {
    let [folder, sha256, kernel] = ["/images/guest-rt", sha256, kernel].map(str::to_owned);
    GuestImage { folder, sha256, kernel }
}

const RT: &str = "6.1.0-1-rt-amd64 (builder@PREEMPT) #1 SMP PREEMPT_RT Debian 6.1.1-1 (2026-01-01)";

fn interrupt(number: u32, name: &str, cpus: &str) -> InterruptPlacement {
    InterruptPlacement { number, name: name.to_owned(), cpus: cpus.parse().unwrap() }
}

/// A platform that has a value of everything.
fn platform() -> Platform {
    let text = |words: &str| Some(words.to_owned());
    Platform {
        kernel: KernelBuild {
            release: text("6.1.0-1"),
            version: text("Linux version 6.1.0-1 #1"),
            command_line: text("quiet isolcpus=2"),
        },
        firmware: FirmwareVersions {
            bios_version: text("F.22"),
            microcode: text("0x10"),
            ..FirmwareVersions::default()
        },
        topology: Topology {
            cores: vec![Core { package: Some(0), cpus: "0".parse().unwrap() }],
            caches: Vec::new(),
        },
        interrupts: Some(vec![interrupt(24, "eth0", "2")]),
        reservation: Some(ReservationInForce {
            cpu_quota_us: Some(Limit::Unlimited),
            cpus: Some("2".parse().unwrap()),
            cache_mask: Some(0xf),
            ..ReservationInForce::default()
        }),
        versions: Versions { quietcore: "0.1.0".to_owned(), ..Versions::default() },
        ..Platform::default()
    }
}

fn then(platform: Platform) -> Conditions {
    let machine = [("governor", "performance"), ("preemption", "PREEMPT_RT")];
    Conditions {
        platform: Some(Box::new(platform)),
        machine: machine.map(|(name, words)| (name.to_owned(), words.to_owned())).into(),
        ..Conditions::default()
    }
}

fn now(platform: Platform) -> Present {
    Present { machine: then(Platform::default()).machine, platform, unseen: Vec::new() }
}

/// Compares a platform that has everything with one that `change` has changed.
fn after(change: impl FnOnce(&mut Present)) -> Comparison {
    let mut present = now(platform());
    change(&mut present);
    compare(&then(platform()), &present)
}

fn words(comparison: &Comparison) -> Vec<String> {
    comparison.changes.iter().map(ToString::to_string).collect()
}

#[test]
fn a_verdict_expires_with_each_thing_that_it_depends_on_and_names_it() {
    type Changing = fn(&mut Present);
    let cases: [(Changing, &str); 12] = [
        (|it| it.platform.kernel.release = Some("6.1.0-2".into()), "kernel 6.1.0-1 → 6.1.0-2"),
        (
            |it| it.platform.kernel.version = Some("Linux version 6.1.0-1 #2".into()),
            "kernel build Linux version 6.1.0-1 #1 → Linux version 6.1.0-1 #2",
        ),
        (
            |it| it.platform.kernel.command_line = Some("quiet nosmt".into()),
            "command line isolcpus=2 → nosmt",
        ),
        (|it| it.platform.firmware.microcode = Some("0x11".into()), "microcode 0x10 → 0x11"),
        (
            |it| it.platform.firmware.bios_version = Some("F.23".into()),
            "firmware BIOS F.22 → BIOS F.23",
        ),
        (
            |it| it.platform.topology.cores[0].cpus = "0,1".parse().unwrap(),
            "cores CPU 0 in package 0 → CPU 0,1 in package 0",
        ),
        (|it| it.platform.versions.hypervisor = Some("KVM".into()), "hypervisor none → KVM"),
        (
            |it| {
                let placed = vec![interrupt(25, "eth0", "2"), interrupt(9, "", "2")];
                it.platform.interrupts = Some(placed);
            },
            "interrupts on its CPUs nothing → 9 on CPU 2",
        ),
        (
            |it| it.platform.interrupts = Some(Vec::new()),
            "interrupts on its CPUs eth0 on CPU 2 → nothing",
        ),
        (
            |it| it.platform.reservation.as_mut().unwrap().cpus = Some("2,3".parse().unwrap()),
            "reservation CPU time without a limit, cpuset 2, memory not read back, cache ways f → \
             CPU time without a limit, cpuset 2,3, memory not read back, cache ways f",
        ),
        (|it| it.platform.versions.quietcore = "0.2.0".into(), "Quietcore 0.1.0 → 0.2.0"),
        (
            |it| drop(it.machine.insert("preemption".into(), "full".into())),
            "preemption PREEMPT_RT → full",
        ),
    ];
    assert_eq!(after(|_| {}).changes, []);
    for (change, told) in cases {
        let comparison = after(change);
        assert_eq!(words(&comparison), [told]);
        assert!(comparison.is_expired(), "{told}");
    }
}

/// Goal: a verdict of a guest with its own kernel expires when that is another one, and one of a
/// partition without such a guest knows nothing of it.
#[test]
fn a_verdict_in_a_guest_expires_with_its_kernel_and_with_its_image() {
    let measured = Platform { guest: Some(image(RT, "1a2b")), ..platform() };
    let after = |guest: Option<GuestImage>| {
        compare(&then(measured.clone()), &now(Platform { guest, ..platform() }))
    };
    let stock = "6.1.0-1-amd64 (builder@PREEMPT) #1 SMP PREEMPT_DYNAMIC Debian 6.1.1-1";
    let cases = [
        (image(RT, "1a2b"), None),
        (image(RT, "3c4d"), Some("the guest's image 1a2b → 3c4d")),
        (
            image(stock, "3c4d"),
            Some("the guest's kernel 6.1.0-1-rt-amd64 PREEMPT_RT → 6.1.0-1-amd64 PREEMPT_DYNAMIC"),
        ),
    ];
    for (present, told) in cases {
        let comparison = after(Some(present));
        assert_eq!(words(&comparison), Vec::from_iter(told));
        assert_eq!(comparison.is_expired(), told.is_some());
    }
    let lost = after(None);
    assert!(!lost.is_expired(), "nobody knows what the image is now");
    let of_guest = [Dependency::GuestKernel, Dependency::GuestImage];
    let untold: Vec<_> = lost.not_compared.iter().map(|it| it.dependency).collect();
    assert!(of_guest.iter().all(|it| untold.contains(it)), "{untold:?}");
    let outside = compare(&then(platform()), &now(measured));
    assert!(!outside.is_expired() && outside.changes.is_empty());
}

#[test]
fn a_setting_that_sites_change_is_told_and_expires_nothing() {
    let comparison = after(|it| drop(it.machine.insert("governor".into(), "powersave".into())));
    assert_eq!(words(&comparison), ["governor performance → powersave"]);
    assert!(!comparison.is_expired());
    assert_eq!(comparison.told().count(), 1);
}

/// Goal: nobody takes what is not known for a change, nor for what is as it was.
#[test]
fn what_old_evidence_did_not_record_is_named_and_is_no_change() {
    let mut old = Conditions { quietcore_version: "0.1.0".to_owned(), ..Conditions::default() };
    old.machine.insert("kernel".to_owned(), "6.1.0-1".to_owned());
    old.machine.insert("microcode".to_owned(), "not there".to_owned());
    let comparison = compare(&old, &now(platform()));
    assert_eq!(comparison.changes, []);
    let of = |dependency| {
        let mut entries = comparison.not_compared.iter();
        entries.find(|entry| entry.dependency == dependency).map(|entry| entry.because)
    };
    assert_eq!(of(Dependency::Kernel), None, "its words are known");
    assert_eq!(of(Dependency::Quietcore), None);
    for dependency in [Dependency::Interrupts, Dependency::Microcode, Dependency::Cores] {
        assert_eq!(of(dependency), Some(Uncompared::NotRecorded), "{dependency}");
    }
    old.machine.insert("kernel".to_owned(), "6.0".to_owned());
    assert_eq!(words(&compare(&old, &now(platform()))), ["kernel 6.0 → 6.1.0-1"]);
    let unread = compare(&then(platform()), &Present::default());
    let kernel = NotCompared { dependency: Dependency::Kernel, because: Uncompared::NotReadable };
    assert!(unread.not_compared.contains(&kernel), "{unread:?}");
    assert_eq!(kernel.to_string(), "kernel (not readable here now)");
}

#[test]
fn what_is_not_compared_says_why_and_what_there_was_none_of_is_not_told() {
    let because = Uncompared::NotRunning;
    let unseen = NotCompared { dependency: Dependency::Reservation, because };
    let comparison = after(|it| {
        it.platform.reservation = None;
        it.unseen.push(unseen);
        // The probe ran alone, and in no container.
        it.unseen.push(NotCompared { dependency: Dependency::Program, because });
        it.unseen.push(NotCompared { dependency: Dependency::ContainerRuntime, because });
    });
    assert_eq!(comparison.changes, []);
    assert!(comparison.not_compared.contains(&unseen));
    let told = |of| comparison.not_compared.iter().any(|entry| entry.dependency == of);
    assert!(!told(Dependency::Program) && !told(Dependency::ContainerRuntime));
    let mut built = platform();
    let (sources_sha256, compiler) = ("a1".to_owned(), "gcc".to_owned());
    built.program = Some(ProgramBuild { sources_sha256, module_sha256: None, compiler });
    let mut present = now(built.clone());
    assert_eq!(compare(&then(built.clone()), &present).changes, []);
    present.platform.program.as_mut().unwrap().sources_sha256 = "b2".to_owned();
    assert_eq!(words(&compare(&then(built), &present)), ["program a1 → b2"]);
}

#[test]
fn the_order_of_parameters_counts_and_a_release_tells_of_its_build() {
    let line = |it: &mut Present| it.platform.kernel.command_line = Some("isolcpus=2 quiet".into());
    assert_eq!(words(&after(line)), ["command line quiet isolcpus=2 → isolcpus=2 quiet"]);
    let both = |it: &mut Present| {
        it.platform.kernel.release = Some("6.1.0-2".into());
        it.platform.kernel.version = Some("Linux version 6.1.0-2 #1".into());
    };
    assert_eq!(words(&after(both)), ["kernel 6.1.0-1 → 6.1.0-2"]);
}

#[test]
fn records_of_one_verdict_are_told_once_and_a_change_of_any_counts() {
    let mut other = platform();
    other.interrupts = None;
    let mut present = now(platform());
    present.platform.interrupts = Some(Vec::new());
    let all = [then(platform()), then(other), then(platform())];
    let comparison = compare_all(&all, &present);
    assert_eq!(words(&comparison), ["interrupts on its CPUs eth0 on CPU 2 → nothing"]);
    let is_interrupts = |it: &NotCompared| it.dependency == Dependency::Interrupts;
    assert!(!comparison.not_compared.iter().any(is_interrupts));
}

proptest! {
    /// Goal: a verdict holds on the machine that it was measured on, and every difference of a
    /// named text is told with both values.
    #[test]
    fn nothing_changes_on_the_same_machine_and_no_change_is_lost(
        release in "[a-z0-9.-]{1,12}",
        later in "[a-z0-9.-]{1,12}",
        microcode in proptest::option::of("0x[0-9a-f]{1,6}"),
        line in "[a-z=0-9 ]{0,40}",
        numbers in proptest::collection::vec(0_u32..200, 0..6),
    ) {
        let mut platform = platform();
        platform.kernel.release = Some(release.clone());
        platform.kernel.command_line = Some(line);
        platform.firmware.microcode = microcode;
        let placed = numbers.iter().map(|number| interrupt(*number, "", "2"));
        platform.interrupts = Some(placed.collect());
        let held = then(platform.clone());
        prop_assert_eq!(compare(&held, &now(platform.clone())).changes, vec![]);
        platform.kernel.release = Some(later.clone());
        let comparison = compare(&held, &now(platform));
        let (before, now) = (release.clone(), later.clone());
        let change = Change { dependency: Dependency::Kernel, before, now };
        prop_assert_eq!(comparison.changes.contains(&change), release != later);
        prop_assert_eq!(comparison.is_expired(), release != later);
    }
}
