//! Numbers of a record that exclude each other: what the self-check finds.

use std::fmt;

use quietcore_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::thousands;

/// A histogram of an interrupt's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HistogramName {
    /// The values of the interrupt's register.
    Register,
    /// From the ISR to the task.
    Switch,
    /// From the interrupt to the task.
    UntilTask,
}

impl fmt::Display for HistogramName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Register => "register's values",
            Self::Switch => "context switches",
            Self::UntilTask => "ways to the task",
        })
    }
}

/// Numbers of a record that exclude each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Inconsistency {
    /// Releases came before they were due.
    EarlyReleases {
        /// Number of these releases.
        count: u64,
    },
    /// More values than any run has.
    TooManyValues {
        /// Number of values in the histogram.
        count: u64,
    },
    /// Misses don't fit the releases that came a period late.
    Misses {
        /// Misses that were counted.
        missed: u64,
        /// Releases that were a period late or more.
        late: u64,
        /// The period, in ns.
        period_ns: u64,
    },
    /// The longest run of misses doesn't fit their number.
    MissRun {
        /// Length of the longest run.
        longest: u64,
        /// Number of all misses.
        missed: u64,
    },
    /// More cycles ran than were planned.
    CyclesBeyondPlan {
        /// Number of cycles that ran.
        cycles: u64,
        /// Cycles that were planned.
        planned: u64,
    },
    /// Fewer cycles ran than were planned, in a run that was not ended early.
    CyclesMissing {
        /// Number of cycles that ran.
        cycles: u64,
        /// Cycles that were planned.
        planned: u64,
    },
    /// The duration is not that of the cycles.
    Duration {
        /// Number of cycles that ran.
        cycles: u64,
        /// The period, in ns.
        period_ns: u64,
        /// The duration, in ns.
        duration_ns: u64,
    },
    /// Overruns don't fit the responses beyond the deadline.
    Overruns {
        /// Overruns that were counted.
        overruns: u64,
        /// Cycles that ended after the deadline.
        late: u64,
        /// The deadline, in ns.
        deadline_ns: u64,
    },
    /// A record with an injected delay counts as valid.
    InjectionHidden {
        /// The delay, as the conditions have it.
        injected: String,
    },
    /// Bins of an interrupt's histogram don't sum up.
    InterruptBins {
        /// The histogram at fault.
        of: HistogramName,
    },
    /// A histogram has a different count than there were interrupts.
    InterruptCount {
        /// The histogram at fault.
        of: HistogramName,
    },
    /// Counters and histogram come from different numbers of cycles.
    CounterMismatch,
    /// The release histogram's bins don't sum up to its count.
    Bins,
    /// Release and wake-up latency were recorded a different number of times.
    WakeupCount,
    /// A quantile is below a lower one.
    QuantileOrder,
    /// Missed cycles outnumber releases.
    MissesBeyondReleases,
    /// The bins are not those of the exchange.
    OtherBins,
    /// The sum is out of reach for the bins.
    LatencySum,
    /// The sum of successive differences is out of reach for the extremes.
    Differences,
    /// Spinning took longer than the run.
    SpunBeyondRun,
    /// Mode or policy is not that of the figures beside it.
    SchedulingWords,
    /// A spike ledger's shares don't sum up.
    LedgerShares,
    /// Ledgers outnumber late releases.
    LedgersBeyondLate,
    /// The worst cycles are unsorted or too many.
    SpikeOrder,
    /// Fewer worst cycles are kept than there were late releases.
    SpikesMissing,
    /// The first of the worst cycles is below the maximum.
    SpikeNotLargest,
    /// A worst cycle is not at its rank in the histogram.
    SpikesNotLargest,
    /// A worst cycle has a release number twice, or beyond the run.
    SpikeBeyondRun,
    /// A worst cycle's instant is not that of its release number.
    SpikeNotDue,
    /// The time line's totals differ from the histogram's.
    TimelineTotals,
    /// A stretch of the time line is uneven, or its sum is out of reach.
    TimelineSlot,
    /// Bins of execution or response time don't sum up.
    ProgramBins,
    /// Execution and response times were recorded a different number of times.
    ProgramCounts,
    /// Ended cycles outnumber releases.
    ProgramBeyondReleases,
    /// The longest execution time exceeds the longest response time.
    ExecutionBeyondResponse,
    /// More overruns than cycles were counted.
    OverrunsBeyondCycles,
    /// The longest response exceeds the deadline without an overrun.
    OverrunUncounted,
    /// The sum of execution or response times is out of reach for the bins.
    ProgramSum,
    /// The worst cycle of the program is below the maximum.
    ProgramLongest,
    /// The longest run of overruns exceeds their number.
    OverrunRun,
    /// Release latency and execution time don't sum up to response time.
    ResponseSum,
    /// The stretches of the run don't hold the values of the run.
    Stretches,
    /// Bins of the counts of a routine don't sum up.
    RoutineBins,
    /// Counts and times of a routine were recorded a different number of times.
    RoutineCount,
    /// A routine's clock has no rate.
    ClockRate,
    /// Clamped values outnumber all.
    ClampedBeyondValues,
    /// The mean of a block is negative or no number.
    BlockMean,
    /// The longest way to the task is shorter than that to the ISR.
    TaskBeforeInterrupt,
    /// A block of accesses is empty, or its load is no rate.
    MemoryBlock,
    /// Blocks and times were recorded a different number of times.
    MemoryBlockCount,
    /// The histogram is not that of the blocks.
    MemoryBlockTimes,
    /// Working sets, rates or rounds are unsorted.
    MemoryOrder,
    /// Round trips and losses don't sum up to the cycles.
    FramesBeyondCycles,
    /// Incomplete cycles outnumber the frames that came back.
    IncompleteBeyondFrames,
}

