//! The kinds of machines.

/// A kind of machine: its kernel, its processor, and what is loaded into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Debian's package that depends on the newest kernel of its flavour.
    pub package: &'static str,
    /// QEMU's `-cpu`.
    pub processor: &'static str,
    /// The modules that scenarios of this kind need, beside those that every machine does.
    pub modules: &'static [&'static str],
    /// Devices beside those that every machine has, as arguments of QEMU's `-device`.
    pub devices: &'static [&'static str],
    /// What is added to the kernel's command line.
    pub kernel_words: &'static str,
}

/// What every machine needs: its shares, network interfaces for fieldbuses and partitions, and what
/// limits those.
pub const MODULES: &[&str] =
    &["virtio_pci", "virtio_rng", "9pnet_virtio", "9p", "veth", "tun", "sch_tbf"];

/// A processor that can hold guests. KVM insists on a constant time stamp counter, which this QEMU
/// grants only when forced.
const NESTING: &str = "max,+svm,+invtsc,x-force-features=on";

/// All kinds.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "rt",
        about: "PREEMPT_RT, with the tracers osnoise and timerlat",
        package: "linux-image-rt-amd64",
        processor: "max",
        modules: &[],
        devices: &[],
        kernel_words: "",
    },
    Kind {
        name: "kvm",
        about: "PREEMPT_RT with nested KVM",
        package: "linux-image-rt-amd64",
        processor: NESTING,
        modules: &["irqbypass", "ccp", "kvm", "kvm-amd"],
        devices: &[],
        kernel_words: "",
    },
    Kind {
        name: "iommu",
        about: "the same, with an IOMMU and a device to pass through (QEMU's `edu`)",
        package: "linux-image-rt-amd64",
        processor: NESTING,
        modules: &["irqbypass", "ccp", "kvm", "kvm-amd", "vfio_iommu_type1", "vfio-pci"],
        // The device is behind a port of its own, so that it has an IOMMU group of its own and can
        // be reset with its bus.
        devices: &["intel-iommu,intremap=on", "pcie-root-port,id=root0", "edu,bus=root0"],
        kernel_words: "intel_iommu=on",
    },
    Kind {
        name: "stock",
        about: "Debian's own kernel, as it is installed",
        package: "linux-image-amd64",
        processor: "max",
        modules: &[],
        devices: &[],
        kernel_words: "",
    },
];

impl Kind {
    /// Whether its processor virtualises, which this emulator does with faults.
    pub fn holds_guests(&self) -> bool {
        self.processor == NESTING
    }
}

/// The kind of this name.
pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
