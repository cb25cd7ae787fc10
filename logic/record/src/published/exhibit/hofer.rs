//! hofer2019: one table and one figure.

use super::Exhibit;

pub(super) const ALL: &[Exhibit] = &[
    Exhibit::of_table(
        "hofer2019/table-1",
        &[
            "quietcore qualify examples/quickstart.toml --profile isolation --duration 20min --out \
             isolation",
            "quietcore compare isolation --with hofer2019/table-1",
        ],
        Some(
            "a guest with a Linux of its own, as under VirtualBox, which no backend here runs yet",
        ),
        "one kernel isolates a process from the rest, in place of guest and host; so its last two \
         rows are measured as the two before them. It needs root, and its load is that \
         of queiroz2023. The partition wakes early, and its wake-up latency is what stands beside \
         the paper's",
    ),
    Exhibit::of_table(
        "hofer2019/figure-1",
        &[
            "quietcore qualify examples/quickstart.toml --profile iso4 --duration 3h --out machine",
            "quietcore compare machine --with hofer2019/figure-1",
        ],
        None,
        "run it on each machine and with each kernel, and `compare` two folders; one thread, where \
         the paper has one for each isolated CPU. Xenomai is not supported. The limits of 100 µs \
         and 10 ms are a tenth of the cycle of classes",
    ),
];
