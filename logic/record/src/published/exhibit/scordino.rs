//! scordino2020: one table and six figures.

use super::{Content, Exhibit};

pub(super) const ALL: &[Exhibit] = &[
    Exhibit::of_table(
        "scordino2020/table-1",
        &[
            "quietcore probe ethercat --cycles 1000 --out ethercat/process",
            "quietcore compare ethercat/process --with scordino2020/table-1",
            "quietcore probe ethercat --backend kvm --cycles 1000 --out ethercat/kvm",
            "quietcore compare ethercat/kvm --with scordino2020/table-1",
            "quietcore probe ethercat --backend qemu --cycles 1000 --out ethercat/qemu",
            "quietcore compare ethercat/qemu --with scordino2020/table-1",
        ],
        None,
        "our MainDevice in place of SOEM: on Linux, and in a task of our OSEK kernel in place of \
         ERIKA, in guests whose network device the host serves, where the paper's drives its card \
         itself. Give the name of a network interface (`--interface`) in place of SubDevices that \
         are simulated on the host. The rate that the text gives (22 000 packets a second) is \
         printed, too",
    ),
    Exhibit::of_picture(
        ("scordino2020/figure-1", "The platform: hypervisor, RTOS, Linux and Windows on it"),
        Content::Drawing,
        &["quietcore up examples/papers/scordino2020.toml --for 10s"],
        Some(
            "a fieldbus in a domain of Xen; the daemon that takes generated code over gRPC; the \
             client for design tools",
        ),
        "a guest with our OSEK kernel under our own monitor; the host's Linux in place of a \
         domain. Another system, such as that of a design tool, starts from its disk in a \
         partition of the backend `qemu`",
    ),
    Exhibit::of_picture(
        ("scordino2020/figure-2", "Cache colouring: pages of one colour share parts of the cache"),
        Content::Drawing,
        &["quietcore plan examples/papers/scordino2020.toml"],
        None,
        "our monitor gives a guest pages of its colours, where Xen does in the paper; other \
         programs of the host still use all colours. A virtual machine has none to give",
    ),
    Exhibit::of_picture(
        ("scordino2020/figure-3", "Channels between guests over shared memory"),
        Content::Drawing,
        &["quietcore up examples/cell.toml --for 10s"],
        None,
        "`Com_SendSignal` and `Com_ReceiveSignal` as there, over a memory file that the supervisor \
         makes, in place of XenStore; a receiver looks into it, and one with an OSEK kernel is \
         notified at the start of a cycle, where the paper interrupts it",
    ),
    Exhibit::of_table(
        "scordino2020/figure-4",
        &[
            "quietcore probe osek --loops 100 --out figure-4/process",
            "quietcore probe osek --backend kvm --loops 100 --out figure-4/kvm",
            "quietcore probe osek --backend qemu --loops 100 --out figure-4/qemu",
            "quietcore probe osek --backend xen --loops 100 --out figure-4/xen",
            "quietcore report figure-4",
        ],
        Some("Jailhouse is not planned"),
        "our OSEK kernel in place of ERIKA, in a process and in guests of our monitor, of QEMU and \
         of Xen, whose domain takes a machine that was started with Xen: run the commands on both, \
         with one folder, and the page of that draws all in one figure. The same ten routines, \
         `term1` called `terml`. The empty measurement is subtracted",
    ),
    Exhibit::of_table(
        "scordino2020/figure-5",
        &["quietcore probe memory --parts curves --out curves"],
        Some("with page colours, as the probe runs in no guest"),
        "a process in place of a guest, and ways of the cache in place of colours, where the \
         processor has them; alone and beside neighbours in turns, with 95 % intervals",
    ),
    Exhibit::of_table(
        "scordino2020/figure-6",
        &["quietcore probe memory --parts routines --out routines"],
        Some("with page colours, as the probe runs in no guest"),
        "the kernel in a process, so that no hypervisor is in the path; smallest, mean and \
         largest over the mean alone, as there, and the ratio of the means with its 95 % interval",
    ),
];
