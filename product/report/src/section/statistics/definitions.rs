//! Definitions of all figures, one sentence each: for readers who hover, and below the tables.

use crate::section::content::Definition;

const fn define(id: &'static str, term: &'static str, meaning: &'static str) -> Definition {
    Definition { id, term, meaning }
}

pub(super) const COUNT: Definition =
    define("cycles", "Cycles", "Releases that were measured, the overflow included.");
pub(super) const MINIMUM: Definition =
    define("minimum", "Minimum", "The smallest release latency of the record.");
pub(super) const MEDIAN: Definition =
    define("median", "Median", "Half of all releases were at most this late.");
pub(super) const MEAN: Definition =
    define("mean", "Mean", "Arithmetic mean, from the exact sum. Rare long stalls hardly move it.");
pub(super) const DEVIATION: Definition = define(
    "deviation",
    "Standard deviation",
    "Standard deviation of the sample; absent where an overflow hides values.",
);
pub(super) const LOWER_QUARTILE: Definition =
    define("lower-quartile", "Lower quartile", "A quarter of all releases were at most this late.");
pub(super) const UPPER_QUARTILE: Definition = define(
    "upper-quartile",
    "Upper quartile",
    "Three quarters of all releases were at most this late.",
);
pub(super) const LOWER_WHISKER: Definition = define(
    "lower-whisker",
    "Lower whisker, p2.5",
    "2.5 % quantile, the lower whisker of queiroz2023.",
);
pub(super) const UPPER_WHISKER: Definition = define(
    "upper-whisker",
    "Upper whisker, p97.5",
    "97.5 % quantile, the upper whisker of queiroz2023.",
);
pub(super) const TUKEY: Definition = define(
    "tukey",
    "Tukey's whiskers",
    "The smallest and largest values within 1.5 interquartile ranges of the quartiles.",
);
pub(super) const TAIL: Definition = define(
    "tail",
    "p99 … p99.9999",
    "High quantiles, each given only where at least ten values lie beyond it.",
);
pub(super) const MAXIMUM: Definition = define(
    "maximum",
    "Maximum",
    "The largest release latency seen. It is an observed maximum, never a worst case: only the \
     largest of all maxima over all runs says something about the machine.",
);
pub(super) const BOUND: Definition = define(
    "bound",
    "Exceeds its maximum in at most",
    "Upper 95 % bound on the probability that a cycle is later than the largest seen: about 3/n \
     for n independent cycles.",
);
pub(super) const OVERFLOW: Definition = define(
    "overflow",
    "Overflow",
    "Values that the histogram only counted. A quantile that lies among them is a bound, written \
     with ≥.",
);
pub(super) const JITTER_PEAK: Definition = define(
    "jitter-peak",
    "Jitter, maximum − minimum",
    "Largest minus smallest release latency (kong2021). Grows with the length of the run.",
);
pub(super) const JITTER_WHISKERS: Definition = define(
    "jitter-whiskers",
    "Jitter, p97.5 − p2.5",
    "Distance of the whiskers (queiroz2023); the published class limits are compared with it.",
);
pub(super) const JITTER_SUCCESSIVE: Definition = define(
    "jitter-successive",
    "Jitter, successive",
    "Mean absolute difference of successive release latencies.",
);
pub(super) const MISSED: Definition = define(
    "missed",
    "Missed cycles",
    "Releases that came a whole period late or more. A stall counts as all the cycles it cost.",
);
pub(super) const MISS_RUN: Definition = define(
    "miss-run",
    "Longest miss run",
    "The most cycles missed one after the other: the survival time an application needs.",
);
pub(super) const EARLY: Definition =
    define("early", "Early", "Releases before they were due. Any is a fault of the measurement.");
pub(super) const MIGRATIONS: Definition =
    define("migrations", "Migrations", "Times the task changed its CPU.");
pub(super) const WAKEUP_MEDIAN: Definition = define(
    "wakeup-median",
    "Wake-up latency, median",
    "From the wake-up that was asked of the kernel to running: what cyclictest measures. With \
     early wake it is hidden from the release.",
);
pub(super) const WAKEUP_MAXIMUM: Definition =
    define("wakeup-maximum", "Wake-up latency, maximum", "The largest wake-up latency seen.");
pub(super) const OWN_COST: Definition = define(
    "own-cost",
    "Own cost of the probe",
    "Time that one cycle of the probe itself takes; it is not subtracted from anything.",
);
pub(super) const MARGIN: Definition = define(
    "margin",
    "Wake-up margin",
    "How long before the release the task was woken, at the end of the run.",
);
pub(super) const SPIN: Definition = define(
    "spin",
    "Spinning",
    "Share of the core that waiting actively for releases took: the price of early wake.",
);

pub(super) const EXECUTION: Definition = define(
    "execution",
    "Cycles of the program",
    "Scan cycles that ran to their end. The execution time is that from the start of a cycle to \
     its end: inputs, step and outputs. Its largest value is an observed maximum, never a WCET.",
);
pub(super) const RESPONSE: Definition = define(
    "response",
    "Cycles with a response",
    "The response time is that from the instant at which a release was due to the end of its \
     cycle: release latency and execution time together.",
);
pub(super) const SCAN_MINIMUM: Definition =
    define("scan-minimum", "Shortest", "The smallest time of the record.");
pub(super) const SCAN_QUANTILE: Definition = define(
    "scan-quantile",
    "Median, p99, p99.9",
    "Half, 99 % and 99.9 % of all cycles took at most this long; each given only where at least \
     ten values lie beyond it.",
);
pub(super) const SCAN_MAXIMUM: Definition =
    define("scan-maximum", "Longest", "The largest time seen.");
pub(super) const WORST: Definition = define(
    "worst-cycle",
    "Came with",
    "The cycle with the largest time, and how long after the first release it was due.",
);
pub(super) const DEADLINE: Definition = define(
    "deadline",
    "Deadline",
    "The latest end of a cycle after the instant at which its release was due.",
);
pub(super) const OVERRUNS: Definition = define(
    "overruns",
    "Overruns",
    "Cycles that ended after their deadline. One of them is a FAIL.",
);
pub(super) const OVERRUN_RUN: Definition = define(
    "overrun-run",
    "Longest overrun run",
    "The most cycles one after the other that ended after their deadline.",
);
pub(super) const SKIPPED: Definition = define(
    "skipped",
    "Releases left out",
    "Releases that passed while the cycle before was still running.",
);
pub(super) const WATCHDOG: Definition = define(
    "watchdog",
    "Watchdog time",
    "The execution time beyond which the watchdog counts a cycle.",
);
pub(super) const WATCHDOG_HITS: Definition = define(
    "watchdog-hits",
    "Stopped by the watchdog",
    "Times the program was stopped because its cycles took too long.",
);

pub(super) const LOST_FRAMES: Definition = define(
    "lost-frames",
    "Lost frames",
    "Frames that did not come back in time, those of the warm-up included: the program saw the \
     inputs of the cycle before.",
);
