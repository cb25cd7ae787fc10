//! kong2021: three tables and six figures.

use super::{Content, Exhibit};

const NO_EVENT: &str = "the probe `event` and its adapter, which sends numbered frames to a guest \
                        and notes when they come back";
const PROBE_IRQ: &str = "quietcore probe irq --period 10ms --interrupts 10000 --out irq";

pub(super) const ALL: &[Exhibit] = &[
    Exhibit::of_table(
        "kong2021/table-1",
        &[PROBE_IRQ, "quietcore compare irq --with kong2021/table-1"],
        Some("a handler on the bare machine: the figures are those of a guest"),
        "a virtual clock board, raised by a thread of the host, in place of a PCI card; it counts \
         in steps of 10 ns, as there",
    ),
    Exhibit::of_table(
        "kong2021/table-2",
        &[PROBE_IRQ, "quietcore compare irq --with kong2021/table-2"],
        None,
        "a guest with our OSEK kernel under our monitor, in place of VxWorks and JARI-Works; the \
         interrupt comes from another CPU of the host, where the paper passes a card through. \
         `--backend qemu` measures a guest of QEMU; `--load` adds the load that the paper leaves \
         out",
    ),
    Exhibit::of_table("kong2021/table-3", &[], Some(NO_EVENT), ""),
    Exhibit::of_picture(
        ("kong2021/figure-1", "Hypervisors of type 1 and type 2"),
        Content::Drawing,
        &[
            "quietcore probe osek --backend kvm --loops 100 --out types/kvm",
            "quietcore probe osek --backend xen --loops 100 --out types/xen",
            "quietcore report types",
        ],
        None,
        "measured instead of drawn, by the routines of a kernel: our monitor is a process of the \
         host, as with type 2, and Xen is of type 1. A domain takes a machine that was started \
         with Xen: run the commands on both, with one folder",
    ),
    Exhibit::of_picture(
        ("kong2021/figure-2", "Scheme 1: control and other applications on one computer"),
        Content::Drawing,
        &["quietcore up examples/cell.toml --for 10s"],
        None,
        "the axis and its panel are partitions; `backend` of each says process, container or guest",
    ),
    Exhibit::of_picture(
        ("kong2021/figure-3", "Scheme 2: computing in a data centre, adapters at the process"),
        Content::Drawing,
        &[],
        Some(NO_EVENT),
        "",
    ),
    Exhibit::of_picture(
        ("kong2021/figure-4", "Parts of the response to an event: interrupt and context switch"),
        Content::Drawing,
        &[PROBE_IRQ],
        None,
        "measured for each interrupt: to the handler, and from there to the task that it activates",
    ),
    Exhibit::of_picture(
        ("kong2021/figure-5", "A device passed through to a guest"),
        Content::Drawing,
        &[],
        Some("a probe of a device passed to a guest by VFIO, as network cards are"),
        "",
    ),
    Exhibit::of_picture(
        ("kong2021/figure-6", "Path of a frame from the network through TAP into a guest and back"),
        Content::Drawing,
        &[],
        Some(NO_EVENT),
        "",
    ),
];