impl fmt::Display for Inconsistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EarlyReleases { count } => {
                write!(f, "{count} releases came before they were due: the clock is broken")
            }
            Self::TooManyValues { count } => {
                write!(f, "{} values are more than any run has", thousands(*count))
            }
            Self::Misses { missed, late, period_ns } => write!(
                f,
                "{} cycles were missed, and {} releases came a period of {} late or more",
                thousands(*missed),
                thousands(*late),
                Nanos::new(*period_ns)
            ),
            Self::MissRun { longest, missed } => {
                let [longest, missed] = [*longest, *missed].map(thousands);
                write!(f, "the longest run of misses is {longest} of {missed}")
            }
            Self::CyclesBeyondPlan { cycles, planned } => {
                let [cycles, planned] = [*cycles, *planned].map(thousands);
                write!(f, "{cycles} cycles ran and {planned} were asked for")
            }
            Self::CyclesMissing { cycles, planned } => {
                let [cycles, planned] = [*cycles, *planned].map(thousands);
                write!(f, "the run was not ended early and has {cycles} of {planned} cycles")
            }
            Self::Duration { cycles, period_ns, duration_ns } => {
                let [period, duration] = [*period_ns, *duration_ns].map(Nanos::new);
                write!(f, "{} cycles every {period} do not take {duration}", thousands(*cycles))
            }
            Self::Overruns { overruns, late, deadline_ns } => write!(
                f,
                "{} overruns were counted, and {} cycles ended after their deadline of {}",
                thousands(*overruns),
                thousands(*late),
                Nanos::new(*deadline_ns)
            ),
            Self::InjectionHidden { injected } => {
                write!(f, "a delay of {injected} was injected, and the record counts as valid")
            }
            Self::InterruptBins { of } => write!(f, "the bins of the {of} do not add up"),
            Self::InterruptCount { of } => {
                write!(f, "there are not as many {of} as interrupts")
            }
            plain => f.write_str(plain.sentence()),
        }
    }
}

impl Inconsistency {
    /// Returns the sentence of a variant without figures.
    const fn sentence(&self) -> &'static str {
        match self {
            Self::CounterMismatch => "the counters and the histogram disagree",
            Self::Bins => "the histogram's bins do not add up to its count",
            Self::WakeupCount => "release and wake-up latency have different counts",
            Self::QuantileOrder => "minimum, median and maximum are out of order",
            Self::MissesBeyondReleases => "more cycles were missed than run",
            Self::OtherBins => "the histogram has not the bins that our own task records in",
            Self::LatencySum => "the sum of the latencies is not one of values in these bins",
            Self::Differences => {
                "the differences of successive latencies do not fit their smallest and largest"
            }
            Self::SpunBeyondRun => "the task spun longer than it ran",
            Self::SchedulingWords => "release and policy differ in words and in figures",
            Self::LedgerShares => "the shares of a spike ledger do not add up to its latency",
            Self::LedgersBeyondLate => "more releases have a ledger than were late",
            Self::SpikeOrder => "the worst cycles are not in their order",
            Self::SpikesMissing => "some of the worst cycles are missing",
            Self::SpikeNotLargest => "the worst cycle is not the largest latency",
            Self::SpikesNotLargest => {
                "the worst cycles are not the largest latencies of the histogram"
            }
            Self::SpikeBeyondRun => "one of the worst cycles is none of the run's",
            Self::SpikeNotDue => "one of the worst cycles was not due when it says",
            Self::TimelineTotals => "the time line is not that of the histogram",
            Self::TimelineSlot => "a stretch of the time line contradicts itself",
            Self::ProgramBins => "the bins of execution or response time do not add up",
            Self::ProgramCounts => "execution and response time have different counts",
            Self::ProgramBeyondReleases => "more cycles ended than were released",
            Self::ExecutionBeyondResponse => "a cycle took longer than from its release to its end",
            Self::OverrunsBeyondCycles => "more cycles ended after their deadline than ran",
            Self::OverrunUncounted => {
                "a cycle ended after its deadline and was not counted as an overrun"
            }
            Self::ProgramSum => "the sum of execution or response times is not one of these bins",
            Self::ProgramLongest => {
                "the longest execution or response time is not that of its cycle"
            }
            Self::OverrunRun => "more overruns came in a row than there were",
            Self::ResponseSum => {
                "release latency and execution time do not add up to response time"
            }
            Self::Stretches => "the stretches of the run do not add up to its values",
            Self::RoutineBins => "the bins of the counts do not add up",
            Self::RoutineCount => "there are not as many counts as times",
            Self::ClockRate => "the rate of the clock is not known",
            Self::ClampedBeyondValues => {
                "more values were below the empty measurement than were taken"
            }
            Self::BlockMean => "the mean of a block is no time",
            Self::TaskBeforeInterrupt => "a task was there before its interrupt's ISR",
            Self::MemoryBlock => "a block has no accesses, no time, or a load that is no rate",
            Self::MemoryBlockCount => "there are not as many blocks as times",
            Self::MemoryBlockTimes => "the times are not those of the blocks",
            Self::MemoryOrder => "working sets, rates or rounds are out of order",
            Self::FramesBeyondCycles => "round trips and lost frames do not add up to the cycles",
            Self::IncompleteBeyondFrames => "more cycles were incomplete than came back",
            Self::EarlyReleases { .. }
            | Self::TooManyValues { .. }
            | Self::Misses { .. }
            | Self::MissRun { .. }
            | Self::CyclesBeyondPlan { .. }
            | Self::CyclesMissing { .. }
            | Self::Duration { .. }
            | Self::Overruns { .. }
            | Self::InjectionHidden { .. }
            | Self::InterruptBins { .. }
            | Self::InterruptCount { .. } => "",
        }
    }
}
