//! Arguments of `quietcore tune`, `quietcore disturb` and `quietcore cost`.

use std::path::PathBuf;

use clap::Args;
use quietcore_campaign::experiment::Schedule;
use quietcore_record::experiment::CostMeasure;
use quietcore_record::record::Placement;
use quietcore_site::{Accelerator, Backend, LoadKind, NeighbourForm};
use quietcore_units::Nanos;

use super::backend::{NEIGHBOURS, NeighbourGuests, any_backend};
use super::choice::{Choice, one_of};

/// Options for a program that starts a measurement and follows it, as the daemon does.
#[derive(Clone, Debug, Args)]
pub(crate) struct Followed {
    /// Keep the progress in this file as JSON, for a program that follows it; it is replaced whole
    #[arg(long, value_name = "FILE")]
    pub(crate) progress: Option<PathBuf>,
    /// Leave the session of the program that has started this one, and outlive it
    #[arg(long, hide = true)]
    pub(crate) detached: bool,
}

/// Options that `tune`, `disturb` and `cost` share: the rounds of measured blocks, and the output.
#[derive(Clone, Debug, Args)]
pub(crate) struct Rounds {
    /// Number of times that each variant is measured. Fewer rounds show less; the result says how
    /// many are needed to be certain
    #[arg(long, value_name = "N", default_value_t = 12,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// Length of a block, which is one variant in one round
    #[arg(long, value_name = "D", default_value = "1 s")]
    pub(crate) block: Nanos,
    /// Time that partitions run before each block is measured
    #[arg(long, value_name = "D", default_value = "200 ms")]
    pub(crate) warm_up: Nanos,
    /// Seed of the random order of the variants in each round; the same seed repeats it
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The evidence folder to make; by default runs/TIME-NAME
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the result as JSON, as `show --json` does
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) followed: Followed,
}

impl Rounds {
    /// Returns the rounds that were asked for, without a limit of their time.
    pub(crate) const fn schedule(&self) -> Schedule {
        Schedule { rounds: self.rounds, seed: self.seed, within: None }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  quietcore tune site.toml\n  quietcore tune site.toml --control \
                  interrupts,governor --profile tp4 --rounds 20\n\nEach round measures all \
                  controls, none of them, and all but each, in chance order; the ratio of two \
                  blocks of the same round says what a control does. Then sets of controls are \
                  tried against the class of each partition, the most helpful first, until none \
                  can be left out.\n\nSettings are put back after each block, as `quietcore \
                  qualify` does. It needs root."
)]
pub(crate) struct Tune {
    /// Path of the site file
    pub(crate) site: PathBuf,
    /// The controls to try, by their words in `[host] controls`; by default those of the site, or
    /// `standard` where it names none
    #[arg(long, value_name = "WORD,..", value_delimiter = ',')]
    pub(crate) control: Vec<String>,
    /// The profile to measure under; by default the last one of the site that pins the partitions
    /// and has a load
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Time for which each set of controls is tried against the class
    #[arg(long, value_name = "D", default_value = "10 s")]
    pub(crate) confirm: Nanos,
    #[command(flatten)]
    pub(crate) rounds: Rounds,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  quietcore disturb site.toml\n  quietcore disturb site.toml \
                  --partition axis --aggressor disk,network --place other-cpu --workers 4\n  \
                  quietcore disturb site.toml --neighbour-backend process,container,qemu \
                  --neighbour-image guest-rt\n\nEach round measures the partition alone and beside \
                  each neighbour at each place, in chance order. The matrix shows the ratio of the \
                  99.9 % quantile and of the maximum to those of the quiet block of the same \
                  round. A guest is started anew for each block. At the end each is measured once \
                  more with a spike ledger (as root, with the kernel's trace), which names the \
                  cause.")]
pub(crate) struct Disturb {
    /// Path of the site file
    pub(crate) site: PathBuf,
    /// Disturb only these partitions; by default all, one after the other
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub(crate) partition: Vec<String>,
    /// Loads that disturb, by their kinds in the site file: sqrt (CPU), cache, memory-bandwidth,
    /// disk, network, timer (interrupts), malloc (page faults), fork, futex
    #[arg(
        long,
        value_name = "KIND,..",
        value_delimiter = ',',
        default_value = "sqrt,cache,memory-bandwidth,disk,network,timer,malloc,fork"
    )]
    pub(crate) aggressor: Vec<LoadKind>,
    /// Kinds of neighbours in which the loads work; the matrix has a row for each load in each
    #[arg(long, value_name = "BACKEND,..", value_delimiter = ',', default_value = "process",
        value_parser = one_of(NEIGHBOURS))]
    pub(crate) neighbour_backend: Vec<NeighbourForm>,
    #[command(flatten)]
    pub(crate) guests: NeighbourGuests,
    /// Places of the load; by default all that the machine and the site have
    #[arg(long, value_name = "PLACE,..", value_delimiter = ',', value_parser = one_of(PLACES))]
    pub(crate) place: Vec<Placement>,
    /// Workers of each neighbour; by default one for each CPU of its place
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) workers: Option<u32>,
    /// Leave out the last round, which explains late releases
    #[arg(long)]
    pub(crate) no_causes: bool,
    #[command(flatten)]
    pub(crate) rounds: Rounds,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  quietcore cost site.toml\n  quietcore cost site.toml \
                  --backend container,kvm --rounds 20\n  quietcore cost site.toml --measure \
                  releases,routines\n  quietcore cost site.toml --backend qemu --accelerator tcg \
                  --within 5min\n\nEach round measures the partition as a process, on the bare \
                  machine, and as each other backend realises it, in chance order, with nothing \
                  else running. The ratio of two blocks of the same round is what the backend \
                  costs: of release latency, execution time and response time; as --measure \
                  says, of routines of the OSEK kernel and round trips of frames as well. What a \
                  backend or this machine can't do is left out with the reason; figures of an \
                  emulated backend show that it works, and are marked `timing not \
                  valid`.\n\nCtrl-C \
                  ends it early: what there is by then is kept and judged.")]
