//! The spike ledger: where the time of a late release went, cause by cause.
//!
//! ```text
//! due                                                            start
//!  ├ timer late ┼ timer interrupt ┼ thread `x` ┼ run delay ┼ own ┤   shares: their sum is
//!                                                                  the latency
//! ```
//!
//! A ledger covers one release above a limit, from the instant it was due to its start. Each
//! nanosecond of that belongs to one cause; what nothing observed accounts for is `unexplained`.
//! What has no duration (a change of the frequency, an SMI) is counted beside the shares. What
//! could not be observed at all is said once for all ledgers of a record, by name and reason.
//!
//! - `event`: what happened on a CPU, typed.
//! - `text`: the kernel's trace as text, read into events.
//! - `attribute`: a window and its events made shares.
//! - `course`: its pieces in the order of time.
//! - `counted`: the same from counters alone, where there is no trace.

mod attribute;
mod counted;
mod course;
mod event;
mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use attribute::{Window, attribute};
pub use counted::{Differences, from_counters, put_down_to_steal};
pub use course::{PIECES_MAX, Piece};
pub use event::{Event, Frame, Happening, Thread};
pub use text::{LINES_MAX, Trace, read};

/// The most ledgers that are kept one by one, the worst; the sums are over all.
pub const KEPT_MAX: usize = 64;

/// A cause to which time of a late release can go.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The task slept on, and the interrupt of its timer had not come: interrupts were masked, the
    /// processor woke slowly, or it was not there (SMI, hypervisor).
    TimerLate,
    /// The interrupt of the timer ran.
    TimerInterrupt,
    /// Another interrupt ran on the CPU.
    Interrupt,
    /// An interrupt that can't be masked ran.
    Nmi,
    /// A softirq ran on the CPU.
    Softirq,
    /// Another thread ran on the CPU.
    Thread,
    /// The task was woken and nothing else ran: the processor left idle, the scheduler switched.
    RunDelay,
    /// The task ran, in a page fault.
    PageFault,
    /// The task is a guest's, whose processor had left it: the host answered an exit.
    Exit,
    /// The task ran: from the scheduler to its first reading of the clock.
    Own,
    /// The hypervisor ran something else.
    Steal,
    /// Nothing observed accounts for it.
    Unexplained,
}

impl Cause {
    /// All causes, in the order in which they are shown.
    pub const ALL: [Self; 12] = [
        Self::TimerLate,
        Self::TimerInterrupt,
        Self::Interrupt,
        Self::Nmi,
        Self::Softirq,
        Self::Thread,
        Self::RunDelay,
        Self::PageFault,
        Self::Exit,
        Self::Own,
        Self::Steal,
        Self::Unexplained,
    ];

    /// Returns the name in tables.
    pub const fn title(self) -> &'static str {
        match self {
            Self::TimerLate => "timer late",
            Self::TimerInterrupt => "timer interrupt",
            Self::Interrupt => "other interrupts",
            Self::Nmi => "NMIs",
            Self::Softirq => "softirqs",
            Self::Thread => "blocking threads",
            Self::RunDelay => "run delay",
            Self::PageFault => "page faults",
            Self::Exit => "exits of the guest",
            Self::Own => "own way to the start",
            Self::Steal => "steal",
            Self::Unexplained => "unexplained",
        }
    }

    /// Returns the meaning, in one sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::TimerLate => {
                "the task's timer had not fired: interrupts were masked, the processor woke \
                 slowly, or it was not there (SMI, hypervisor)"
            }
            Self::TimerInterrupt => "in the interrupt of the timer",
            Self::Interrupt => "in interrupts of devices and of other processors",
            Self::Nmi => "in interrupts that can't be masked",
            Self::Softirq => "in deferred work of interrupts",
            Self::Thread => "another thread ran on the CPU",
            Self::RunDelay => "the task was woken and nothing else ran: idle was left, or switched",
            Self::PageFault => "the task was in a page fault",
            Self::Exit => "the guest's processor had left it, and the host answered that",
            Self::Own => "the task ran, from the scheduler to its first reading of the clock",
            Self::Steal => "the hypervisor ran something else; counted by the kernel in ticks",
            Self::Unexplained => "nothing observed accounts for it",
        }
    }
}

/// A part of a late release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Share {
    /// The cause of the time.
    pub cause: Cause,
    /// The interrupt, softirq or thread; empty where the cause says all.
    pub what: String,
    /// Time of the share, in ns.
    pub ns: u64,
    /// Number of pieces of that time.
    pub times: u64,
}

/// Something that happened and has no duration of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Counted {
    /// The subject, such as `SMIs`.
    pub what: String,
    /// Number of times that it happened.
    pub count: u64,
    /// Within which time around the release, in ns; the window itself where it was traced.
    pub within_ns: u64,
}

