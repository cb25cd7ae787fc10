//! queiroz2023: five tables and twelve figures.

use super::{Content, Exhibit, Kernels};

const STOCK: &str = "quietcore guest build --kernel stock --out examples/papers/guest-stock";
const REAL_TIME: &str = "quietcore guest build --kernel rt --out examples/papers/guest-rt";
const RUN: &str = "quietcore qualify examples/papers/queiroz2023.toml --out run";
/// All systems under all profiles, as one run.
const SYSTEMS: &[&str] = &[STOCK, REAL_TIME, RUN];
/// Words of the paper on tp5 and tp6 in table 2, and in sections 5.1 and 5.2.
const NEIGHBOURS: &str = "tp5 and tp6 have two neighbours of the partition's kind, each with the \
                          load of tp3 (table 2). They float over the CPUs that the partition \
                          leaves, as the first virtual machine alone has processors of its own \
                          (section 5.1); core affinity (tp6) is that of the measured task (section \
                          5.2), which in tp5 may move among the partition's CPUs. Beside `kvm` and \
                          `qemu` they are Linux guests of QEMU";
const AS_CYCLICTEST: &str = "process, container and Linux guests of QEMU in place of the paper's \
                             hypervisors, which are commercial ones without names; a system that \
                             this machine has not is left out with the reason. The probe in place \
                             of cyclictest, in steps of ns; priority 98, as 99 is that of kernel \
                             threads; tp4 loads all CPUs but the partition's, and the load of tp3 \
                             and tp4 runs on the host, not in the guest";
const OF_REAL_TIME: &str = "PREEMPT_RT and our OSEK kernel, under our monitor and under Xen, where \
                            the paper has Xenomai 3.1; on a host with PREEMPT_RT its processes and \
                            containers, too. In a guest of ours a program is measured, as no probe \
                            runs there. Else as in table 3";
const BOXES: &str = "one box plot for each system of this machine under each profile, beside the \
                     paper's; whiskers at 2.5 % and 97.5 %, as there. Its hypervisors have no \
                     names";
const ALL_PROFILES: &[&str] = &["tp1", "tp2", "tp3", "tp4", "tp5", "tp6"];

