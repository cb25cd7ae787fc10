//! hofer2019: one table and one figure.

use super::Exhibit;

pub(super) const ALL: &[Exhibit] = &[
    Exhibit::of_table(
        "hofer2019/table-1",
        &[
            "quietcore guest build --kernel stock --out examples/papers/guest-stock",
            "quietcore guest build --kernel rt --out examples/papers/guest-rt",
            "quietcore qualify examples/papers/hofer2019.toml --out isolation",
            "quietcore compare isolation --with hofer2019/table-1",
        ],
        Some("the load inside of the guest, which the paper has beside that of the host"),
        "guests of QEMU with a stock kernel and with PREEMPT_RT in place of those of VirtualBox, \
         and a process beside them; a system that this machine has not is left out with the \
         reason. The host is what is isolated, so its last two rows are measured as the two before \
         them. It needs root, and its load is that of queiroz2023",
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
