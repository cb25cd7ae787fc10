//! Arguments of `quietcore probe memory`.

use std::path::PathBuf;

use clap::Args;
use quietcore_campaign::probe::memory::MemoryPart;
use quietcore_probe::memory::AccessPattern;
use quietcore_process::field::PageKind;
use quietcore_site::NeighbourForm;
use quietcore_units::{ByteSize, CpuSet, Nanos};

use super::backend::{NEIGHBOURS, NeighbourGuests};
use super::choice::{Choice, one_of};

const PARTS: &[Choice<MemoryPart>] = &[
    (
        "curves",
        MemoryPart::Curves,
        "Access time by working set, alone and beside neighbours; scordino2020, figure 5",
    ),
    (
        "pressure",
        MemoryPart::Pressure,
        "One working set beside neighbours at many rates, to find the rate that begins to hurt",
    ),
    (
        "routines",
        MemoryPart::Routines,
        "The routines of the OSEK kernel, alone and beside neighbours; scordino2020, figure 6",
    ),
];

const PATTERNS: &[Choice<AccessPattern>] = &[
    (AccessPattern::Sequential.name(), AccessPattern::Sequential, "From begin to end"),
    (
        AccessPattern::Random.name(),
        AccessPattern::Random,
        "Along a random cycle, each access waiting for the previous one",
    ),
];

const PAGES: &[Choice<PageKind>] = &[
    ("small", PageKind::Small, "4 KiB, as a partition's program has them"),
    ("large", PageKind::Large, "2 MiB where the kernel gives them (transparent huge pages)"),
];

#[derive(Debug, Args)]
#[command(
    after_help = "A partition reads working sets of many sizes; neighbours rest and work in \
                        turns, so that each block beside them has its like without. Curves show \
                        where a cache ends and what neighbours cost there; the pressure shows how \
                        much of their bandwidth a partition bears.\n\nExamples:\n  quietcore \
                        probe memory --out run\n  quietcore probe memory --parts curves --to 16MiB \
                        --rounds 15\n  quietcore probe memory --parts pressure --working-set 4MiB \
                        --neighbour-size 64MiB\n  quietcore probe memory --neighbour-backend \
                        qemu --neighbour-image guest-rt --neighbours 1"
)]
pub(crate) struct Memory {
    /// Parts to measure; all three by default
    #[arg(
        long,
        value_parser = one_of(PARTS),
        value_name = "PART,..",
        value_delimiter = ',',
        default_value = "curves,pressure,routines"
    )]
    pub(crate) parts: Vec<MemoryPart>,
    /// Orders in which working sets are read
    #[arg(
        long,
        value_parser = one_of(PATTERNS),
        value_name = "PATTERN,..",
        value_delimiter = ',',
        default_value = "sequential,random"
    )]
    pub(crate) pattern: Vec<AccessPattern>,
    /// The smallest working set
    #[arg(long, value_name = "SIZE", default_value = "1 KiB")]
    pub(crate) from: ByteSize,
    /// The largest working set; by default twice the last-level cache, at most 1 GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) to: Option<ByteSize>,
    /// Number of working sets between a size and its double
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) per_octave: u32,
    /// Distance from one access to the next, in bytes: 8, 64 or 128
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) stride: u64,
    /// The kind of page that holds the working sets
    #[arg(long, value_parser = one_of(PAGES), default_value = "small")]
    pub(crate) pages: PageKind,
    /// Number of times that everything is measured; a 95 % interval takes at least 6
    #[arg(long, value_name = "N", default_value_t = 9,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) rounds: u32,
    /// Total length of the blocks of all rounds, instead of a number of rounds; the passes through
    /// the sets between the blocks come on top
    #[arg(long, value_name = "D", conflicts_with = "rounds")]
    pub(crate) duration: Option<Nanos>,
    /// Length of a block; at most 20 ms, so that it is measured in one piece
    #[arg(long, value_name = "D", default_value = "5 ms")]
    pub(crate) block: Nanos,
    /// Longest time for the pass through the set before a block
    #[arg(long, value_name = "D", default_value = "500 ms")]
    pub(crate) warm_up: Nanos,
    /// Number of neighbours that run beside it
    #[arg(long, value_name = "N", default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) neighbours: u32,
    /// Load of the neighbours, by its kind
    #[arg(long, value_name = "KIND", default_value = "memory-bandwidth")]
    pub(crate) neighbour_kind: String,
    /// Memory that each neighbour works on
    #[arg(long, value_name = "SIZE", default_value = "20 MiB")]
    pub(crate) neighbour_size: ByteSize,
    /// The kind of neighbours: each of them has one worker of the load, and rests and works as it
    /// is told
    #[arg(long, value_name = "BACKEND", default_value = "process",
        value_parser = one_of(NEIGHBOURS))]
    pub(crate) neighbour_backend: NeighbourForm,
    #[command(flatten)]
    pub(crate) guests: NeighbourGuests,
    /// CPUs of the neighbours; by default all but the partition's
    #[arg(long, value_name = "LIST")]
    pub(crate) neighbour_cpus: Option<CpuSet>,
    /// Also measure curves with this many ways of the last-level cache for the partition alone; by
    /// default a third of them where resctrl is mounted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) ways: Option<u32>,
    /// Measure no curves with reserved ways
    #[arg(long, conflicts_with = "ways")]
    pub(crate) no_ways: bool,
    /// Working set of the pressure part; by default the one that neighbours slow down most
    #[arg(long, value_name = "SIZE")]
    pub(crate) working_set: Option<ByteSize>,
    /// Number of rates of the neighbours, up to their full pace
    #[arg(long, value_name = "N", default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) steps: u32,
    /// Number of loops of each routine in a block
    #[arg(long, value_name = "N", default_value_t = 2_000,
        value_parser = clap::value_parser!(u64).range(20..=1_000_000))]
    pub(crate) loops: u64,
    /// The CPU to run on; the last one by default
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Priority of SCHED_FIFO, 1 to 99
    #[arg(long, value_name = "N", default_value_t = 90,
        value_parser = clap::value_parser!(u8).range(1..=99))]
    pub(crate) priority: u8,
    /// Keep records and report in this new folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print records and slowdowns as JSON, as `show --json` does
    #[arg(long)]
    pub(crate) json: bool,
}
