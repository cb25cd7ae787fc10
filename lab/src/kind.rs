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
    /// `true` if the processor virtualises for guests, which this emulator does with faults.
    pub holds_guests: bool,
    /// The modules that scenarios of this kind need, beside those that every machine does.
    pub modules: &'static [&'static str],
    /// `true` if it has an IOMMU, and behind that a network card whose cable ends in the machine's
    /// other card: see [`CARD`](crate::emulator::CARD).
    pub has_card: bool,
    /// Words of the kernel's command line, beside those of every machine.
    pub words: &'static str,
    /// Size of its memory in MiB where nobody asks for another.
    pub memory_mib: u32,
    /// The hypervisor that starts the kernel, if the emulator does not.
    pub hypervisor: Option<Hypervisor>,
}

impl Kind {
    /// Returns the whole command line of its kernel.
    pub fn command_line(&self) -> String {
        // A panic ends the machine, since it may not start again.
        format!("{} quiet loglevel=4 panic=-1 rdinit=/init", self.words)
    }
}

/// A hypervisor: QEMU starts it in place of the kernel, which it then starts as its first domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hypervisor {
    /// Debian's package that holds it.
    pub package: &'static str,
    /// Path of its compressed image in that package.
    pub image: &'static str,
    /// Words of its own command line, apart from the kernel's.
    pub words: &'static str,
    /// Debian's packages of the programs that talk to it, with the libraries that they need beyond
    /// those that `qemu-system-x86` depends on.
    pub packages: &'static [&'static str],
    /// The folder of its programs that belong to no user's path.
    pub programs: &'static str,
}

/// Modules that every machine needs: for its shares, network interfaces for fieldbuses and
/// partitions, and limits of those.
pub const MODULES: &[&str] =
    &["virtio_pci", "virtio_rng", "9pnet_virtio", "9p", "veth", "tun", "sch_tbf"];

/// A processor with all that QEMU emulates, but for what makes the emulator slow: `rep movsb` and
/// `rep stosb` for each copy, byte by byte; two instructions more for each access to a program's
/// memory; a fifth level of page tables.
const PLAIN: &str = "max,-erms,-fsrm,-smap,-la57";

/// The same, with guests. KVM insists on a constant time stamp counter, which this QEMU grants only
/// when forced.
const NESTING: &str = "max,-erms,-fsrm,-smap,-la57,+svm,+invtsc,x-force-features=on";

/// Memory of a machine in MiB unless its kind needs more.
const MEMORY_MIB: u32 = 1024;

/// Words for a kernel that the emulator starts: its console, and no work against leaks of a
/// processor that has none.
const SERIAL: &str = "console=ttyS0 mitigations=off init_on_alloc=0";

/// Debian's Xen, with the programs of its own release: those of another one refuse it.
const XEN: Hypervisor = Hypervisor {
    package: "xen-hypervisor-4.17-amd64",
    image: "boot/xen-4.17-amd64.gz",
    // Without a size of its own, dom0 gets all memory and gives it back page by page when a domain
    // starts, which takes an emulated machine long. Each of Xen's lines at its start costs time,
    // too, and hides the scenario's.
    words: "com1=115200,8n1 console=com1 loglvl=error guest_loglvl=error dom0_mem=1024M,max:1024M",
    packages: &[
        "xen-utils-4.17",
        "xen-utils-common",
        "xenstore-utils",
        "libxencall1",
        "libxendevicemodel1",
        "libxenevtchn1",
        "libxenforeignmemory1",
        "libxengnttab1",
        "libxenhypfs1",
        "libxenmisc4.17",
        "libxenstore4",
        "libxentoolcore1",
        "libxentoollog1",
        "libyajl2",
    ],
    programs: "/usr/lib/xen-4.17/bin",
};

/// All kinds, by name.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "rt",
        about: "PREEMPT_RT, with the tracers osnoise and timerlat",
        package: "linux-image-rt-amd64",
        processor: PLAIN,
        holds_guests: false,
        modules: &[],
        has_card: false,
        words: SERIAL,
        memory_mib: MEMORY_MIB,
        hypervisor: None,
    },
    Kind {
        name: "kvm",
        about: "PREEMPT_RT with nested KVM",
        package: "linux-image-rt-amd64",
        processor: NESTING,
        holds_guests: true,
        modules: &["irqbypass", "ccp", "kvm", "kvm-amd"],
        has_card: false,
        words: SERIAL,
        memory_mib: MEMORY_MIB,
        hypervisor: None,
    },
    Kind {
        name: "vfio",
        about: "as kvm, with an IOMMU and a network card that can be given to a guest",
        package: "linux-image-rt-amd64",
        processor: NESTING,
        holds_guests: true,
        modules: &[
            "irqbypass",
            "ccp",
            "kvm",
            "kvm-amd",
            "virtio_net",
            "e1000e",
            "vfio",
            "vfio_iommu_type1",
            "vfio-pci",
        ],
        has_card: true,
        words: "console=ttyS0 mitigations=off init_on_alloc=0 intel_iommu=on",
        memory_mib: MEMORY_MIB,
        hypervisor: None,
    },
    Kind {
        name: "stock",
        about: "Debian's own kernel, as it is installed",
        package: "linux-image-amd64",
        processor: "max",
        holds_guests: false,
        modules: &[],
        has_card: false,
        words: "console=ttyS0",
        memory_mib: MEMORY_MIB,
        hypervisor: None,
    },
    Kind {
        name: "xen",
        about: "Debian's Xen, with Debian's own kernel as its first domain (dom0)",
        package: "linux-image-amd64",
        // Domains of kind PVH need SVM with nested paging.
        processor: "qemu64,+svm,+npt,+rdrand",
        holds_guests: true,
        modules: &["xen-privcmd", "xen-evtchn", "xen-gntdev", "xen-gntalloc", "xenfs", "overlay"],
        has_card: false,
        // The console is Xen's. Without entropy the store has been seen to wait for ever; `rdrand`,
        // which the kernel must be told to trust, is there before the virtual device for it.
        words: "console=hvc0 random.trust_cpu=on",
        // Half for dom0, half for domains.
        memory_mib: 2048,
        hypervisor: Some(XEN),
    },
];

/// The kind of this name.
pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
