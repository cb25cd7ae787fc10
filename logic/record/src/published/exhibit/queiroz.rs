//! queiroz2023: five tables and twelve figures.

use super::{Content, Exhibit};

const HYPERVISORS: &str = "the paper's hypervisors are commercial ones without names; a partition \
                           of the backend `qemu` with `system = \"linux\"` stands for one, in a \
                           site file of yours";
/// Words of the paper on tp5 and tp6 in table 2, and in sections 5.1 and 5.2.
const NEIGHBOURS: &str = "tp5 and tp6 have two neighbours of the partition's kind, each with the \
                          load of tp3 (table 2). They float over the CPUs that the partition \
                          leaves, as the first virtual machine alone has processors of its own \
                          (section 5.1); core affinity (tp6) is that of the measured task (section \
                          5.2), which in tp5 may move among the partition's CPUs. Beside `kvm` and \
                          `qemu` they are Linux guests of QEMU";
const AS_CYCLICTEST: &str = "the probe in place of cyclictest, in steps of ns; priority 98, as 99 \
                             is that of kernel threads; tp4 loads all CPUs but the partition's. \
                             Our guest holds no Linux, and its load runs on the host";
const BOXES: &str = "`report.html` of the folder draws the box plots of its runs beside those of \
                     the paper's bare machine; whiskers at 2.5 % and 97.5 %, as there";

pub(super) const ALL: &[Exhibit] = &[
    Exhibit::of_table(
        "queiroz2023/table-1",
        &["quietcore qualify examples/papers/queiroz2023.toml --out run", "quietcore report run"],
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
        &[
            "quietcore qualify examples/papers/queiroz2023.toml --out run",
            "quietcore compare run --with queiroz2023/table-3",
            "quietcore probe latency --backend kvm --period 10ms --duration 8h --priority 98 \
             --load sqrt:10 --load malloc:10 --out guest",
            "quietcore compare guest --with queiroz2023/table-3",
            "quietcore qualify examples/papers/queiroz2023.toml --profile tp5,tp6 --out beside",
            "quietcore compare beside --with queiroz2023/table-3",
        ],
        Some(HYPERVISORS),
        AS_CYCLICTEST,
    ),
    Exhibit::of_table(
        "queiroz2023/table-4",
        &[
            "quietcore qualify examples/papers/queiroz2023.toml --out run",
            "quietcore compare run --with queiroz2023/table-4",
            "quietcore qualify examples/papers/queiroz2023.toml --profile tp5,tp6 --out beside",
            "quietcore compare beside --with queiroz2023/table-4",
        ],
        Some(HYPERVISORS),
        "the commands of table 3 on a kernel with PREEMPT_RT, where the paper has Xenomai 3.1",
    ),
    Exhibit::of_table(
        "queiroz2023/table-5",
        &[
            "quietcore qualify examples/papers/queiroz2023.toml --profile tp5 --duration 8h --out \
             hours",
            "quietcore compare hours --with queiroz2023/table-5",
        ],
        Some(HYPERVISORS),
        "the neighbours are processes, as the partition is; one run, looked at after 1, 2, 4 and \
         8 h as in the paper. The page has the same as a table, and a run of less than an hour \
         after an eighth, a quarter and half of it",
    ),
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
        &["quietcore qualify examples/papers/queiroz2023.toml --out run", "quietcore show run"],
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
        &[
            "quietcore probe latency --backend container --out in-container",
            "quietcore probe latency --backend kvm --out in-guest",
            "quietcore compare in-container in-guest",
        ],
        Some("type 1: no probe runs in a domain of Xen yet"),
        "measured instead of drawn; our monitor is a process of the host, as with type 2",
    ),
    Exhibit::of_picture(
        ("queiroz2023/figure-7", "The bare machine, and a hypervisor with three virtual machines"),
        Content::Drawing,
        &["quietcore plan examples/papers/queiroz2023.toml"],
        Some(HYPERVISORS),
        "the plan has the bare machine; with a `model`, a partition may name the backend \
         `kvm` for a guest of ours",
    ),
    Exhibit::of_picture(
        ("queiroz2023/figure-8", "Cost of each hypervisor without load"),
        Content::PlotOfTable("queiroz2023/table-3"),
        &["quietcore qualify examples/papers/queiroz2023.toml --profile tp1,tp2 --out quiet"],
        Some(HYPERVISORS),
        "`report.html` of the folder draws the box plots of its runs beside those of the paper's \
         bare machine; whiskers at 2.5 % and 97.5 %, as there. With a program in the partition, \
         `quietcore cost` on that site compares the backends of this machine in pairs",
    ),
    Exhibit::of_picture(
        ("queiroz2023/figure-9", "Each system under load, the task not pinned"),
        Content::PlotOfTable("queiroz2023/table-3"),
        &["quietcore qualify examples/papers/queiroz2023.toml --profile tp3 --out loaded"],
        Some(HYPERVISORS),
        BOXES,
    ),
    Exhibit::of_picture(
        ("queiroz2023/figure-10", "Each system under load, the task pinned or not"),
        Content::PlotOfTable("queiroz2023/table-3"),
        &["quietcore qualify examples/papers/queiroz2023.toml --profile tp3,tp4 --out pinning"],
        Some(HYPERVISORS),
        BOXES,
    ),
    Exhibit::of_picture(
        ("queiroz2023/figure-11", "Load in the same system or in the neighbours"),
        Content::PlotOfTable("queiroz2023/table-3"),
        &["quietcore qualify examples/papers/queiroz2023.toml --profile tp4,tp5,tp6 --out \
             isolated"],
        Some(HYPERVISORS),
        BOXES,
    ),
    Exhibit::of_picture(
        ("queiroz2023/figure-12", "Each hypervisor with loaded neighbours, under an RTOS"),
        Content::PlotOfTable("queiroz2023/table-4"),
        &["quietcore qualify examples/papers/queiroz2023.toml --profile tp5 --out neighbours"],
        Some(HYPERVISORS),
        "on a kernel with PREEMPT_RT, where the paper has Xenomai 3.1",
    ),
];
