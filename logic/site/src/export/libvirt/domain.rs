//! The domain of one partition.

use quietcore_units::{ByteSize, CpuId, CpuSet, Scheduling};

use super::super::ExportPaths;
use super::element::Element;
use crate::backend::MemoryForm;
use crate::site::{
    Accelerator, Cache, DiskDevices, DiskGuest, Firmware, GuestSystem, Partition, Site,
};

/// The level of the cache whose ways are assigned.
const LEVEL: u32 = 3;
/// Words to the kernel of a Linux guest, as `quietcore up` gives them.
const KERNEL_WORDS: &str = "console=ttyS0 quiet loglevel=4 panic=-1 rdinit=/init -- guest";

/// The name of a partition's domain.
pub(super) fn name(site: &Site, partition: &Partition) -> String {
    format!("{}-{}", site.name(), partition.name)
}

/// Returns the domain of a partition, which is a guest from its disk or one of Linux.
pub(super) fn domain(site: &Site, partition: &Partition, paths: &ExportPaths) -> Element {
    let kind = match partition.accelerator {
        Accelerator::Kvm => "kvm",
        Accelerator::Tcg => "qemu",
    };
    let cpus = &partition.vcr.cpus;
    let mut domain = Element::new("domain").with("type", kind);
    for comment in comments(site, partition, paths) {
        domain = domain.and_comment(comment);
    }
    domain
        .and(Element::of_text("name", name(site, partition)))
        .and_all(memory(partition))
        .and(
            Element::of_text("vcpu", cpus.len())
                .with("placement", "static")
                .with("cpuset", cpus.to_string()),
        )
        .and(tuning(site, partition, paths))
        .and(system(partition, paths))
        .and(Element::new("features").and(Element::new("acpi")).and(Element::new("apic")))
        .and(Element::new("cpu").with(
            "mode",
            match partition.accelerator {
                Accelerator::Kvm => "host-passthrough",
                Accelerator::Tcg => "maximum",
            },
        ))
        .and(Element::of_text("on_poweroff", "destroy"))
        .and(Element::of_text(
            "on_reboot",
            if partition.disk().is_some() { "restart" } else { "destroy" },
        ))
        .and(Element::of_text("on_crash", "destroy"))
        .and(devices(partition, paths))
}

/// Returns comments for people, on what the domain can't say.
fn comments(site: &Site, partition: &Partition, paths: &ExportPaths) -> Vec<String> {
    let mut all = vec![format!(
        "Partition `{}` of site `{}`; `virsh define` takes this file.",
        partition.name,
        site.name()
    )];
    if matches!(partition.system, GuestSystem::Linux { .. }) {
        all.push(
            "The guest's system alone: its program, its exchange and its channels are kept by \
             `quietcore up`, and it waits for them in vain here."
                .to_owned(),
        );
    }
    if matches!(partition.program.scheduling, Scheduling::Deadline { .. }) {
        all.push(
            "libvirt knows no SCHED_DEADLINE: its processors have no real-time policy.".into(),
        );
    }
    if let (Some(Cache::Ways(ways)), None) = (&partition.vcr.cache, paths.machine.cache_way) {
        all.push(format!(
            "vcr.cache: {ways} ways of the last-level cache; a cachetune needs their size in \
             bytes, and this machine can't assign any."
        ));
    }
    if emulator_cpus(site, paths).is_empty() {
        all.push(
            "The partitions claim every CPU: what emulates its devices is pinned nowhere.".into(),
        );
    }
    all
}

/// The memory; locked and in memory beforehand where it is no emulated machine's.
fn memory(partition: &Partition) -> Vec<Element> {
    let default = match &partition.declaration().memory {
        MemoryForm::Own { default, .. } => *default,
        MemoryForm::Heap => ByteSize::new(0),
    };
    let memory = partition.vcr.memory.unwrap_or(default);
    let mut all = vec![Element::of_text("memory", memory.get()).with("unit", "bytes")];
    if partition.accelerator == Accelerator::Kvm {
        let backing = Element::new("memoryBacking").and(Element::new("nosharepages"));
        let backing = backing.and(Element::new("locked"));
        all.push(backing.and(Element::new("allocation").with("mode", "immediate")));
    }
    all
}

/// The CPUs for what is no processor of a guest.
fn emulator_cpus(site: &Site, paths: &ExportPaths) -> CpuSet {
    let others = || paths.machine.online.without(&site.claimed_cpus());
    site.housekeeping().unwrap_or_else(others)
}