pub(super) const ALL: &[Exhibit] = &[
    Exhibit::of_table(
        "queiroz2023/table-1",
        &[RUN, "quietcore report run"],
        None,
        "the services are application classes, and the page judges each run against all of them. \
         The paper's limits are end to end; a run is one part of that, and gets a tenth of the \
         cycle",
    ),
    Exhibit::of_table(
        "queiroz2023/table-2",
        &["quietcore plan examples/papers/queiroz2023.toml"],
        None,
        NEIGHBOURS,
    ),
    Exhibit::of_table(
        "queiroz2023/table-3",
        &[STOCK, REAL_TIME, RUN, "quietcore compare run --with queiroz2023/table-3"],
        None,
        AS_CYCLICTEST,
    )
    .showing(Kernels::GeneralPurpose, ALL_PROFILES),
    Exhibit::of_table(
        "queiroz2023/table-4",
        &[STOCK, REAL_TIME, RUN, "quietcore compare run --with queiroz2023/table-4"],
        None,
        OF_REAL_TIME,
    )
    .showing(Kernels::RealTime, ALL_PROFILES),
    Exhibit::of_table(
        "queiroz2023/table-5",
        &[STOCK, REAL_TIME, RUN, "quietcore compare run --with queiroz2023/table-5"],
        None,
        "the systems of table 4; each looked at after 1, 2, 4 and 8 h of one run, as in the paper, \
         and a run of less than an hour after an eighth, a quarter and half of it",
    )
    .showing(Kernels::RealTime, &["tp5"]),
    Exhibit::of_picture(
        ("queiroz2023/figure-1", "A virtual PLC whose I/O modules are behind a managed network"),
        Content::Drawing,
        &["quietcore up examples/servo.toml --for 10s"],
        Some("controllers placed on several machines, with the network's routes set for each"),
        "program and fieldbus on one machine; with `interface` in the site file the segment is a \
         real one",
    ),
    Exhibit::of_picture(
        ("queiroz2023/figure-2", "A process in a loop with its controller, sensors and actuators"),
        Content::Drawing,
        &["quietcore up examples/tank.toml --for 10s"],
        None,
        "the process is a simulated plant behind simulated terminals",
    ),
    Exhibit::of_picture(
        ("queiroz2023/figure-3", "The cycle of a control device: inputs, program, outputs"),
        Content::Drawing,
        &["quietcore probe exec examples/servo.toml"],
        None,
        "release, execution and response of each cycle are measured; reading inputs and writing \
         outputs are not measured apart",
    ),
    Exhibit::of_picture(
        ("queiroz2023/figure-4", "Hard, firm and soft: what a missed deadline costs"),
        Content::Drawing,
        &[RUN, "quietcore show run"],
        None,
        "`real_time` of a `[[class]]` says how hard it is, and the verdict counts misses \
         accordingly; the published classes are all hard",
    ),
    Exhibit::of_picture(
        ("queiroz2023/figure-5", "Parts of the delay from an event to its real-time task"),
        Content::Drawing,
        &["quietcore probe latency --period 10ms --explain 50us"],
        None,
        "a ledger of each late release, cause by cause, from the kernel's trace (as root); the \
         event is a timer and no packet",
    ),
    Exhibit::of_picture(
        ("queiroz2023/figure-6", "Hypervisors of type 1 and type 2, and containers"),
        Content::Drawing,
        SYSTEMS,
        None,
        "measured instead of drawn: a container, QEMU and our monitor, which are processes of the \
         host as with type 2, and Xen, which is of type 1",
    )
    .showing(Kernels::GeneralPurpose, &["tp1"]),
    Exhibit::of_picture(
        ("queiroz2023/figure-7", "The bare machine, and a hypervisor with three virtual machines"),
        Content::Drawing,
        &["quietcore plan examples/papers/queiroz2023.toml"],
        None,
        "the plan has each system alone, and in tp5 and tp6 two neighbours beside it: process, \
         container, guest of QEMU, guest of ours, domain of Xen",
    ),
    Exhibit::of_picture(
        ("queiroz2023/figure-8", "Cost of each hypervisor without load"),
        Content::PlotOfTable("queiroz2023/table-3"),
        SYSTEMS,
        None,
        "one box plot for each system of this machine under each profile, beside the paper's; \
         whiskers at 2.5 % and 97.5 %, as there. Its hypervisors have no names. With a program in \
         a partition, `quietcore cost` compares the backends of this machine in pairs",
    )
    .showing(Kernels::GeneralPurpose, &["tp1", "tp2"]),
    Exhibit::of_picture(
        ("queiroz2023/figure-9", "Each system under load, the task not pinned"),
        Content::PlotOfTable("queiroz2023/table-3"),
        SYSTEMS,
        None,
        BOXES,
    )
    .showing(Kernels::GeneralPurpose, &["tp3"]),
    Exhibit::of_picture(
        ("queiroz2023/figure-10", "Each system under load, the task pinned or not"),
        Content::PlotOfTable("queiroz2023/table-3"),
        SYSTEMS,
        None,
        BOXES,
    )
    .showing(Kernels::GeneralPurpose, &["tp3", "tp4"]),
    Exhibit::of_picture(
        ("queiroz2023/figure-11", "Load in the same system or in the neighbours"),
        Content::PlotOfTable("queiroz2023/table-3"),
        SYSTEMS,
        None,
        BOXES,
    )
    .showing(Kernels::GeneralPurpose, &["tp4", "tp5", "tp6"]),
    Exhibit::of_picture(
        ("queiroz2023/figure-12", "Each hypervisor with loaded neighbours, under an RTOS"),
        Content::PlotOfTable("queiroz2023/table-4"),
        SYSTEMS,
        None,
        "PREEMPT_RT and our OSEK kernel, where the paper has Xenomai 3.1; one box plot for each \
         system of this machine, beside the paper's",
    )
    .showing(Kernels::RealTime, &["tp5"]),
];
