//! mahmud2014: three tables and four figures.

use super::{Content, Exhibit};

const TWO_NODES: &str = "a second node, and the probes `rtt`, `throughput` and `cpuload`";
const PLAN: &[&str] = &["quietcore plan examples/papers/mahmud2014.toml"];

pub(super) const ALL: &[Exhibit] = &[
    Exhibit::of_table(
        "mahmud2014/table-1",
        PLAN,
        Some("the share of each partition in a virtual switch"),
        "one node, with three processes; CPUs one-to-one and memory reserved, as there. With \
         `backend = \"qemu\"` and `guest = { system = \"linux\", image = \"FOLDER\" }` they are \
         Linux guests, with a virtual processor for each of their CPUs",
    ),
    Exhibit::of_table("mahmud2014/table-2", &[], Some(TWO_NODES), ""),
    Exhibit::of_table(
        "mahmud2014/table-3",
        &["quietcore qualify examples/papers/mahmud2014.toml --out run", "quietcore report run"],
        None,
        "the applications are classes, and the page judges each run against all of them; the paper \
         holds round trips between two nodes against the cycle, the page release latencies against \
         a tenth of it",
    ),
    Exhibit::of_picture(
        ("mahmud2014/figure-1", "Two bare nodes, and two with four domains each, on a switch"),
        Content::Drawing,
        PLAN,
        Some("a second node; a virtual switch; clocks synchronised by PTP"),
        "one node",
    ),
    Exhibit::of_picture(
        ("mahmud2014/figure-2", "Which domain runs on which core, before and after pinning"),
        Content::Plot,
        &["quietcore qualify examples/papers/mahmud2014.toml --profile tp1,tp2 --out pinning"],
        Some("a picture of the course of the CPUs"),
        "the page counts how often each task changed its CPU, not pinned (tp1) and pinned (tp2)",
    ),
    Exhibit::of_picture(
        ("mahmud2014/figure-3", "Client and server of the benchmarks, and the layers between them"),
        Content::Drawing,
        &[],
        Some(TWO_NODES),
        "",
    ),
    Exhibit::of_picture(
        ("mahmud2014/figure-4", "Distribution of the one-way latency between two nodes"),
        Content::Plot,
        &[],
        Some(TWO_NODES),
        "",
    ),
];