fn tuning(site: &Site, partition: &Partition, paths: &ExportPaths) -> Element {
    let cpus = &partition.vcr.cpus;
    let pin = |(number, cpu): (usize, CpuId)| {
        Element::new("vcpupin").with("vcpu", number).with("cpuset", cpu.get())
    };
    let mut tuning = Element::new("cputune").and_all(cpus.iter().enumerate().map(pin));
    let emulator = emulator_cpus(site, paths);
    if !emulator.is_empty() {
        tuning = tuning.and(Element::new("emulatorpin").with("cpuset", emulator.to_string()));
    }
    let all = match cpus.len() {
        1 => "0".to_owned(),
        count => format!("0-{}", count - 1),
    };
    if let Scheduling::Fifo { priority } = partition.program.scheduling {
        let policy = Element::new("vcpusched").with("vcpus", &all).with("scheduler", "fifo");
        tuning = tuning.and(policy.with("priority", priority));
    }
    if let (Some(ways), Some(way)) = (partition.vcr.cache_ways(), paths.machine.cache_way) {
        let kib = way.get() * u64::from(ways) / 1024;
        let cache = Element::new("cache").with("id", 0).with("level", LEVEL).with("type", "both");
        let cache = cache.with("size", kib).with("unit", "KiB");
        tuning = tuning.and(Element::new("cachetune").with("vcpus", &all).and(cache));
    }
    if let Some(percent) = partition.vcr.memory_bandwidth_percent {
        let node = Element::new("node").with("id", 0).with("bandwidth", percent);
        tuning = tuning.and(Element::new("memorytune").with("vcpus", &all).and(node));
    }
    tuning
}

fn system(partition: &Partition, paths: &ExportPaths) -> Element {
    let os = match partition.disk().map(|disk| disk.firmware) {
        Some(Firmware::Uefi) => Element::new("os").with("firmware", "efi"),
        Some(Firmware::Bios) | None => Element::new("os"),
    };
    let kind = Element::of_text("type", "hvm").with("arch", "x86_64").with("machine", "q35");
    let os = os.and(kind);
    match &partition.system {
        GuestSystem::Linux { image } => {
            let file = |name: &str| format!("{}/{name}", paths.beside(image));
            os.and(Element::of_text("kernel", file("vmlinuz")))
                .and(Element::of_text("initrd", file("initramfs.cpio.gz")))
                .and(Element::of_text("cmdline", KERNEL_WORDS))
        }
        GuestSystem::Disk(_) | GuestSystem::Osek => os.and(Element::new("boot").with("dev", "hd")),
    }
}

fn devices(partition: &Partition, paths: &ExportPaths) -> Element {
    let mut devices = Element::new("devices");
    if let Some(disk) = partition.disk() {
        devices = devices.and(image(disk, paths)).and_all(network(disk));
    }
    let serial = Element::new("serial").with("type", "pty");
    let console = Element::new("console").with("type", "pty");
    let target = |kind: &str| Element::new("target").with("type", kind).with("port", 0);
    devices = devices
        .and(Element::new("controller").with("type", "usb").with("model", "none"))
        .and(serial.and(Element::new("target").with("port", 0)))
        .and(console.and(target("serial")));
    if let Some(disk) = partition.disk().filter(|disk| disk.vnc) {
        let listen = Element::new("listen").with("type", "socket");
        devices = devices.and(Element::new("graphics").with("type", "vnc").and(listen));
        let model = match disk.devices {
            DiskDevices::Virtio => "virtio",
            DiskDevices::Plain => "vga",
        };
        let model = Element::new("model").with("type", model);
        devices = devices.and(Element::new("video").and(model));
    }
    devices.and(Element::new("memballoon").with("model", "none"))
}

fn image(disk: &DiskGuest, paths: &ExportPaths) -> Element {
    let (device, bus) = match disk.devices {
        DiskDevices::Virtio => ("vda", "virtio"),
        DiskDevices::Plain => ("sda", "sata"),
    };
    let format = if disk.has_qcow2_name() { "qcow2" } else { "raw" };
    Element::new("disk")
        .with("type", "file")
        .with("device", "disk")
        .and(Element::new("driver").with("name", "qemu").with("type", format))
        .and(Element::new("source").with("file", paths.beside(&disk.image)))
        .and(Element::new("target").with("dev", device).with("bus", bus))
}

fn network(disk: &DiskGuest) -> Option<Element> {
    let tap = disk.tap.as_ref()?;
    let model = match disk.devices {
        DiskDevices::Virtio => "virtio",
        DiskDevices::Plain => "e1000e",
    };
    let target = Element::new("target").with("dev", tap).with("managed", "no");
    let interface = Element::new("interface").with("type", "ethernet").and(target);
    Some(interface.and(Element::new("model").with("type", model)))
}