pub(crate) struct Cost {
    /// Path of the site file
    pub(crate) site: PathBuf,
    /// The partition to measure; not needed where the site has one only
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// The backends to compare with a process; by default all that there are
    #[arg(long, alias = "backends", value_name = "NAME,..", value_delimiter = ',',
        value_parser = any_backend())]
    pub(crate) backend: Vec<Backend>,
    /// The measurements to compare, each in all rounds
    #[arg(long, value_name = "WORD,..", value_delimiter = ',', default_value = "releases",
        value_parser = one_of(MEASURES))]
    pub(crate) measure: Vec<CostMeasure>,
    /// Run the instructions of QEMU's guests in this way; by default as the site file says
    #[arg(long, value_name = "WORD", value_parser = one_of(ACCELERATORS))]
    pub(crate) accelerator: Option<Accelerator>,
    /// Measure under this profile of the site, with its loads; by default without any load
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Time for all of it: blocks are made as long as fits, and no round begins later
    #[arg(long, value_name = "D", conflicts_with = "block")]
    pub(crate) within: Option<Nanos>,
    #[command(flatten)]
    pub(crate) rounds: Rounds,
}

/// Measurements by which backends are compared.
const MEASURES: &[Choice<CostMeasure>] = &[
    (
        CostMeasure::Releases.name(),
        CostMeasure::Releases,
        "Releases of the partition's tasks, with the times of its program; in every backend",
    ),
    (
        CostMeasure::Routines.name(),
        CostMeasure::Routines,
        "The ten routines of the OSEK kernel, by the probe `osek`; not in a guest with Linux",
    ),
    (
        CostMeasure::RoundTrips.name(),
        CostMeasure::RoundTrips,
        "Frames on the partition's fieldbus, by the probe `ethercat`; not in a domain of Xen",
    ),
];

/// Ways in which guests of QEMU run their instructions.
pub(super) const ACCELERATORS: &[Choice<Accelerator>] = &[
    ("kvm", Accelerator::Kvm, "By the processor, under the kernel's KVM"),
    ("tcg", Accelerator::Tcg, "By QEMU, which emulates the processor; no time means anything"),
];

/// Places of a neighbour, as seen from the partition.
const PLACES: &[Choice<Placement>] = &[
    (Placement::SameCpu.name(), Placement::SameCpu, "On the partition's own CPUs"),
    (Placement::Sibling.name(), Placement::Sibling, "On the other threads of their cores"),
    (Placement::OtherCpu.name(), Placement::OtherCpu, "On CPUs that no partition has"),
    (
        Placement::OtherPartition.name(),
        Placement::OtherPartition,
        "On the CPUs of other partitions",
    ),
];
