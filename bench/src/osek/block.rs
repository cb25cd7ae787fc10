//! One block of the kernel: some routines under one variant, in a process of its own.
//!
//! A process a block, as for the peers: where code and stacks come to lie is drawn anew each time,
//! so that no figure hangs on one lucky place.

use std::process::Command;
use std::sync::Arc;

use quietcore_probe::osek::{
    ClockUsed, Plan, Progress, Routine, Sample, Series, Trigger, Variant, measure,
};
use quietcore_record::histogram::{Histogram, Quantile};
use quietcore_record::record::trimmed_mean;
use quietcore_units::{CpuId, Scheduling, ThreadRequest};
use serde::{Deserialize, Serialize};

use super::Request;

/// The routines of a block where not all are asked for.
pub(super) const SWITCHES: [Routine; 3] = [Routine::Act, Routine::Actl, Routine::Terml];

/// Loops before each series that are run and forgotten.
const WARM_UP: u64 = 200;

/// The variant that a child process measures.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct BlockArguments {
    /// Measure one block, and print it as JSON
    #[arg(long, hide = true)]
    pub(super) block: bool,
    /// Carry out each routine a few times between callgrind's marks
    #[arg(long, hide = true)]
    pub(super) marks: bool,
    #[arg(long, hide = true, default_value_t = 0)]
    pub(super) others: u8,
    /// All routines, not those of a switch alone
    #[arg(long, hide = true)]
    pub(super) all: bool,
    #[arg(long, hide = true)]
    pub(super) extended: bool,
    #[arg(long, hide = true)]
    pub(super) accounting: bool,
}

impl BlockArguments {
    /// A block of a variant.
    pub(super) fn block(variant: Variant, all: bool) -> Self {
        let Variant { others, extended, accounting } = variant;
        Self { block: true, marks: false, others, all, extended, accounting }
    }

    /// The marks of a variant.
    pub(super) fn marks(variant: Variant) -> Self {
        Self { block: false, marks: true, ..Self::block(variant, true) }
    }

    /// Returns the variant to be measured.
    pub(super) fn variant(self) -> Variant {
        let Self { others, extended, accounting, .. } = self;
        Variant { others, extended, accounting }
    }

    /// The same as arguments of a command.
    pub(super) fn arguments(self) -> Vec<String> {
        let flags = [
            (self.block, "--block"),
            (self.marks, "--marks"),
            (self.all, "--all"),
            (self.extended, "--extended"),
            (self.accounting, "--accounting"),
        ];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set);
        let mut arguments: Vec<String> = flags.map(|(_, flag)| flag.to_owned()).collect();
        arguments.push(format!("--others={}", self.others));
        arguments
    }
}

/// Times of one way or one routine in ns, without the empty measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Took {
    /// Median of all loops, in ns.
    pub(super) median_ns: f64,
    /// Mean without a twentieth of the values at either end.
    pub(super) mean_ns: f64,
}

impl Took {
    /// From counts and those of the empty measurement, of which there are `hertz` a second.
    pub(super) fn of(counts: &Histogram, empty: &Histogram, hertz: u64) -> Option<Self> {
        let median =
            |histogram: &Histogram| Some(histogram.quantile(0.5).and_then(Quantile::exact)? as f64);
        let time = |counts: f64| counts.max(0.0) * 1e9 / hertz.max(1) as f64;
        Some(Self {
            median_ns: time(median(counts)? - median(empty)?),
            mean_ns: time(trimmed_mean(counts)? - trimmed_mean(empty)?),
        })
    }
}

/// The results of a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Block {
    /// The times of each routine.
    pub(super) took: Vec<(Routine, Took)>,
    /// Settings that were asked for and not in force.
    pub(super) degraded: Vec<String>,
}

/// Measures a block in this process.
pub(super) fn here(request: &Request, loops: u64) -> Result<Block, String> {
    let all = Series::all(loops).into_iter();
    let by_software = all.filter(|series| series.trigger != Some(Trigger::Signal));
    let is_asked_for = |series: &Series| {
        let routine = series.routine;
        request.wanted.all || routine == Routine::Empty || SWITCHES.contains(&routine)
    };
    let plan = Plan {
        series: by_software.filter(is_asked_for).collect(),
        warm_up: WARM_UP,
        variant: request.wanted.variant(),
    };
    let cpu = CpuId::new(request.cpu).ok_or_else(|| format!("there is no CPU {}", request.cpu))?;
    let thread = ThreadRequest::measuring(Scheduling::fifo(request.priority), Some(cpu));
    let clock = ClockUsed::choose();
    let progress = Arc::new(Progress::default());
    let measured = measure(&plan, thread, clock, &progress).map_err(|error| error.to_string())?;
    let (empty, samples) = measured.samples.split_first().ok_or("nothing was measured")?;
    let of = |(series, sample): (&Series, &Sample)| {
        Some((series.routine, Took::of(&sample.raw, &empty.raw, clock.hertz())?))
    };
    let took = plan.series[1..].iter().zip(samples).map(of);
    Ok(Block {
        took: took.collect::<Option<_>>().ok_or("a series is empty")?,
        degraded: measured.standing.degraded.iter().map(ToString::to_string).collect(),
    })
}

/// Measures a block in a process of its own.
pub(super) fn apart(
    request: &Request,
    wanted: BlockArguments,
    loops: u64,
) -> Result<Block, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(own)
        .arg("osek")
        .arg(format!("--cpu={}", request.cpu))
        .arg(format!("--priority={}", request.priority))
        .arg(format!("--loops={loops}"))
        .args(wanted.arguments())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}