/// The ledger of one late release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Ledger {
    /// Number of the release, from 0.
    pub release: u64,
    /// Due instant of the release, since the first release, in ns.
    pub at_ns: u64,
    /// Release latency, in ns: the sum of all shares.
    pub latency_ns: u64,
    /// The CPU it ran on.
    pub cpu: u32,
    /// The causes of its time, the largest share first.
    pub shares: Vec<Share>,
    /// The pieces of its time in their order; empty where it was not traced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub course: Vec<Piece>,
    /// Events without a duration.
    pub counted: Vec<Counted>,
    /// The kernel's functions, innermost first, at the instant when the task was woken: below those
    /// of the interrupt stand those of the thread that it interrupted. Empty where not traced.
    pub stack: Vec<String>,
    /// Limits of this ledger: a trace that begins too late, events that were lost.
    pub remarks: Vec<String>,
}

impl Ledger {
    /// Returns `true` if the shares add up to the latency, which they must.
    pub fn adds_up(&self) -> bool {
        let sum = self.shares.iter().try_fold(0_u64, |sum, share| sum.checked_add(share.ns));
        sum == Some(self.latency_ns)
    }

    /// Returns the functions in which the kernel was when the interrupt came that woke the task,
    /// innermost first; empty where the thread was in no function of the kernel, or none was
    /// traced.
    pub fn interrupted(&self) -> &[String] {
        let of_interrupt =
            |function: &String| function.starts_with("asm_") || function.starts_with("el1h_64_irq");
        let last = self.stack.iter().rposition(of_interrupt);
        last.map_or(&[], |last| &self.stack[last + 1..])
    }

    /// Returns the time that went to a cause, in ns.
    pub fn of(&self, cause: Cause) -> u64 {
        self.shares.iter().filter(|share| share.cause == cause).map(|share| share.ns).sum()
    }
}

/// The means by which the ledgers of a record were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// By the kernel's trace, stopped within the late cycle.
    Trace,
    /// By counters read before and after: bounds, not durations.
    Counters,
    /// By none: what releases the tasks tells nobody of a late release.
    Nothing,
}

/// Something that could not be observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NotObserved {
    /// Name of the quantity.
    pub what: String,
    /// The reason why not.
    pub because: String,
}

/// All ledgers of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Ledgers {
    /// Releases later than this were to be explained, in ns.
    pub limit_ns: u64,
    /// Number of releases later than that.
    pub above: u64,
    /// Number of them that have a ledger. The others came before the trace was armed again.
    pub ledgered: u64,
    /// The means of observation.
    pub means: Means,
    /// Quantities that were observed, in words.
    pub observed: Vec<String>,
    /// Quantities that were not, and the reasons.
    pub not_observed: Vec<NotObserved>,
    /// Time by cause over all that have a ledger, in ns.
    pub sums: BTreeMap<Cause, u64>,
    /// The worst of them, the worst first; at most [`KEPT_MAX`].
    pub kept: Vec<Ledger>,
}

impl Ledgers {
    /// Makes the ledgers of a record without any so far.
    pub fn new(limit_ns: u64, means: Means) -> Self {
        Self {
            limit_ns,
            above: 0,
            ledgered: 0,
            means,
            observed: Vec::new(),
            not_observed: Vec::new(),
            sums: BTreeMap::new(),
            kept: Vec::new(),
        }
    }

    /// Makes the ledgers of a record whose late releases nobody explains, `above` in number.
    pub fn unexplained(limit_ns: u64, above: u64, because: &str) -> Self {
        let mut ledgers = Self { above, ..Self::new(limit_ns, Means::Nothing) };
        ledgers.miss("where the time of late releases went", because);
        ledgers
    }

    /// Adds a ledger to the sums, and keeps it if it is one of the worst.
    pub fn add(&mut self, ledger: Ledger) {
        self.ledgered += 1;
        for share in &ledger.shares {
            *self.sums.entry(share.cause).or_default() += share.ns;
        }
        self.keep(ledger);
    }

    fn keep(&mut self, ledger: Ledger) {
        let place = self.kept.partition_point(|other| other.latency_ns >= ledger.latency_ns);
        self.kept.insert(place, ledger);
        self.kept.truncate(KEPT_MAX);
    }

    /// Says that something could not be observed, and why.
    pub fn miss(&mut self, what: &str, because: impl Into<String>) {
        self.not_observed.push(NotObserved { what: what.to_owned(), because: because.into() });
    }

    /// Returns the number of late releases without a ledger.
    pub fn not_ledgered(&self) -> u64 {
        self.above.saturating_sub(self.ledgered)
    }

    /// Adds those of an earlier part of the same run, whose instants count from another beginning.
    pub fn absorb(&mut self, earlier: Self) {
        self.above = self.above.saturating_add(earlier.above);
        self.ledgered = self.ledgered.saturating_add(earlier.ledgered);
        for (cause, ns) in earlier.sums {
            *self.sums.entry(cause).or_default() += ns;
        }
        for mut ledger in earlier.kept {
            ledger.remarks.push("in the earlier part".to_owned());
            self.keep(ledger);
        }
    }
}

#[cfg(test)]
mod tests;
