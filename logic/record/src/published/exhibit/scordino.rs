//! scordino2020: one table and six figures.

use super::{Content, Exhibit};

pub(super) const ALL: &[Exhibit] = &[
    Exhibit::of_table(
        "scordino2020/table-1",
        &[
            "quietcore probe ethercat --interface sim --cycles 1000 --out ethercat",
            "quietcore compare ethercat --with scordino2020/table-1",
        ],
        Some("the MainDevice in a guest is not measured by this probe"),
        "our MainDevice on Linux in place of SOEM on ERIKA; give the name of a network interface \
         in place of `sim`, whose SubDevices are simulated in the same process. The rate that the \
         text gives (22 000 packets a second) is printed, too",
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
         makes, in place of XenStore; a receiver looks into it and is not interrupted",
    ),
    Exhibit::of_table(
        "scordino2020/figure-4",
        &[
            "quietcore probe osek --loops 100 --out process",
            "quietcore probe osek --backend kvm --loops 100 --out guest",
            "quietcore report guest",
        ],
        Some("no probe runs in a domain of Xen yet; Jailhouse is not planned"),
        "our OSEK kernel in place of ERIKA, in a process and in a guest of our monitor; the same \
         ten routines, `term1` called `terml`. The empty measurement is subtracted",
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
