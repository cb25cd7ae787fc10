//! The kinds of machines.

/// A kind of machine: its kernel, its processor, and what is loaded into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Name on the command line.
    pub name: &'static str,
    /// The purpose, in a sentence.
    pub about: &'static str,
    /// Debian's package that depends on the newest kernel of its flavour.
    pub package: &'static str,
    /// QEMU's `-cpu`.
    pub processor: &'static str,
    /// The modules that scenarios of this kind need, beside those that every machine does.
    pub modules: &'static [&'static str],
}

/// Modules that every machine needs: for its shares, network interfaces for fieldbuses and
/// partitions, and limits of those.
pub const MODULES: &[&str] =
    &["virtio_pci", "virtio_rng", "9pnet_virtio", "9p", "veth", "tun", "sch_tbf"];

/// A processor that can hold guests. KVM insists on a constant time stamp counter, which this QEMU
/// grants only when forced.
const NESTING: &str = "max,+svm,+invtsc,x-force-features=on";

/// All kinds, by name.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "rt",
        about: "PREEMPT_RT, with the tracers osnoise and timerlat",
        package: "linux-image-rt-amd64",
        processor: "max",
        modules: &[],
    },
    Kind {
        name: "kvm",
        about: "PREEMPT_RT with nested KVM",
        package: "linux-image-rt-amd64",
        processor: NESTING,
        modules: &["irqbypass", "ccp", "kvm", "kvm-amd"],
    },
    Kind {
        name: "stock",
        about: "Debian's own kernel, as it is installed",
        package: "linux-image-amd64",
        processor: "max",
        modules: &[],
    },
];

impl Kind {
    /// Returns `true` if its processor virtualises, which this emulator does with faults.
    pub fn holds_guests(&self) -> bool {
        self.processor == NESTING
    }
}

/// The kind of this name.
pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
