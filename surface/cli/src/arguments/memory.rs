//! What can be asked of `quietcore probe memory`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use quietcore_probe::memory::AccessPattern;
use quietcore_process::field::PageKind;
use quietcore_units::{ByteSize, CpuSet, Nanos};

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryPart {
    /// Access time by working set, alone and beside neighbours; scordino2020, figure 5
    Curves,
    /// One working set beside neighbours at many rates: where they begin to hurt
    Pressure,
    /// The routines of the OSEK kernel, alone and beside neighbours; scordino2020, figure 6
    Routines,
}

/// An order in which a working set is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PatternName {
    /// From begin to end
    Sequential,
    /// Along a random cycle, each access waiting for the one before
    Random,
}

impl From<PatternName> for AccessPattern {
    fn from(name: PatternName) -> Self {
        match name {
            PatternName::Sequential => Self::Sequential,
            PatternName::Random => Self::Random,
        }
    }
}

/// A kind of page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PagesName {
    /// 4 KiB, as a partition's program has them
    Small,
    /// 2 MiB where the kernel gives them (transparent huge pages)
    Large,
}

impl From<PagesName> for PageKind {
    fn from(name: PagesName) -> Self {
        match name {
            PagesName::Small => Self::Small,
            PagesName::Large => Self::Large,
        }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "A partition reads working sets of many sizes; neighbours rest and work in \
                        turns, so that each block beside them has its like without. Curves show \
                        where a cache ends and what neighbours cost there; the pressure shows how \
                        much bandwidth of theirs a partition bears.\n\nExamples:\n  quietcore \
                        probe memory --out run\n  quietcore probe memory --parts curves --to 16MiB \
                        --rounds 15\n  quietcore probe memory --parts pressure --working-set 4MiB \
                        --neighbour-size 64MiB"
)]
pub(crate) struct Memory {
    /// What to measure; all three by default
    #[arg(
        long,
        value_enum,
        value_name = "PART,..",
        value_delimiter = ',',
        default_value = "curves,pressure,routines"
    )]
    pub(crate) parts: Vec<MemoryPart>,
    /// In which orders to read
    #[arg(
        long,
        value_enum,
        value_name = "PATTERN,..",
        value_delimiter = ',',
        default_value = "sequential,random"
    )]
    pub(crate) pattern: Vec<PatternName>,
    /// The smallest working set
    #[arg(long, value_name = "SIZE", default_value = "1 KiB")]
    pub(crate) from: ByteSize,
    /// The largest working set; by default twice the last-level cache, at most 1 GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) to: Option<ByteSize>,
    /// Working sets between a size and its double
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) per_octave: u32,
    /// From one access to the next place, in bytes: 8, 64 or 128
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) stride: u64,
    /// The kind of page that working sets lie in
    #[arg(long, value_enum, default_value_t = PagesName::Small)]
    pub(crate) pages: PagesName,
    /// How often everything is measured; an interval of 95 % takes 6 at least
    #[arg(long, value_name = "N", default_value_t = 9,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) rounds: u32,
    /// How long the blocks of all rounds take together, instead of a number of rounds; the ways
    /// through the sets between them come on top
    #[arg(long, value_name = "D", conflicts_with = "rounds")]
    pub(crate) duration: Option<Nanos>,
    /// How long a block is measured; at most 20 ms, so that it is measured in one piece
    #[arg(long, value_name = "D", default_value = "5 ms")]
    pub(crate) block: Nanos,
    /// How long the way once through the set before a block may take
    #[arg(long, value_name = "D", default_value = "500 ms")]
    pub(crate) warm_up: Nanos,
    /// How many neighbours
    #[arg(long, value_name = "N", default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) neighbours: u32,
    /// What they do: a kind of load
    #[arg(long, value_name = "KIND", default_value = "memory-bandwidth")]
    pub(crate) neighbour_kind: String,
    /// What each of them works on
    #[arg(long, value_name = "SIZE", default_value = "20 MiB")]
    pub(crate) neighbour_size: ByteSize,
    /// Their CPUs; all but the partition's by default
    #[arg(long, value_name = "LIST")]
    pub(crate) neighbour_cpus: Option<CpuSet>,
    /// Measure curves with so many ways of the last-level cache for the partition alone, too; by
    /// default a third of them where resctrl is mounted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) ways: Option<u32>,
    /// Measure no curves with ways of their own
    #[arg(long, conflicts_with = "ways")]
    pub(crate) no_ways: bool,
    /// The working set of the pressure; by default the one that its neighbours slow down most
    #[arg(long, value_name = "SIZE")]
    pub(crate) working_set: Option<ByteSize>,
    /// Rates of the neighbours up to their full pace
    #[arg(long, value_name = "N", default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) steps: u32,
    /// Loops of each routine in a block
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
